r"""The fewest trees of a pool that reach a target rate.

Formulation F8e.

Sets: pool of tree pairs j = 1..J; rows i with capacity c_i. n_ij: how often pair j uses row i.
B_j = min_i c_i / n_ij is the largest rate of pair j alone.

Variables: x_j rate of a pair, z_j = 1 if it is used.

.. math::
    \min\ & \sum_j z_j \\
    (1)\quad & \sum_j x_j \ge \hat R \\
    (2)\quad & \sum_j n_{ij} x_j \le c_i \\
    (3)\quad & 0 \le x_j \le B_j z_j, \qquad z_j \in \{0, 1\}

This is the tree minimisation of Blink, with a target of (1 - eta) times the best rate of the pool;
eta = 0.05 is (reconstructed). If rates have to be multiples of a step, the model is pure integer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..instance import ForestPackingInstance
from ..packing import Pair, fit
from .exact_rates import best_rates, row_uses


@dataclass(frozen=True)
class Fewest:
    """Pairs that reach the target, with their rates.

    Attributes
    ----------
    pairs : list of Pair
        Scaled until the fullest row is just full. Empty if the target was not reached.
    at_least : int
        Lower bound on the number of pairs of the pool that are needed.
    limit_hit : str or None
    """

    pairs: list[Pair]
    at_least: int
    limit_hit: str | None


def build(
    instance: ForestPackingInstance,
    pairs: Sequence[Pair],
    target_rate: Fraction,
    step: Fraction | None = None,
) -> pyo.ConcreteModel:
    """Build F8e.

    Parameters
    ----------
    instance : ForestPackingInstance
        Its stages do not take turns.
    pairs : sequence of Pair
        The pool; its rates are ignored.
    target_rate : Fraction
        GB/s.
    step : Fraction, optional
        GB/s of which the rates have to be multiples; x is then in steps.

    Raises
    ------
    ModelRefused
        If stages take turns.
    """
    if instance.sequential:
        raise ModelRefused("fewest_trees: stage_mode: 'sequential', expected 'overlap'")
    rows = instance.network.rows
    unit = step or Fraction(1)
    capacity = [row.capacity / unit for row in rows]
    uses = [row_uses(instance, p) for p in pairs]
    widths = [min(capacity[i] / n for i, n in use.items()) for use in uses]

    m = pyo.ConcreteModel("fewest trees")
    m.J = pyo.RangeSet(0, len(pairs) - 1)
    m.I = pyo.Set(initialize=sorted({i for use in uses for i in use}))
    m.z = pyo.Var(m.J, domain=pyo.Binary, doc="pair is used")
    domain = pyo.NonNegativeReals if step is None else pyo.NonNegativeIntegers
    B = [_number(width, whole=step is not None) for width in widths]
    m.x = pyo.Var(m.J, domain=domain, bounds=lambda m, j: (0, B[j]), doc="rate")

    @m.Constraint(doc="(1): the target")
    def target(m: Any) -> Any:
        wanted = target_rate / unit
        return sum(m.x[j] for j in m.J) >= (float(wanted) if step is None else math.ceil(wanted))

    @m.Constraint(m.I, doc="(2): capacity")
    def fits(m: Any, i: int) -> Any:
        load = sum(use[i] * m.x[j] for j, use in enumerate(uses) if i in use)
        return load <= _number(capacity[i], whole=step is not None)

    @m.Constraint(m.J, doc="(3): only pairs that are used have a rate")
    def used(m: Any, j: int) -> Any:
        return m.x[j] <= B[j] * m.z[j]

    m.trees = pyo.Objective(expr=sum(m.z[j] for j in m.J), sense=pyo.minimize)
    return m


def decode(
    m: pyo.ConcreteModel,
    instance: ForestPackingInstance,
    pairs: Sequence[Pair],
    step: Fraction | None = None,
    limits: Limits | None = None,
) -> list[Pair]:
    """Read the pairs that are used, with rates scaled until the fullest row is just full.

    Free rates are made the best ones for these pairs.
    """
    kept = [j for j in m.J if pyo.value(m.z[j]) > 0.5 and pyo.value(m.x[j]) > 0]
    rates = [Fraction(pyo.value(m.x[j])) for j in kept]
    if step is None:
        return best_rates(instance, _rated(pairs, kept, rates), limits or Limits())
    return fit(instance, _rated(pairs, kept, [round(x) * step for x in rates]))


def fewest_trees(
    instance: ForestPackingInstance,
    pairs: Sequence[Pair],
    target_rate: Fraction,
    limits: Limits,
    *,
    selection_s: float = math.inf,
    step: Fraction | None = None,
    backend: str = "highs",
    seed: int = 0,
) -> Fewest:
    """Return as few pairs of the pool as reach the target rate (F8e).

    Parameters
    ----------
    instance : ForestPackingInstance
    pairs : sequence of Pair
    target_rate : Fraction
        GB/s.
    limits : Limits
    selection_s : float
        Most seconds of them for the solver.
    step : Fraction, optional
        GB/s of which the rates have to be multiples.
    backend : "highs" or "cpsat"
        CP-SAT needs a step.
    seed : int

    Raises
    ------
    ModelRefused
        If stages take turns, or CP-SAT is asked for without a step.
    """
    if not pairs:
        return Fewest([], 0, None)
    clock = Clock(limits)
    model = build(instance, pairs, target_rate, step)
    outcome = solve_model(model, backend, clock.limits(at_most_s=selection_s), seed)
    if outcome.status is Status.ERROR:
        raise SolverError(outcome.reason)
    found = outcome.status in (Status.OPTIMAL, Status.FEASIBLE)
    at_least = 0 if outcome.bound is None or not found else round_up(outcome.bound)
    chosen = decode(model, instance, pairs, step, clock.limits()) if found else []
    return Fewest(chosen, at_least, outcome.limit_hit)


def _rated(pairs: Sequence[Pair], kept: Sequence[int], rates: Sequence[Fraction]) -> list[Pair]:
    return [replace(pairs[j], rate=rate) for j, rate in zip(kept, rates, strict=True)]


def _number(x: Fraction, *, whole: bool) -> float | int:
    """Return a coefficient: rounded down to a whole number of steps, or in doubles."""
    return math.floor(x) if whole else float(x)
