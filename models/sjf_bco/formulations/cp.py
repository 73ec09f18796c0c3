"""The CP-SAT models of `cp_model.py` as methods.

All are (reconstructed). `cp_e` and `cp_e_l2` are exact. `cp_l` and `cp_l2` are relaxations, whose
bound is valid even if time ran out. `cp_u` is a restriction. A schedule is simulated before it is
returned: its true makespan may be smaller than the model's. The schedule of a relaxation is first
dispatched with the true durations.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many_pairs, refuse_many_slots
from ..subproblems.greedy import dispatch, makespan_of, upper_bound_schedule
from .cp_model import ScheduleModel

Constraints = Callable[[ScheduleModel], None]

#: CP-SAT's linear relaxation helps only in the time-indexed models: without it, CP-L2 is solved on
#: contended instances of 8 to 10 jobs in seconds; with it, not within a minute.
#: Tuned: `benchmarks/constants.py`.
LINEARIZATION_LEVEL_WITHOUT_SLOTS = 0
#: Most jobs whose schedule is dispatched, at which that takes about a second.
#: Tuned: `benchmarks/constants.py`.
MOST_DISPATCHED = 2_000


def exact(model: ScheduleModel) -> None:
    """CP-E."""
    model.levels_follow_the_slots()


def without_contention(model: ScheduleModel) -> None:
    """CP-L."""
    model.durations_ignore_contention()


def without_sharing(model: ScheduleModel) -> None:
    """CP-U."""
    model.durations_ignore_contention()
    model.spread_jobs_never_share_a_server()


def with_shared_slots(model: ScheduleModel) -> None:
    """CP-L2."""
    model.durations_are_long_enough_alone()
    model.shared_slots_slow_jobs_down()


def exact_with_shared_slots(model: ScheduleModel) -> None:
    """Add CP-E and the constraints of CP-L2, which are redundant and help."""
    exact(model)
    with_shared_slots(model)


#: The models with variables for each slot.
SLOTTED = exact, exact_with_shared_slots


def assemble(
    instance: SjfBcoInstance,
    durations: Constraints,
    horizon: int,
    lower: int,
    incumbent: SjfBcoSolution | None,
    clock: Clock | None = None,
) -> ScheduleModel:
    """Build a model: common constraints, its durations, and known bounds.

    Raises
    ------
    TimeoutError
        If time is up first.
    """
    model = ScheduleModel(instance, horizon, clock)
    model.gang_is_complete()
    model.servers_are_counted()
    model.spread_jobs_are_on_the_network()
    model.servers_have_capacity()
    model.makespan_spans_jobs()
    model.makespan_is_at_least(lower)
    model.exchangeable_jobs_and_servers_are_ordered()
    durations(model)
    if incumbent is not None:
        model.hint(incumbent)
    return model


def solve(
    instance: SjfBcoInstance,
    durations: Constraints,
    limits: Limits,
    seed: int,
    lower: int,
    incumbent: SjfBcoSolution | None,
) -> tuple[SolverOutcome, SjfBcoSolution | None]:
    """Solve one of the models; return CP-SAT's outcome and its schedule, not yet simulated.

    The horizon is the incumbent's makespan; without an incumbent, that of the instance.

    Raises
    ------
    ModelRefused
        If there are too many pairs of jobs and servers, or slots, for the model.
    """
    refuse_many_pairs(instance)
    makespan = None if incumbent is None else makespan_of(instance, incumbent)
    horizon = instance.horizon_slots if makespan is None else makespan
    if lower > horizon:
        return SolverOutcome(Status.INFEASIBLE, bound=lower), None
    known = incumbent if makespan is not None else None
    clock = Clock(limits)
    try:
        model = assemble(instance, durations, horizon, lower, known, clock)
    except TimeoutError:
        return SolverOutcome(Status.NO_SOLUTION, limit_hit="time_s"), None
    build_s = clock.elapsed_s
    level = None if durations in SLOTTED else LINEARIZATION_LEVEL_WITHOUT_SLOTS
    outcome = solve_cp(model.model, clock.limits(), seed, level)
    outcome.phases_s = {"build": build_s, **outcome.phases_s}
    schedule = None if outcome.values is None else model.decode(outcome.values)
    return outcome, schedule


def simulated(
    instance: SjfBcoInstance, schedule: SjfBcoSolution | None
) -> tuple[int, SjfBcoSolution] | None:
    """Return the better of a model's schedule as it is and dispatched, with true makespan.

    Dispatching takes time in the square of the jobs, so many jobs are taken as they are.
    """
    if schedule is None:
        return None
    few = len(instance.jobs) <= MOST_DISPATCHED
    candidates = [schedule, dispatch(instance, schedule) if few else None]
    found = [(mk, c) for c in candidates if c and (mk := makespan_of(instance, c)) is not None]
    return min(found, key=lambda entry: entry[0], default=None)


@method(kind="exact", reference="CP-E (reconstructed)", formulation="cp_e", backend="cpsat")
def cp_e(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """Time-indexed CP-SAT model.

    Solve CP-E, the time-indexed model (reconstructed).
    """
    rng = fixed_rng()
    return _run(instance, exact, limits, rng)


@method(kind="exact", reference="CP-E+L2 (reconstructed)", formulation="cp_e_l2", backend="cpsat")
def cp_e_l2(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """CP-E with the constraints of CP-L2.

    Solve CP-E strengthened by CP-L2 (reconstructed).
    """
    rng = fixed_rng()
    return _run(instance, exact_with_shared_slots, limits, rng)


@method(kind="relaxation", reference="CP-L (reconstructed)", formulation="cp_l", backend="cpsat")
def cp_l(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """CP-SAT model without contention.

    Bound the makespan by CP-L, which ignores contention (reconstructed).
    """
    rng = fixed_rng()
    return _run(instance, without_contention, limits, rng)


@method(kind="relaxation", reference="CP-L2 (reconstructed)", formulation="cp_l2", backend="cpsat")
def cp_l2(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """CP-SAT model of contention by pairwise overlaps, without slots.

    Bound the makespan by CP-L2, with pairwise overlaps (reconstructed).
    """
    rng = fixed_rng()
    return _run(instance, with_shared_slots, limits, rng)


@method(kind="heuristic", reference="CP-U (reconstructed)", formulation="cp_u", backend="cpsat")
def cp_u(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """Schedules with at most one spread job per server at a time.

    Find the best schedule in which spread jobs never share a server: CP-U (reconstructed).
    """
    rng = fixed_rng()
    outcome = _run(instance, without_sharing, limits, rng)
    # A restriction proves neither bounds nor infeasibility of the problem.
    outcome.dual_bound = outcome.proved = None
    outcome.trace = ()
    return outcome


def _run(
    instance: SjfBcoInstance, durations: Constraints, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    refuse_many_pairs(instance)
    clock = Clock(limits)
    lower = energetic_bound(instance)
    if durations in SLOTTED:
        refuse_many_slots(instance, lower)  # the horizon is no shorter
    try:
        incumbent = upper_bound_schedule(instance, clock)
    except TimeoutError:
        return MethodOutcome(limit_hit="time_s", dual_bound=lower, notes={"energetic": lower})
    schedules = durations in (exact, exact_with_shared_slots, without_sharing)
    bounds = durations is not without_sharing
    with solver_watched(bound_of=round_up, incumbents=schedules, bounds=bounds):
        outcome, schedule = solve(
            instance, durations, clock.limits(), seed_of(rng), lower, incumbent
        )
    infeasible = outcome.status is Status.INFEASIBLE
    result = MethodOutcome.of(
        outcome,
        bound_of=round_up,
        proved=Status.INFEASIBLE if infeasible else None,
        notes={"model_makespan": outcome.objective, "energetic": lower},
    )
    found = simulated(instance, schedule)
    if found:
        result.claimed_objective, result.solution = found
    return result
