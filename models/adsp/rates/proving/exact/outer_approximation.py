"""Outer approximation: the one-hot model is solved again with a tangent at each optimum."""

from __future__ import annotations

import pyomo.core as pyo

from gadgetopt.errors import SolverError
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...evaluate import evaluate
from ...formulations.one_hot import (
    add_tangent,
    build_tangents,
    decode,
)
from ...instance import (
    AdspRatesInstance,
    AdspRatesSolution,
)


@method(
    kind="exact",
    reference="(O1)-(O7); Duran and Grossmann 1986",
    formulation="one_hot",
    backend="highs",
)
def outer_approximation(
    instance: AdspRatesInstance,
    limits: Limits,
    *,
    rounds: int = 50,
) -> MethodOutcome:
    """One-hot model with a tangent of the objective added at each optimum.

    Each mixed-integer program bounds the optimum from below, its decision from above; the tangent
    there cuts it off. It ends when both meet to 1e-9, after finitely many rounds, as S and theta
    take finitely many values; usually two or three.

    Parameters
    ----------
    instance : AdspRatesInstance
    limits : Limits
    rounds : int, default 50
        Most programs.

    Raises
    ------
    ModelRefused
        If the model is the momentum cap, which is linear as it is.

    References
    ----------
    M. A. Duran, I. E. Grossmann, "An outer-approximation algorithm for a class of mixed-integer
    nonlinear programs", Mathematical Programming 36 (1986) 307-339.
    """
    rng = fixed_rng()
    search: Search[AdspRatesSolution] = Search("min", limits)
    seed = seed_of(rng)
    with search.clock.phase("build"):
        model = build_tangents(instance)
    done = 0
    while done < rounds and not search.over:
        solved = solve_model(model, "highs", search.clock.limits(), seed)
        search.versions |= solved.versions
        if solved.status is Status.ERROR:
            raise SolverError(solved.reason)
        if solved.status is Status.INFEASIBLE:
            search.infeasible = True
            break
        if solved.bound is not None:
            search.prove(solved.bound)
        if solved.values is not None:
            _take(instance, search, model)
        done += 1
        if solved.limit_hit is not None:
            search.limit_hit = solved.limit_hit
            break
    return search.outcome(search.best, rounds=done)


def _take(
    instance: AdspRatesInstance, search: Search[AdspRatesSolution], model: pyo.ConcreteModel
) -> None:
    """Offer the decision of a model, and cut its value off by a tangent."""
    solution = decode(model, instance)
    evaluation = evaluate(instance, solution)
    if evaluation.feasible and evaluation.objective is not None:
        search.offer(float(evaluation.objective), solution)
    mean = evaluation.components["mean_steps_per_period"]
    add_tangent(model, instance, float(mean), float(evaluation.components["most_local_steps"]))
