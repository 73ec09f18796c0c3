"""Outcomes whose bound is the one that their certificate proves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gadgetopt.system.result import MethodOutcome

from ..instance import ForestPackingCertificate, ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import Pair
from .certificate.check import check_bound


def proved_outcome(
    instance: ForestPackingInstance,
    pairs: Iterable[Pair] | None,
    *,
    certificate: ForestPackingCertificate | None = None,
    **more: Any,
) -> MethodOutcome:
    """Return a method's outcome, see `plan_outcome`; its bound is that of its certificate."""
    if certificate is not None:
        more["dual_bound"] = check_bound(instance, certificate)
    return plan_outcome(instance, pairs, certificate=certificate, **more)
