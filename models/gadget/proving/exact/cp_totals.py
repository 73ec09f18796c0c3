"""CP-SAT feasibility test of given totals, and the optimum of a slot with linear gains.

Both use the model of `formulations/cp_tree.py` (reconstructed). The feasibility test asks if all
slots together can give every job its total. It has variables only for jobs with a positive total,
and no utilities, so it is often solved where the whole problem is out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

from ...formulations.joint import SlotScope
from ...subproblems.schedule import (
    Schedule,
    trimmed,
)
from ...subproblems.slot_problem import (
    Mapping,
    SlotProblem,
)
from ...terms import Terms
from ..formulations.cp_joint import mappings_of
from ..formulations.cp_tree import add_slot
from .epoch_cuts import bounded_slot
from .slot_solver import SlotResult

#: Seconds for the proof of one slot; without a proof the configuration program gives the bound.
#: Tuned: `benchmarks/constants.py`.
SLOT_S = 5.0


@dataclass(frozen=True)
class Reached:
    """Result of the feasibility test of given totals.

    Attributes
    ----------
    schedule : Schedule or None
        A schedule that reaches all totals.
    impossible : bool
        True if CP-SAT says that there is none. If False without a schedule, time ran out.
    """

    schedule: Schedule | None
    impossible: bool


def reach_totals(
    terms: Terms,
    totals: Ints,
    largest: Sequence[int] | Ints,
    start: Schedule,
    limits: Limits,
    seed: int,
) -> Reached:
    """Find a schedule that gives every job its total, or prove that none exists.

    Parameters
    ----------
    terms : Terms
        Must be those of a two-tier cluster.
    totals : array of int, shape (jobs,)
        Worker-slots; jobs with 0 do not run.
    largest : sequence of int
        The largest ring of each job.
    start : Schedule
        Warm start of the search; it need not reach the totals.
    limits : Limits
    seed : int
    """
    clock = Clock(limits)
    wanted = np.flatnonzero(totals).tolist()
    model = cp_model.CpModel()
    slots = {}
    for t in range(1, terms.horizon + 1):
        present = {
            i: min(int(largest[i]), int(totals[i])) for i in wanted if terms.jobs[i].arrival <= t
        }
        if present:
            slots[t] = add_slot(model, SlotScope(terms, present))
    for i in wanted:
        model.add(sum(x.size[i] for x in slots.values() if i in x.size) >= int(totals[i]))
    for t, slot in slots.items():
        there = {(m.job, s): n for m in start.mappings[t - 1] for s, n in m.workers}
        for key, workers in slot.workers.items():
            model.add_hint(workers, there.get(key, 0))
    solved = solve_cp(model, clock.limits(), seed)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason)
    if solved.values is None:
        return Reached(None, solved.status is Status.INFEASIBLE)
    placed = [
        tuple(mappings_of(terms, slots[t], solved)) if t in slots else ()
        for t in range(1, terms.horizon + 1)
    ]
    # Workers beyond the table's end gain nothing, and the evaluator would report a violation.
    most = np.array([job.max_total for job in terms.jobs])
    return Reached(trimmed(placed, most), impossible=False)


def cover(
    terms: Terms,
    wanted: Ints,
    slots: int,
    largest: Sequence[int] | Ints,
    limits: Limits,
    seed: int,
) -> list[tuple[Mapping, ...]] | None:
    """Return rings of a number of like slots that give every job its worker-slots.

    None if there are none, or none was found in time.

    Parameters
    ----------
    terms : Terms
        Must be those of a two-tier cluster.
    wanted : array of int, shape (jobs,)
        Worker-slots; jobs with 0 do not run.
    slots : int
    largest : sequence of int
        The largest ring of each job.
    limits : Limits
    seed : int
    """
    jobs = np.flatnonzero(wanted).tolist()
    model = cp_model.CpModel()
    scope = SlotScope(terms, {i: min(int(largest[i]), int(wanted[i])) for i in jobs})
    made = [add_slot(model, scope) for _ in range(slots)]
    for i in jobs:
        model.add(sum(slot.size[i] for slot in made) >= int(wanted[i]))
    solved = solve_cp(model, limits, seed)
    if solved.values is None:
        return None
    return [tuple(mappings_of(terms, slot, solved)) for slot in made]


def exact_slot(problem: SlotProblem, limits: Limits, rng: np.random.Generator) -> SlotResult:
    """Solve a slot in which every worker of a job has the same integer gain."""
    clock = Clock(limits)
    found = bounded_slot(problem, clock.limits(), rng)
    if found.bound - found.value < 1 - 1e-6:
        return found
    model = cp_model.CpModel()
    scope = SlotScope(problem.terms, {x.job.index: x.most for x in problem.jobs})
    slot = add_slot(model, scope)
    gain = sum(round(float(x.gain[1])) * slot.size[x.job.index] for x in problem.jobs)
    model.add(gain >= round(found.value))
    model.maximize(gain)
    solved = solve_cp(model, clock.limits(at_most_s=SLOT_S), seed_of(rng))
    bound = found.bound if solved.bound is None else min(found.bound, float(solved.bound))
    if solved.values is None or solved.objective is None:
        return SlotResult(found.mappings, found.value, bound, "CP-SAT", limit_hit=solved.limit_hit)
    mappings = tuple(mappings_of(problem.terms, slot, solved))
    return SlotResult(
        mappings, float(solved.objective), bound, "CP-SAT", limit_hit=solved.limit_hit
    )
