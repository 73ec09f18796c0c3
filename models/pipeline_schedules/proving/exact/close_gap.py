"""Bounds by formulas and many schedules meet, or CP-SAT decides whether there is a better one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...baselines.one_f_one_b import gpipe, one_f_one_b
from ...baselines.zero_bubble import zb_h1, zb_h2
from ...cells import Operation
from ...formulations.cp import ask
from ...heuristics.rules import offer, try_rules
from ...instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ...shop import Shop, next_below, shop_of
from ...timing import period_of, starts_of_period, timing_of
from ..bounds.formulas import best_certificate

#: Published schedules that are tried first.
PUBLISHED = (zb_h1, zb_h2, one_f_one_b, gpipe)


@method(kind="exact", reference="this project", formulation="close_gap", backend="cpsat")
def close_gap(
    instance: PipelineSchedulesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Bounds, published schedules and list schedules; then CP-SAT, asked for less and less.

    1. The best bound by formulas, with its certificate.
    2. Published schedules that fit, and list schedules by many rules, until one meets the bound.
    3. Questions to CP-SAT, from the best schedule on: is there one at the bound, in the middle, or
       just below? A "no" raises the bound, and is a solver's word.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W.
    """
    search = GapSearch(instance, limits, seed_of(rng))
    with search.interruptible():
        search.bound_by_formulas()
        search.try_published()
        try_rules(instance, search.shop, search)
        search.ask_for_less()
    return search.outcome(search.best, **search.notes)


class GapSearch(Search[PipelineSchedulesSolution]):
    """The search state, and the steps of the search."""

    def __init__(self, instance: PipelineSchedulesInstance, limits: Limits, seed: int):
        super().__init__("min", limits, gap=0.0)
        self.instance, self.seed = instance, seed
        self.shop: Shop = shop_of(instance)
        self.notes: dict[str, str | int] = {}

    @property
    def tick(self) -> Fraction:
        """A tick in seconds."""
        return Fraction(1, self.instance.ticks_per_s)

    def bound_by_formulas(self) -> None:
        """Step 1."""
        ticks, certificate = best_certificate(self.shop)
        self.prove(ticks * self.tick, certificate)
        self.notes["formula"] = certificate.proof.kind

    def try_published(self) -> None:
        """Step 2, published schedules."""
        for schedule in PUBLISHED:
            if self.over:
                return
            try:
                solution = schedule(self.instance).solution
            except ModelRefused:
                continue
            if isinstance(solution, PipelineSchedulesSolution):
                offer(self.instance, solution, self)

    def ask_for_less(self) -> None:
        """Step 3: at the bound first, then just below the best schedule."""
        questions = 0
        while not self.over:
            most, part = self._next_question(questions)
            questions += 1
            model, solved = ask(self.shop, most, self.clock.limits(part), self.seed, self._hint())
            self.versions |= solved.versions
            if solved.values is not None:
                offer(self.instance, model.decode(solved.values, self.instance), self)
            elif solved.status is Status.INFEASIBLE:
                self._refuted(most)
            elif part == 1:
                self.limit_hit = solved.limit_hit
        self.notes["questions"] = questions

    def _next_question(self, questions: int) -> tuple[Fraction, float]:
        """Return the length to ask for, in ticks, and the part of the time left for it."""
        bound = Fraction(self.bound) / self.tick
        if self.best is None:
            return Fraction(max(int(bound), self.shop.horizon)), 1
        just_below = next_below(Fraction(self.value) / self.tick, self.shop.most_denominator)
        if questions % 2 or bound >= just_below:
            return just_below, 1 if questions > 5 else 0.5
        return bound, 0.3

    def _refuted(self, most: Fraction) -> None:
        """Take it that no schedule is as short."""
        if self.best is None:
            self.infeasible = True
            return
        n = self.shop.most_denominator
        above = min(Fraction(int(most * q) + 1, q) for q in range(1, n + 1))
        self.prove(min(Fraction(self.value), above * self.tick))

    def _hint(self) -> dict[Operation, Fraction] | None:
        """Return the starts of the best schedule."""
        if self.best is None:
            return None
        timing = timing_of(self.instance, self.best)
        starts = [Fraction(x) for x in timing.starts]
        if self.shop.period:
            starts = starts_of_period(timing, period_of(timing))
        hints = {}
        for cells, steps in zip(self.best.cells, timing.program.devices, strict=True):
            flat = [
                op._replace(kind=kind)
                for (op,) in cells
                for kind in ("IW" if op.kind == "B" else op.kind)
            ]
            hints.update({op: starts[step] for op, step in zip(flat, steps, strict=True)})
        return hints
