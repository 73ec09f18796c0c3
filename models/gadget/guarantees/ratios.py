r"""The theorems of GADGET, as ratios OPT / ALG and probabilities that can be measured.

Theorem 6 says that slot by slot is at most a factor :math:`(1 + \alpha) / \alpha` from the optimum
over all slots, if each slot is solved within :math:`\alpha` and utilities are concave: choosing one
allocation a slot is a partition matroid and the total utility is monotone and submodular. The
budgets (3) couple slots, which the proof overlooks; with :math:`\mu_i(\zeta_i \min(z, K_i))` in
place of :math:`\mu_i(\zeta_i z)` they can be dropped, as surplus workers can be taken out of a ring
(repair reconstructed).

Theorems 8 and 10 speak of Algorithm 2 as printed, whose rings may exceed capacities by the factors
of `overload_factors`: a slot is within :math:`3 \Gamma` and the whole within :math:`3 \Gamma + 1`,
with :math:`\Gamma` the largest ring. These factors are so large that they say little: putting every
ring on one random server satisfies the theorem without touching a link. With capacities kept there
is no such ratio, so both are claimed only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..instance import GadgetInstance
from ..subproblems.epochs import is_concave

#: Chernoff's bound on the probability that a draw brings less than a third of the relaxation.
POOR_DRAW = math.exp(-2 / 9)


def concave(instance: GadgetInstance, parameters: Mapping[str, Any]) -> bool:
    """Say whether all utilities are concave in the worker-slots that a job can have."""
    return all(is_concave(job) for job in instance.terms.jobs)


def slots_exact(instance: GadgetInstance, parameters: Mapping[str, Any]) -> bool:
    """Say whether every slot is solved to optimality."""
    return parameters.get("slot_solver") == "exact"


def slots_by_algorithm_2(instance: GadgetInstance, parameters: Mapping[str, Any]) -> bool:
    """Say whether slots are solved by Algorithm 2."""
    return parameters.get("slot_solver") == "lp_rs_mde"


def one_slot(instance: GadgetInstance, parameters: Mapping[str, Any]) -> bool:
    """Say whether there is only one slot."""
    return instance.horizon_slots == 1


def theorem_6_ratio(instance: GadgetInstance, parameters: Mapping[str, Any]) -> int:
    """Return (1 + alpha) / alpha for alpha = 1."""
    return 2


def theorem_8_ratio(instance: GadgetInstance, parameters: Mapping[str, Any]) -> int:
    """Return 3 Gamma; 3 if all ring sizes enter the augmented program."""
    return 3 * (largest_ring(instance) if parameters.get("selected", True) else 1)


def theorem_10_ratio(instance: GadgetInstance, parameters: Mapping[str, Any]) -> int:
    """Return one more than for a slot."""
    return theorem_8_ratio(instance, parameters) + 1


def largest_ring(instance: GadgetInstance) -> int:
    """Return Gamma, at least 1."""
    return max(1, *(job.max_ring for job in instance.terms.jobs))


def rejection_bound(num_servers: int, num_links: int, resources: int = 1) -> float:
    r"""Return a bound on the probability that Algorithm 2 rejects one draw.

    It is :math:`e^{-2/9} + |R| |V_s|^{-3} + |E_s|^{-3}`: too little utility, or a server or a link
    beyond its factor; numbers below 3 count as 3. It holds if no ring brings more than the whole
    relaxation and no worker or hop exceeds a capacity.
    """
    return POOR_DRAW + resources * max(3, num_servers) ** -3 + max(3, num_links) ** -3


def horizon_violation_bound(elements: int, slots: int) -> float:
    r"""Return Theorem 10's :math:`1 - (1 - n^{-4})^T`, that an element exceeds its factor ever."""
    return -math.expm1(slots * math.log1p(-(float(max(3, elements)) ** -4)))
