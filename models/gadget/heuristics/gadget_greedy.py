"""Algorithm 1 with slots solved greedily, in near-linear time (reconstructed)."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers.scaling import cost_unit
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.temporal_greedy import slot_by_slot
from ..instance import GadgetInstance
from ..subproblems.slot_problem import Mapping, SlotJob, SlotProblem
from .slot_greedy import slot_greedy

#: Gain of an additional worker that gains nothing, under the tie-break: less than any real gain.
#: In `cost_unit` of the gains. Tuned: `benchmarks/constants.py`.
IDLE_WORKER = 1e-6


@method(kind="online", reference="Algorithm 1 with a greedy slot (reconstructed)")
def gadget_greedy(
    instance: GadgetInstance,
    limits: Limits,
    *,
    envelopes: bool = True,
    idle_tiebreak: bool = False,
) -> MethodOutcome:
    """Slot by slot, the most valuable worker next.

    Run Algorithm 1 and add the most valuable worker of a slot next (reconstructed).

    Parameters
    ----------
    envelopes : bool
        If False, gains are those of the utilities themselves and not of their concave envelopes.
    idle_tiebreak : bool
        If True, no GPU idles because of a tie.
    """
    rng = fixed_rng()

    def solve(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        return slot_greedy(with_idle_workers(problem) if idle_tiebreak else problem)

    return slot_by_slot(instance, solve, rng, limits, envelopes=envelopes)


def with_idle_workers(problem: SlotProblem) -> SlotProblem:
    """Return a slot in which workers that gain nothing count a tiny amount."""
    if not problem.jobs:
        return problem
    worth = IDLE_WORKER * cost_unit([x.gain.max() for x in problem.jobs])
    jobs = (SlotJob(x.job, x.gain + worth * np.arange(len(x.gain))) for x in problem.jobs)
    return SlotProblem(problem.terms, problem.slot, tuple(jobs))
