"""Points of the linear relaxation, and points whose integers are given, made exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import highs
from gadgetopt.solvers.exact_optimum.incumbents import exact_incumbent
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.standard_form import StandardForm
from gadgetopt.system.result import MethodOutcome, Status

from ..evaluate import evaluate
from ..instance import MipInstance, MipSolution, solution_of


class Points:
    """A model in doubles beside the instance, with the best exact point that was found.

    Attributes
    ----------
    form : StandardForm
    best : MipSolution or None
    value : Fraction or None
        Objective of the best point.
    remark : str
        Why the last step found nothing; empty if it did.
    """

    def __init__(self, instance: MipInstance, clock: Clock):
        self.instance, self.clock = instance, clock
        self.form: StandardForm = standard_form(instance.named)
        self.best: MipSolution | None = None
        self.value: Fraction | None = None
        self.remark = ""

    @property
    def integer(self) -> Bools:
        """True for integer columns."""
        return self.form.integer

    def relaxed(self, costs: Floats | None = None, offset: float = 0.0) -> Floats | None:
        """Return an optimum of the linear relaxation, for other costs to be minimised if given.

        None if there is none within the time.
        """
        program = replace(self.form, integer=np.zeros(len(self.integer), dtype=bool))
        if costs is not None:
            program = replace(
                program,
                c=costs,
                offset=offset,
                sense="min",
                exact=replace(program.exact, costs=None, offset=None),
            )
        try:
            solved = highs.solve_form(program, self.clock.limits())
        except ModelRefused as error:
            self.remark = f"the relaxation was refused: {error}"
            return None
        if solved.limit_hit == "interrupted":
            raise KeyboardInterrupt
        self.remark = _why_no_optimum(solved)
        return None if self.remark else solved.values

    def rounded(self, values: Floats) -> Floats:
        """Return values whose integers are rounded to the nearest within their bounds."""
        near = np.clip(np.rint(values), self.form.col_lower, self.form.col_upper)
        return np.where(self.integer, near, values)

    def offer(self, values: Floats) -> bool:
        """Take the best exact point with the integers of `values`; return True if there is one."""
        exact = exact_incumbent(self.form, values, self.clock, seed=0)
        if exact is not None and self.offer_exact(exact.values):
            self.remark = ""
            return True
        late = " in the time" if self.clock.expired else ""
        self.remark = f"no exact point with the rounded integers was found{late}"
        return False

    def offer_exact(self, values: list[Fraction]) -> bool:
        """Take an exact point if it is feasible and better; return True if it is feasible."""
        solution = solution_of(values, self.instance)
        found = evaluate(self.instance, solution)
        if not found.feasible or found.objective is None:
            return False
        value = Fraction(found.objective)
        sign = -1 if self.form.sense == "max" else 1
        if self.value is None or sign * value < sign * self.value:
            self.best, self.value = solution, value
        return True

    def outcome(self, **notes: object) -> MethodOutcome:
        """Return the best point as the outcome of a method, with a remark if there is none."""
        if self.best is None and self.remark:
            notes["remark"] = self.remark
        return MethodOutcome(self.best, limit_hit=self.clock.limit_hit, notes=dict(notes))


def _why_no_optimum(solved: SolverOutcome) -> str:
    """Return why a relaxation has no optimum, in a sentence; empty if it has one."""
    if solved.status is Status.OPTIMAL:
        return ""
    if solved.limit_hit is not None:
        return "the relaxation was not solved in the time"
    if solved.status is Status.INFEASIBLE:
        return "the relaxation has no solution"
    if solved.status is Status.UNBOUNDED:
        return "the relaxation is unbounded"
    return f"the relaxation was not solved: {solved.reason or solved.status}"
