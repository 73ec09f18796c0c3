"""The bounds B0, B1 and B2: formulas that the check of a certificate computes."""

from __future__ import annotations

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import ASrptInstance
from ..certificate.check import Formula
from .outcome import certified


@method(name="release_bound", kind="relaxation", reference="elementary", formulation="release")
def release(instance: ASrptInstance) -> MethodOutcome:
    r"""B0: every job starts at its release.

    Return B0, :math:`\sum_j w_j (r_j + d_j)`.
    """
    return certified(Formula(formula="release"), Clock())


@method(name="srpt_bound", kind="relaxation", reference="Lemma 2", formulation="srpt")
def srpt(instance: ASrptInstance) -> MethodOutcome:
    """B1: preemptive shortest remaining work first on one machine.

    Return B1, SRPT's sum of completions on one preemptive machine, in O(n log n).

    Of weighted jobs, times the least weight.
    """
    return certified(Formula(formula="srpt"), Clock())


@method(
    name="busy_time_bound",
    kind="relaxation",
    reference="Goemans 1996; Goemans, Queyranne, Schulz, Skutella and Wang 2002",
    formulation="busy_time",
)
def busy_time(instance: ASrptInstance) -> MethodOutcome:
    r"""B2: mean busy times of preemptive Smith's rule on one machine.

    Return B2, :math:`\sum_j w_j (M_j^{WSPT} + d_j / 2)`, in O(n log n).

    References
    ----------
    M. X. Goemans, "A supermodular relaxation for scheduling with release dates", IPCO 1996. M. X.
    Goemans, M. Queyranne, A. S. Schulz, M. Skutella, Y. Wang, "Single machine scheduling with
    release dates", SIAM Journal on Discrete Mathematics 15 (2002) 165-192.
    """
    return certified(Formula(formula="busy_time"), Clock())
