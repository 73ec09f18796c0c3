"""The bounds B0, B1 and B2: formulas that the check of a certificate computes."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ASrptInstance
from ..certificate.check import Formula
from .outcome import certified


def release(instance: ASrptInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    r"""Return B0, :math:`\sum_j w_j (r_j + d_j)`."""
    return certified(Formula(formula="release"), Clock())


def srpt(instance: ASrptInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return B1, SRPT's sum of completions on one preemptive machine, in O(n log n).

    Of weighted jobs, times the least weight.
    """
    return certified(Formula(formula="srpt"), Clock())


def busy_time(instance: ASrptInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    r"""Return B2, :math:`\sum_j w_j (M_j^{WSPT} + d_j / 2)`, in O(n log n).

    References
    ----------
    M. X. Goemans, "A supermodular relaxation for scheduling with release dates", IPCO 1996. M. X.
    Goemans, M. Queyranne, A. S. Schulz, M. Skutella, Y. Wang, "Single machine scheduling with
    release dates", SIAM Journal on Discrete Mathematics 15 (2002) 165-192.
    """
    return certified(Formula(formula="busy_time"), Clock())
