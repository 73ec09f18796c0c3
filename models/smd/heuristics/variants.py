"""Variants of SMD: each changes one step of the paper's algorithm."""

from __future__ import annotations

from functools import partial

import numpy as np

from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.grid_search import grid_search
from ..algorithms.outer import admit_jobs, by_algorithm_3, enumerated_sets
from ..algorithms.rounding import Rounding, best_corner, floor_pair, rounded
from ..algorithms.smd import Inner, Round, decide, repaired, seed_of_jobs
from ..algorithms.theorem_values import Variant
from ..baselines.admission import densest, exactly_chosen
from ..instance import Job, SmdInstance
from ..subproblems.inner import Point, best_pair


@method(kind="heuristic", reference="SMD, one step changed (reconstructed)")
def smd_exact(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
) -> MethodOutcome:
    """SMD with jobs admitted by an exact knapsack.

    Return the decision of SMD with jobs admitted by an exact knapsack, not by Algorithm 3.

    The ratio loses its factor (k + R) / k. Parameters are those of `smd`.
    """
    parameters = {"eps_inner": eps_inner, "shrink": shrink, "delta": delta, "attempts": attempts}
    inner = repaired(rng, eps_inner, shrink, delta, attempts)
    return decide(
        instance, limits, inner, exactly_chosen(rng), parameters, Variant(admission="exact")
    )


@method(kind="heuristic", reference="SMD, one step changed (reconstructed)")
def smd_greedy(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
) -> MethodOutcome:
    """SMD with jobs admitted by utility over the largest share.

    For very many jobs, nearly linear in their number, and without a guarantee. Parameters are those
    of `smd`.
    """
    parameters = {"eps_inner": eps_inner, "shrink": shrink, "delta": delta, "attempts": attempts}
    inner = repaired(rng, eps_inner, shrink, delta, attempts)
    return decide(instance, limits, inner, densest, parameters, Variant(admission="greedy"))


@method(kind="heuristic", reference="SMD, one step changed (reconstructed)")
def smd_floor(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    """SMD with every point rounded down.

    Return the decision of SMD with every point rounded down, which always fits.

    The completion time of a job is at most twice that of its point. Parameters are those of `smd`.
    """
    sets = enumerated_sets(instance, k, eps_outer)
    return _certain(instance, limits, rng, _down, eps_inner, sets)


@method(kind="heuristic", reference="SMD, one step changed (reconstructed)")
def smd_corners(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    """SMD with the best pair around every point.

    The pair rounded down is among them. Parameters are those of `smd`.
    """
    sets = enumerated_sets(instance, k, eps_outer)
    return _certain(instance, limits, rng, _best_corner, eps_inner, sets)


@method(kind="heuristic", reference="SMD, one step changed (reconstructed)")
def smd_actual(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    """SMD with grid points compared by their time.

    The point of a job is never worse. Parameters are those of `smd`.
    """
    k = enumerated_sets(instance, k, eps_outer)
    parameters = {"eps_inner": eps_inner, "shrink": shrink, "delta": delta, "attempts": attempts}
    parameters |= {"k": k, "eps_outer": None}
    inner = Inner(
        search=lambda job: grid_search(job, eps_inner, objective="actual"),
        round_=partial(rounded, shrink=shrink, delta=delta, attempts=attempts),
        seed=seed_of_jobs(rng),
    )
    return decide(instance, limits, inner, by_algorithm_3(k), parameters)


@method(kind="heuristic", reference="SMD, one step changed (reconstructed)")
def smd_complete(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    eps_inner: float = 0.01,
    shrink: float = 1.0,
    delta: float | None = None,
    attempts: int = 20,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    """SMD with jobs added that still fit.

    Return the decision of SMD with jobs added to each rounded program that still fit.

    Parameters are those of `smd`.
    """
    k = enumerated_sets(instance, k, eps_outer)
    parameters = {"eps_inner": eps_inner, "shrink": shrink, "delta": delta, "attempts": attempts}
    parameters |= {"k": k, "eps_outer": None}
    inner = repaired(rng, eps_inner, shrink, delta, attempts)
    choose = by_algorithm_3(k, complete=True)
    return decide(instance, limits, inner, choose, parameters)


@method(kind="heuristic", reference="Algorithm 3, completed (reconstructed)")
def algorithm_3_complete(
    instance: SmdInstance,
    limits: Limits,
    *,
    k: int = 2,
    eps_outer: float | None = None,
) -> MethodOutcome:
    """Algorithm 3 on best pairs, with jobs added that still fit.

    Return the decision of Algorithm 3 on best pairs, with jobs added that still fit.

    Parameters are those of `algorithm_3`.
    """
    choose = by_algorithm_3(enumerated_sets(instance, k, eps_outer), complete=True)
    return admit_jobs(instance, limits, lambda _, job: best_pair(job), choose)


def _certain(
    instance: SmdInstance,
    limits: Limits,
    rng: np.random.Generator,
    round_: Round,
    eps_inner: float,
    k: int,
) -> MethodOutcome:
    """SMD with a rounding without chance."""
    parameters = {"eps_inner": eps_inner, "k": k, "eps_outer": None}
    inner = Inner(lambda job: grid_search(job, eps_inner), round_, seed_of_jobs(rng))
    variant = Variant(rounds_down=True)
    return decide(instance, limits, inner, by_algorithm_3(k), parameters, variant)


def _down(job: Job, point: Point, _: np.random.Generator) -> Rounding:
    return Rounding(floor_pair(job, point), failed_attempts=0, fell_back=False)


def _best_corner(job: Job, point: Point, _: np.random.Generator) -> Rounding:
    return Rounding(best_corner(job, point), failed_attempts=0, fell_back=False)
