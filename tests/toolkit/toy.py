"""A 0/1 knapsack with models and methods that make false claims."""

import math
import signal
from fractions import Fraction

import pyomo.environ as pyo

from gadgetopt.system.data import Instance, LpDuals, NonNegativeInt, PositiveInt, Solution
from gadgetopt.system.declaration import (
    Assumption,
    Citation,
    Formulation,
    Guarantee,
    Method,
    Problem,
)
from gadgetopt.system.files import Document
from gadgetopt.system.result import Evaluation, MethodOutcome, Status, Violation


class Knapsack(Instance):
    """Items with weights and values, and what may be carried."""

    capacity: NonNegativeInt
    weight: tuple[PositiveInt, ...]
    value: tuple[PositiveInt, ...]


class Choice(Solution):
    """The numbers of the items chosen, from 0."""

    chosen: tuple[NonNegativeInt, ...]


def size(instance):
    return {"items": len(instance.weight)}


def evaluate(instance, solution):
    for k, i in enumerate(solution.chosen):
        if i >= len(instance.weight) or i in solution.chosen[:k]:
            return Evaluation(None, (Violation("item", f"chosen[{k}]", 1),))
    excess = sum(instance.weight[i] for i in solution.chosen) - instance.capacity
    violations = (Violation("capacity", "knapsack", excess),) if excess > 0 else ()
    return Evaluation(sum(instance.value[i] for i in solution.chosen), violations)


def build(instance):
    """Build the model: maximise the value of what fits."""
    m = pyo.ConcreteModel()
    m.I = pyo.RangeSet(0, len(instance.weight) - 1)
    m.x = pyo.Var(m.I, domain=pyo.Binary)
    weight = sum(instance.weight[i] * m.x[i] for i in m.I)
    m.fits = pyo.Constraint(expr=weight <= instance.capacity)
    value = sum(instance.value[i] * m.x[i] for i in m.I)
    m.worth = pyo.Objective(expr=value, sense=pyo.maximize)
    return m


def decode(m, _instance):
    return Choice(chosen=tuple(i for i in m.I if m.x[i].value > 0.5))


def build_infeasible(instance):
    m = build(instance)
    m.never = pyo.Constraint(expr=m.x[0] + m.x[1] >= 3)
    return m


def build_unbounded(instance):
    m = build(instance)
    m.z = pyo.Var(domain=pyo.NonNegativeIntegers)
    m.worth.set_value(m.worth.expr + m.z)
    return m


def decode_everything(m, instance):
    return Choice(chosen=tuple(m.I))


def method(name, run, kind="exact", **more):
    return Method(name, kind=kind, summary=name, reference="test", run=run, **more)


def outcome(**fields):
    return lambda instance, limits, rng: MethodOutcome(**fields)


def raises(instance, limits, rng):
    raise RuntimeError("two\nlines")


def interrupts(instance, limits, rng):
    """Press Ctrl-C while the method runs."""
    signal.raise_signal(signal.SIGINT)
    raise KeyboardInterrupt


EMPTY, BEST, TOO_MUCH = Choice(chosen=()), Choice(chosen=(1,)), Choice(chosen=(0, 1))

#: 4/3 a unit of capacity: no item is worth more, so 3 units hold at most 4.
DUALS = LpDuals(formulation="plain", row_duals=(Fraction(4, 3),))

KNAPSACK = Knapsack(capacity=3, weight=(2, 3, 1), value=(2, 4, 1))  # the optimum is 4

TOY = Problem(
    name="toy",
    title="0/1 knapsack",
    citation=Citation("nobody", "none", "test", 2026),
    sense="max",
    objective="value",
    integral_objective=True,
    instance_type=Knapsack,
    solution_type=Choice,
    evaluate=evaluate,
    size=size,
    formulations=(
        Formulation(
            "plain",
            model_class="ILP",
            strength="exact",
            summary="as is",
            equations="-",
            build=build,
            decode=decode,
            backends=("highs", "cpsat"),
        ),
        Formulation(
            "impossible",
            model_class="ILP",
            strength="exact",
            summary="-",
            equations="-",
            build=build_infeasible,
            decode=decode,
            backends=("highs", "cpsat"),
        ),
        Formulation(
            "endless",
            model_class="ILP",
            strength="exact",
            summary="-",
            equations="-",
            build=build_unbounded,
            decode=decode,
            backends=("highs", "cpsat"),
        ),
        Formulation(
            "liar",
            model_class="ILP",
            strength="exact",
            summary="-",
            equations="-",
            build=build,
            decode=decode_everything,
            backends=("highs", "cpsat"),
        ),
        Formulation(
            "loose",
            model_class="ILP",
            strength="relaxation",
            summary="-",
            equations="-",
            build=build_unbounded,
            decode=None,
            backends=("highs",),
        ),
        Formulation(
            "tight",
            model_class="ILP",
            strength="restriction",
            summary="-",
            equations="-",
            build=build_infeasible,
            decode=decode,
            backends=("highs",),
        ),
    ),
    methods=(
        method("empty", outcome(solution=EMPTY), kind="heuristic"),
        method("best", outcome(solution=BEST), kind="heuristic"),
        method("too_much", outcome(solution=TOO_MUCH, claimed_objective=6, dual_bound=6)),
        method("boasts", outcome(solution=EMPTY, claimed_objective=4, dual_bound=4)),
        method("modest", outcome(solution=BEST, claimed_objective=3, dual_bound=4)),
        method("bound_below_own", outcome(solution=BEST, dual_bound=3)),
        method("bound_only", outcome(certificate=DUALS), kind="relaxation"),
        method("false_bound", outcome(dual_bound=3), kind="relaxation", backend="a"),
        method("loose_bound", outcome(dual_bound=5), kind="relaxation", backend="b"),
        method("says_infeasible", outcome(proved=Status.INFEASIBLE)),
        method("says_both", outcome(proved=Status.INFEASIBLE, solution=BEST)),
        method("timed_out", outcome(solution=EMPTY, dual_bound=4, limit_hit="time_s")),
        method("timed_out_bare", outcome(limit_hit="time_s", dual_bound=9)),
        method("nothing", outcome()),
        method("nan_bound", outcome(solution=BEST, dual_bound=math.nan)),
        method("nan_objective", outcome(solution=BEST, claimed_objective=math.nan)),
        method("infinite_bound", outcome(solution=BEST, dual_bound=math.inf)),
        method("huge_bound", outcome(solution=BEST, dual_bound=10**400)),
        method("proves_optimality", outcome(proved=Status.OPTIMAL)),
        method("says_unbounded", outcome(proved=Status.UNBOUNDED)),
        method("garbage", outcome(solution="not a choice")),
        method("raises", raises),
        method("interrupts", interrupts),
    ),
    guarantees=(
        Guarantee(
            "half",
            statement="2",
            reference="Theorem 1",
            standing="proven",
            methods=("best", "empty"),
            ratio=lambda i, p: 2,
        ),
        Guarantee(
            "one",
            statement="1",
            reference="Theorem 2",
            standing="claimed",
            methods=("best", "timed_out"),
            ratio=lambda i, p: 1,
        ),
        Guarantee(
            "never",
            statement="1",
            reference="Theorem 3",
            standing="proven",
            methods=("best",),
            ratio=lambda i, p: 1,
            assumptions=(Assumption("the moon is full", lambda i, p: False),),
        ),
        Guarantee(
            "boundless",
            statement="infinite",
            reference="Theorem 4",
            standing="proven",
            methods=("best",),
            ratio=lambda i, p: None,
        ),
    ),
)

DOCUMENT = Document(TOY, "instance", "knapsack", KNAPSACK)
