r"""Theorems of GADGET: approximation ratios OPT / ALG and probability bounds.

Theorem 6: if each slot is solved within :math:`\alpha` and utilities are concave, temporal greedy
is within a factor :math:`(1 + \alpha) / \alpha` of the optimum over all slots. Choosing one
allocation per slot is a partition matroid, and the total utility is monotone and submodular. The
budgets (3) couple the slots, which the proof overlooks. With :math:`\mu_i(\zeta_i \min(z, K_i))` in
place of :math:`\mu_i(\zeta_i z)` they can be dropped, since surplus workers can be removed from a
ring (repair reconstructed).

Theorems 8 and 10 are about Algorithm 2 as printed, whose rings may exceed capacities by the factors
of `algorithms/overload_factors.py`: a slot is within :math:`3 \Gamma` and the horizon within
:math:`3 \Gamma + 1`, with :math:`\Gamma` the largest ring. The factors are so large that placing
every ring on one random server satisfies the theorem without using a link. If capacities are
respected, no such ratio holds, so both theorems count as claimed only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from gadgetopt.system.declaring import guarantee

from ..instance import GadgetInstance
from ..subproblems.levels import is_concave

#: Chernoff's bound on the probability that a draw gains less than a third of the relaxation.
POOR_DRAW = math.exp(-2 / 9)


def concave(instance: GadgetInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if all utilities are concave in the worker-slots that a job can have."""
    return all(is_concave(job) for job in instance.terms.jobs)


def one_slot(instance: GadgetInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if there is only one slot."""
    return instance.horizon_slots == 1


@guarantee(
    name="Theorem 6",
    statement="OPT / ALG <= 2 over all slots",
    reference="Theorem 6, proof repaired",
    methods=("gadget_exact",),
    assumptions={"utilities are concave": concave},
)
def theorem_6_ratio(instance: GadgetInstance, parameters: Mapping[str, Any]) -> int:
    """Return (1 + alpha) / alpha for alpha = 1."""
    return 2


@guarantee(
    name="Theorem 8",
    statement=(
        "OPT / ALG <= 3 Gamma in a slot with some probability, capacities exceeded by "
        "beta and gamma; no ratio if capacities are respected"
    ),
    reference="Theorem 8",
    standing="claimed",
    methods=("gadget", "gadget_rounding"),
    assumptions={"there is one slot": one_slot},
)
def theorem_8_ratio(instance: GadgetInstance, parameters: Mapping[str, Any]) -> int:
    """Return 3 Gamma; 3 if all ring sizes enter the augmented program."""
    return 3 * (1 if parameters.get("all_sizes") else largest_ring(instance))


@guarantee(
    name="Theorem 10",
    statement=(
        "OPT / ALG <= 3 Gamma + 1 over all slots with some probability, capacities "
        "exceeded by beta and gamma; no ratio if capacities are respected"
    ),
    reference="Theorem 10",
    standing="claimed",
    methods=("gadget", "gadget_rounding"),
    assumptions={"utilities are concave": concave},
)
def theorem_10_ratio(instance: GadgetInstance, parameters: Mapping[str, Any]) -> int:
    """Return 3 Gamma + 1, one more than for a single slot."""
    return theorem_8_ratio(instance, parameters) + 1


def largest_ring(instance: GadgetInstance) -> int:
    """Return Gamma, at least 1."""
    return max(1, *(job.max_ring for job in instance.terms.jobs))


def rejection_bound(num_servers: int, num_links: int, resources: int = 1) -> float:
    r"""Return a bound on the probability that Algorithm 2 rejects one draw.

    The bound is :math:`e^{-2/9} + |R| |V_s|^{-3} + |E_s|^{-3}`, for too little utility and for a
    server or a link beyond its factor; numbers below 3 count as 3. It holds if no ring gains more
    than the whole relaxation and no worker or hop exceeds a capacity.
    """
    return POOR_DRAW + resources * max(3, num_servers) ** -3 + max(3, num_links) ** -3


def horizon_violation_bound(elements: int, slots: int) -> float:
    r"""Bound the probability that any element ever exceeds its factor (Theorem 10).

    The bound is :math:`1 - (1 - n^{-4})^T`.
    """
    return -math.expm1(slots * math.log1p(-(float(max(3, elements)) ** -4)))
