"""Random integer models in all the forms that Pyomo allows, and their optima by enumeration.

A model is drawn twice at once: as Pyomo expressions, and as coefficients in rationals collected by
the drawing itself. Numbers have 1 to 17 digits.

`python tests/toolkit/solvers/exact_models.py 5000` judges as many drawings and counts what came of
them; `5000 20000` begins with the seed 20000, and `5000 0 scip` asks that backend.
"""

from __future__ import annotations

import collections
import itertools
import logging
import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import pyomo.environ as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number, simplest_rational
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.result import Limits, Status

#: HiGHS computes objectives in doubles.
RELATIVE = Fraction(1, 10**6)

Row = tuple[list[Fraction], Fraction]
IntegerRow = tuple[list[int], Fraction | None, Fraction | None]


@dataclass
class Drawn:
    """A Pyomo model and its exact meaning: `lower <= a @ x <= upper`, optimise `c @ x + offset`."""

    model: pyo.ConcreteModel
    ranges: list[range]
    rows: list[IntegerRow]
    objective: Row
    maximise: bool

    def optimum(self) -> Fraction | None:
        """Return the exact optimum; None if there is no feasible point."""
        feasible = (p for p in itertools.product(*self.ranges) if self.feasible(p))
        pick = max if self.maximise else min
        return pick((_sum(self.objective, p) for p in feasible), default=None)

    def feasible(self, point: tuple[int, ...]) -> bool:
        """Return True if a point satisfies every row, exactly."""
        return all(
            (low is None or low <= total) and (high is None or total <= high)
            for total, low, high in (
                (sum(a * x for a, x in zip(row, point, strict=True)), low, high)
                for row, low, high in self.rows
            )
        )


def _sum(row: Row, point: tuple[int, ...]) -> Fraction:
    return sum((a * x for a, x in zip(row[0], point, strict=True)), row[1])


def draw(seed: int) -> Drawn:
    """Draw a model of up to three free integer variables and one or two fixed ones."""
    drawing = _Drawing(Random(seed))
    return drawing.model()


class _Drawing:
    def __init__(self, rng: Random):
        self.rng = rng
        self.pyomo = pyo.ConcreteModel()
        self.ranges: list[range] = []
        self.fixed: list[Fraction] = []
        self.named = 0
        # Few lengths a model, so that rows are often tight.
        self.digits = rng.choice([1, 1, 2, 2, 3, 6, 12, 16, 17])

    def model(self) -> Drawn:
        rng = self.rng
        n, k = rng.randint(1, 3), rng.randint(0, 2)
        self.pyomo.x = pyo.Var(range(n), domain=pyo.Integers)
        for j in range(n):
            low = rng.randint(-3, 2)
            self.ranges.append(range(low, low + rng.randint(1, 8)))
            self.pyomo.x[j].setlb(low)
            self.pyomo.x[j].setub(self.ranges[j][-1])
        self.pyomo.f = pyo.Var(range(k))
        for i in range(k):
            number, exact = self.number()
            self.pyomo.f[i].fix(number)
            self.fixed.append(exact)
        self.pyomo.rows = pyo.ConstraintList()
        rows = [self.row() for _ in range(rng.randint(1, 4))]
        expression, objective = self.sum(2)
        maximise = rng.random() < 0.5
        sense = pyo.maximize if maximise else pyo.minimize
        self.pyomo.value = pyo.Objective(expr=expression, sense=sense)
        return Drawn(self.pyomo, self.ranges, rows, objective, maximise)

    def number(self) -> tuple[Any, Fraction]:
        """Return a number as a user writes it, and what it stands for."""
        rng = self.rng
        digits = rng.randint(1, self.digits) if rng.random() < 0.7 else 1
        whole = rng.choice([-1, 1]) * rng.randint(10 ** (digits - 1), 10**digits - 1)
        if rng.random() < 0.2:
            return whole, Fraction(whole)
        shift = rng.choice([0, 1, digits, rng.randint(0, digits)])
        number = float(f"{whole}e-{shift}")
        return number, simplest_rational(number)

    def param(self) -> tuple[Any, Fraction]:
        number, exact = self.number()
        return self.added(pyo.Param(mutable=True, initialize=number, within=pyo.Any)), exact

    def added(self, component: Any) -> Any:
        self.named += 1
        self.pyomo.add_component(f"named{self.named}", component)
        return component

    def constant(self) -> tuple[Any, Fraction]:
        """Return a number, a parameter, a fixed variable, or a product or quotient of such."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            return self.number()
        if kind < 0.7 and self.fixed:
            i = rng.randrange(len(self.fixed))
            return self.pyomo.f[i], self.fixed[i]
        left, a = self.param()
        if kind < 0.85:
            return left, a
        right, b = self.param()
        if rng.random() < 0.5:
            return left * right, a * b
        return left - right, a - b

    def variable(self) -> tuple[Any, Row]:
        j = self.rng.randrange(len(self.ranges))
        coefficients = [Fraction(int(i == j)) for i in range(len(self.ranges))]
        return self.pyomo.x[j], (coefficients, Fraction(0))

    def term(self, depth: int) -> tuple[Any, Row]:
        rng = self.rng
        kind = rng.random()
        if kind < 0.25:
            expression, exact = self.constant()
            return expression, ([Fraction(0)] * len(self.ranges), exact)
        if kind < 0.75 or depth == 0:
            x, row = self.variable()
            a, exact = self.constant()
            return (a * x if rng.random() < 0.5 else x * a), _scaled(row, exact)
        inner, row = self.sum(depth - 1)
        if kind < 0.85:
            a, exact = self.constant()
            return a * inner, _scaled(row, exact)
        if kind < 0.9:
            return -inner, _scaled(row, Fraction(-1))
        if kind < 0.95:
            divisor = rng.choice([2, 4, 5, 8, 10])
            return inner / divisor, _scaled(row, Fraction(1, divisor))
        return self.added(pyo.Expression(expr=inner)), row

    def sum(self, depth: int) -> tuple[Any, Row]:
        """Return a sum of at least two terms, one of them a variable."""
        expression, (coefficients, constant) = self.variable()
        for _ in range(self.rng.randint(1, 3)):
            term, (more, shift) = self.term(depth)
            expression = expression + term if self.rng.random() < 0.5 else term + expression
            coefficients = [a + b for a, b in zip(coefficients, more, strict=True)]
            constant += shift
        return expression, (coefficients, constant)

    def row(self) -> IntegerRow:
        rng = self.rng
        body, (coefficients, constant) = self.sum(2)
        # A side that a point of the box meets, or just misses.
        point = tuple(rng.choice(r) for r in self.ranges)
        at = _sum((coefficients, constant), point)
        number = float(at) if at.denominator > 1 or rng.random() < 0.5 else int(at)
        exact = simplest_rational(number)
        if rng.random() < 0.3:
            number, exact = self.number()
        kind = rng.randrange(5)
        if kind == 4:
            more, further = self.number()
            (low_number, low), (high_number, high) = sorted(
                ((number, exact), (more, further)), key=lambda pair: pair[1]
            )
            expression = pyo.inequality(low_number, body, high_number)
        elif kind == 0:
            expression, low, high = body <= number, None, exact
        elif kind == 1:
            expression, low, high = body >= number, exact, None
        elif kind == 2:
            expression, low, high = body == number, exact, exact
        else:
            other, (more, shift) = self.sum(1)
            expression, low, high = body <= other + number, None, exact + shift
            coefficients = [a - b for a, b in zip(coefficients, more, strict=True)]
        self.pyomo.rows.add(expression)
        # In integers, which enumerate faster.
        m = math.lcm(*(a.denominator for a in coefficients))
        sides = (None if side is None else m * (side - constant) for side in (low, high))
        return ([int(m * a) for a in coefficients], *sides)


def _scaled(row: Row, factor: Fraction) -> Row:
    return [factor * a for a in row[0]], factor * row[1]


def judged(seed: int, backend: str) -> str:
    """Return what a backend makes of a drawing; assert that it is not wrong."""
    drawn = draw(seed)
    optimum = drawn.optimum()
    try:
        outcome = solve_model(drawn.model, backend, Limits(time_s=60))
    except ModelRefused as refusal:
        reason: str | None = str(refusal)
        outcome = SolverOutcome(Status.ERROR, reason=reason)
    where = (seed, backend, outcome, optimum)
    if outcome.status is Status.ERROR:
        assert outcome.reason, where
        assert "\n" not in outcome.reason, where
        return "refused"
    if outcome.status is Status.INFEASIBLE:
        assert optimum is None, where
        return "infeasible"
    assert outcome.status in (Status.OPTIMAL, Status.FEASIBLE), where
    assert optimum is not None, where
    point = tuple(drawn.model.x[j].value for j in range(len(drawn.ranges)))
    assert all(x in r for x, r in zip(point, drawn.ranges, strict=True)), where
    assert drawn.feasible(point), where
    check_objective(drawn, outcome, optimum, where)
    return "agrees" if outcome.status is Status.OPTIMAL else "feasible"


def check_objective(
    drawn: Drawn, outcome: SolverOutcome, optimum: Fraction, where: tuple[Any, ...]
) -> None:
    """Assert that objective and bound are on their sides of the optimum, and at it if closed."""
    coefficients, constant = drawn.objective
    unit = max(map(abs, (*coefficients, constant, optimum)))

    def slack(reported: Number) -> Fraction | int:
        return RELATIVE * unit if isinstance(reported, float) else 0

    sign = -1 if drawn.maximise else 1
    worse = sign * (Fraction(outcome.objective) - optimum)
    assert worse >= -slack(outcome.objective), where
    if outcome.bound is not None:
        assert sign * (optimum - Fraction(outcome.bound)) >= -slack(outcome.bound), where
    if outcome.status is Status.OPTIMAL:
        assert abs(worse) <= slack(outcome.objective), where


def main() -> None:
    logging.disable(logging.WARNING)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    backends = sys.argv[3:] or ["cpsat", "highs"]
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    for seed in range(first, first + count):
        for backend in backends:
            try:
                seen[backend, judged(seed, backend)] += 1
            except Exception as error:  # all of them are wanted
                seen[backend, "WRONG"] += 1
                print(f"seed {seed} by {backend}: {type(error).__name__}: {str(error)[:600]}")
    for (backend, what), times in sorted(seen.items()):
        print(f"{backend:6} {what:10} {times}")


if __name__ == "__main__":
    main()
