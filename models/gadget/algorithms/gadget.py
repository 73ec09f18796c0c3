"""GADGET: Algorithm 1, with slots solved by Algorithm 2."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import GadgetInstance
from ..subproblems.slot_problem import Mapping, SlotProblem
from .lp_rs_mde import lp_rs_mde
from .temporal_greedy import slot_by_slot


@method(kind="online", reference="Algorithms 1 and 2")
def gadget(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    attempts: int = 100,
) -> MethodOutcome:
    """Slot by slot, by Algorithm 2 on concave envelopes.

    Run Algorithm 1 with Algorithm 2.

    Printed step for step, rings may exceed capacities and a sigmoid utility may never start its
    job. So rings that do not fit are left out and other jobs fill the room, and gains are those of
    the concave envelopes (both reconstructed).

    Parameters
    ----------
    attempts : int
        u_b, the number of roundings per slot.

    Raises
    ------
    ModelRefused
        If the augmented program of a slot is too large.
    """

    def solve(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        return lp_rs_mde(problem, limits, rng, attempts=attempts)

    return slot_by_slot(instance, solve, rng, limits)
