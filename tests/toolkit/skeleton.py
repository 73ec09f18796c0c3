"""A whole system in one file, 0/1 knapsack: the starting point of CONTRIBUTING's recipe.

Copied to `models/NAME/__init__.py` and registered, it appears in every command. Each part then
moves into its room (`instance.py`, `evaluate.py`, `formulations/`, ...), which declares it by
`part("module:function")`, imported when first used.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyomo.environ as pyo

from gadgetopt.system.data import (
    Instance,
    NonNegativeInt,
    PositiveInt,
    Solution,
)
from gadgetopt.system.declaration import (
    Citation,
    Formulation,
    Generator,
    Guarantee,
    Method,
    Problem,
)
from gadgetopt.system.result import (
    Evaluation,
    Limits,
    MethodOutcome,
    Violation,
)

# -- instance.py -----------------------------------------------------------------------------------


class Knapsack(Instance):
    """Items with weights and values, and what may be carried."""

    capacity: NonNegativeInt
    weight: tuple[PositiveInt, ...]
    value: tuple[PositiveInt, ...]


class Choice(Solution):
    """The numbers of the items chosen, from 0. A solution never holds its objective."""

    chosen: tuple[NonNegativeInt, ...]


def size(instance: Knapsack) -> dict[str, int]:
    """Return the numbers by which one judges an instance."""
    return {"items": len(instance.weight)}


# -- evaluate.py, from the problem statement, before any formulation -------------------------------


def evaluate(instance: Knapsack, solution: Choice) -> Evaluation:
    """Recompute the value of a choice, and which constraints it violates."""
    for k, i in enumerate(solution.chosen):
        if i >= len(instance.weight) or i in solution.chosen[:k]:
            return Evaluation(None, (Violation("item", f"chosen[{k}]", 1),))
    excess = sum(instance.weight[i] for i in solution.chosen) - instance.capacity
    violations = (Violation("capacity", "knapsack", excess),) if excess > 0 else ()
    return Evaluation(sum(instance.value[i] for i in solution.chosen), violations)


# -- formulations/ ---------------------------------------------------------------------------------


def build(instance: Knapsack) -> pyo.ConcreteModel:
    """Build (K1)-(K2): maximise the value of what fits."""
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(0, len(instance.weight) - 1)
    m.x = pyo.Var(m.I, domain=pyo.Binary, doc="item i is chosen")
    weight = sum(instance.weight[i] * m.x[i] for i in m.I)
    m.fits = pyo.Constraint(expr=weight <= instance.capacity, doc="(K2): what is chosen fits")
    m.worth = pyo.Objective(
        expr=sum(instance.value[i] * m.x[i] for i in m.I), sense=pyo.maximize, doc="(K1): value"
    )
    return m


def decode(m: pyo.ConcreteModel, _instance: Knapsack) -> Choice:
    """Return the items whose variable is 1."""
    return Choice(chosen=tuple(i for i in m.I if m.x[i].value > 0.5))


# -- algorithms/ -----------------------------------------------------------------------------------


def greedy(instance: Knapsack, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Return the better of greed by value per weight and the most valuable item; at least OPT/2."""
    weight, value = instance.weight, instance.value
    fitting = [i for i in range(len(weight)) if weight[i] <= instance.capacity]
    chosen: list[int] = []
    for i in sorted(fitting, key=lambda i: -value[i] / weight[i]):
        if sum(weight[k] for k in chosen) + weight[i] <= instance.capacity:
            chosen.append(i)
    best = max(fitting, key=value.__getitem__, default=None)
    if best is not None and value[best] > sum(value[i] for i in chosen):
        chosen = [best]
    return MethodOutcome(solution=Choice(chosen=tuple(chosen)))


# -- guarantees.py ---------------------------------------------------------------------------------


def half(_instance: Knapsack, _parameters: Mapping[str, Any]) -> int:
    """Return 2: OPT over the value of greedy's choice is no more."""
    return 2


# -- generate.py -----------------------------------------------------------------------------------


def paper(rng: np.random.Generator, *, items: int = 30) -> Knapsack:
    """Return a knapsack with weights and values from 1 to 100 and room for half of the weight."""
    weight = rng.integers(1, 101, size=items).tolist()
    value = rng.integers(1, 101, size=items).tolist()
    return Knapsack(capacity=sum(weight) // 2, weight=tuple(weight), value=tuple(value))


def quickstart(rng: np.random.Generator, *, items: int = 8) -> Knapsack:
    """Return a small one of the same kind."""
    return paper(rng, items=items)


# -- features.py -----------------------------------------------------------------------------------


def features(instance: Knapsack) -> dict[str, float]:
    """Return what makes an instance difficult.

    - `tightness`: capacity over the weight of all items.
    """
    return {"tightness": instance.capacity / sum(instance.weight)}


# -- __init__.py: a table of contents that joins what the rooms declare ----------------------------

PROBLEM = Problem(
    name="skeleton",  # the folder's
    title="0/1 knapsack",
    citation=Citation(authors="nobody", title="none", venue="nowhere", year=2026),
    sense="max",
    objective="value",
    integral_objective=True,  # bounds may be rounded to whole numbers
    instance_type=Knapsack,
    solution_type=Choice,
    evaluate=evaluate,
    size=size,
    features=features,
    formulations=(
        Formulation(
            name="plain",
            model_class="ILP",
            strength="exact",
            summary="a binary variable for every item",
            equations="(K1)-(K2)",
            build=build,
            decode=decode,
            backends=("highs", "cpsat"),
        ),
    ),
    methods=(
        Method(
            name="greedy",
            kind="approximation",
            summary="by value per weight, or the most valuable item",
            reference="folklore",
            run=greedy,
        ),
    ),
    guarantees=(
        Guarantee(
            name="half",
            statement="value >= OPT / 2",
            reference="folklore",
            standing="proven",
            methods=("greedy",),
            ratio=half,
        ),
    ),
    generators=(
        Generator(
            name="quickstart",
            summary="a few items",
            generate=quickstart,
            parameters={"items": 8},
        ),
        Generator(name="paper", summary="uniform", generate=paper, parameters={"items": 30}),
    ),
    default_method="plain@highs",  # what `solve` runs
    default_methods=("greedy", "plain@highs"),  # what `compare` runs
)
