"""The bound by one sequence with a random end: for ratios it is the optimum."""

from __future__ import annotations

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import AdversarialOnlinePolicyInstance
from ...subproblems.chains import certificate_of_chain


@method(kind="relaxation", reference="this project", formulation="hardest_chain")
def hardest_chain(instance: AdversarialOnlinePolicyInstance) -> MethodOutcome:
    r"""One non-decreasing sequence with a random end; the optimum of ratio games.

    Return the bound of the sequence that takes most units, with a random end.

    With the weights 1/value - 1/next value of its prefixes a unit earns the same whenever it is
    sold, so the seller cannot do better than :math:`k`, and OPT is W (see `subproblems.chains`).
    For the ratio without predictions no bound is better. For the regret the same weights prove what
    the certificate's check says.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance

    Raises
    ------
    ModelRefused
        If the sequence is too long for the certificate's check.
    """
    return MethodOutcome(certificate=certificate_of_chain(instance))
