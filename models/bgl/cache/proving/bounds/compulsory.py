"""The compulsory bound: every requested feature is loaded once."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import CacheInstance
from ..certificate import CacheCertificate, Compulsory


def compulsory(instance: CacheInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    r"""Return :math:`c \sum_v w_v` over all requested nodes. O(n)."""
    return MethodOutcome(certificate=CacheCertificate(proof=Compulsory()))
