"""The bound by counting: stars that are larger than a part."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate.check import (
    BglPartitionCertificate,
    Stars,
)


def stars(
    instance: BglPartitionInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return what stars lose that are larger than a part.

    A node of d neighbours with weight loses the d - (C - 1) lightest, and likewise of its training
    neighbours. Every pair is counted in the star of one of its nodes. It is 0 unless parts are
    small.
    """
    return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
