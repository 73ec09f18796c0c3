"""The CP-SAT models of `cp_model` as methods."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number, round_up
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import ASrptInstance
from ...relaxations import pool_of
from ...subproblems.configurations import Configurations
from ..formulations.cp_model import ScheduleModel
from ..serial_schedule import (
    Schedule,
    first_schedule,
)
from .pool_search import pool_schedule

#: CP-SAT refuses sums near 2^63. By definition.
MOST_COST = 2**60


@method(
    kind="exact",
    reference="model A (reconstructed)",
    formulation="cp_configurations",
    backend="cpsat",
)
def cp_configurations(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    """Model A: an optional interval for every configuration (native CP-SAT)."""
    clock = Clock(limits)
    with clock.phase("build"):
        configurations = Configurations(instance)
        model = _model(instance, first_schedule(configurations))
        model.one_interval_a_configuration(configurations)
    return _solved(model, configurations, clock, seed_of(fixed_rng()))


@method(
    kind="exact", reference="model B (reconstructed)", formulation="cp_demands", backend="cpsat"
)
def cp_demands(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    """Model B: GPUs on every server as variables, a table, the pool (native CP-SAT)."""
    clock = Clock(limits)
    with clock.phase("build"):
        configurations = Configurations(instance)
        model = _model(instance, first_schedule(configurations))
        model.gpus_from_a_table(configurations)
    return _solved(model, configurations, clock, seed_of(fixed_rng()))


@method(kind="relaxation", reference="(P) (reconstructed)", formulation="cp_pool", backend="cpsat")
def cp_pool(instance: ASrptInstance, limits: Limits) -> MethodOutcome:
    """The pool relaxation, one cumulative constraint (native CP-SAT)."""
    rng = fixed_rng()
    clock = Clock(limits)
    with clock.phase("build"):
        value, starts = pool_schedule(pool_of(instance), 0, rng, clock)
        model = _model(instance, Schedule(value, starts, []))
        model.pool_of_shortest_jobs()
    return _solved(model, None, clock, seed_of(rng))


def _model(instance: ASrptInstance, known: Schedule) -> ScheduleModel:
    model = ScheduleModel(instance, known)
    if model.horizon * int(instance.whole_weights.sum()) > MOST_COST:
        raise ModelRefused(f"tick_s: {model.horizon} ticks are too many for CP-SAT (longer ticks)")
    model.hint_starts()
    return model


def _solved(
    model: ScheduleModel, configurations: Configurations | None, clock: Clock, seed: int
) -> MethodOutcome:
    scale = model.instance.weight_scale

    def bound_of(bound: Number) -> Number:
        return Fraction(round_up(bound), scale)

    with solver_watched(scale, bound_of, incumbents=configurations is not None):
        solved = solve_cp(model.model, clock.limits(), seed)
    solution = None
    if configurations is not None and solved.values is not None:
        solution = configurations.solution(*model.decode(solved.values))
    claimed = None
    if solution is not None and solved.objective is not None:
        claimed = Fraction(solved.objective) / scale
    return MethodOutcome.of(
        solved,
        solution,
        scale=scale,
        bound_of=bound_of,
        phases_s=clock.phases_s,
        claimed_objective=claimed,
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )
