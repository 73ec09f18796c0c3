"""Bounds by formulas and many schedules meet, or CP-SAT decides whether there is a better one."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...baselines.automatic import zb_auto, zbv_greedy
from ...baselines.building_blocks import v_half, v_min
from ...baselines.dual_pipe import dual_pipe, dual_pipe_v
from ...baselines.interleaved import interleaved, zb1p
from ...baselines.one_f_one_b import gpipe, one_f_one_b
from ...baselines.waves import chimera, hanayo
from ...baselines.zbv import zbv
from ...baselines.zero_bubble import zb_h1, zb_h2
from ...cells import Operation
from ...formulations.cp import ScheduleModel, ask, shortest
from ...formulations.cp_tasks import question
from ...formulations.decoding import starts_of
from ...formulations.tasks import has_options, tasks_of
from ...heuristics.annealing import improve
from ...heuristics.rules import offer, try_rules
from ...instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ...shop import Shop, next_below, shop_of, without_options
from ..bounds.formulas import best_certificate, contradictions, machine_bounds
from ..certificate import PipelineSchedulesCertificate

#: Published schedules that are tried first.
PUBLISHED: tuple[Callable[..., MethodOutcome], ...] = (
    *(zb_h1, zb_h2, zb_auto, zbv, zbv_greedy, zb1p, v_half, v_min, interleaved, one_f_one_b),
    *(dual_pipe, dual_pipe_v, chimera, hanayo, gpipe),
)

#: Those that take a while where there are many operations.
AUTOMATIC = (zb_auto, zbv_greedy)
#: Part of the time for bounds by contradiction. Tuned: `benchmarks/pipeline_schedules_parts.py`.
CONTRADICTION_PART = 0.3
#: Part of the time for annealing. Tuned: `benchmarks/pipeline_schedules_search.toml`.
ANNEALING_PART = 0.3
#: Part of the time that is left for the relaxation to two devices.
#: Tuned: `benchmarks/pipeline_schedules_parts.py`.
PAIR_PART = 0.4


@method(kind="exact", reference="this project", formulation="close_gap", backend="cpsat")
def close_gap(
    instance: PipelineSchedulesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Bounds, published schedules, list schedules and annealing; then CP-SAT, asked for less.

    1. The best bound by formulas, with its certificate.
    2. Published schedules that fit, list schedules by many rules, and annealing from the best of
       them, until one meets the bound. Before annealing, which takes longer, single devices with
       heads and tails may raise the bound, and then contradictions.
    3. Questions to CP-SAT, from the best schedule on: is there one at the bound? What is the
       shortest if only the first and the last device are limited? Which is the shortest below what
       is known? A "no" raises the bound, and is a solver's word.

    Where devices may do more than F, I and W, no formula says anything: published and list
    schedules, then the constraint program of tasks.
    """
    if has_options(instance):
        return _close_with_options(instance, limits)
    search = GapSearch(instance, limits, seed_of(rng))
    with search.interruptible():
        search.bound_by_formulas()
        try_published(instance, search)
        try_rules(instance, search.shop, search)
        search.bound_by_machines()
        search.bound_by_contradiction()
        search.anneal(rng)
        search.bound_by_contradiction()
        search.ask_at_the_bound()
        search.bound_by_a_pair()
        search.ask_for_less()
    return search.outcome(search.best, **search.notes)


def try_published(
    instance: PipelineSchedulesInstance, search: Search[PipelineSchedulesSolution]
) -> None:
    """Offer the published schedules that fit to a search."""
    for schedule in PUBLISHED:
        if search.over:
            return
        more = (search.clock.limits(),) if schedule in AUTOMATIC else ()
        try:
            solution = schedule(instance, *more).solution
        except ModelRefused:
            continue
        if isinstance(solution, PipelineSchedulesSolution):
            offer(instance, solution, search)


def _close_with_options(instance: PipelineSchedulesInstance, limits: Limits) -> MethodOutcome:
    search: Search[PipelineSchedulesSolution] = Search("min", limits, gap=0.0)
    with search.interruptible():
        tasks = tasks_of(instance)
        try_published(instance, search)
        try_rules(instance, shop_of(without_options(instance)), search)
        most = Fraction(tasks.horizon)
        if search.best is not None:
            most = Fraction(math.floor(Fraction(search.value) * instance.ticks_per_s))
        shortest(
            instance,
            search,
            lambda most: question(tasks, most),
            tasks.most_denominator,
            least=0,
            most=most,
        )
    return search.outcome(search.best)


class GapSearch(Search[PipelineSchedulesSolution]):
    """The search state, and the steps of the search."""

    def __init__(self, instance: PipelineSchedulesInstance, limits: Limits, seed: int):
        super().__init__("min", limits, gap=0.0)
        self.instance, self.seed = instance, seed
        self.shop: Shop = shop_of(instance)
        self.notes: dict[str, str | int] = {}
        self.contradicted = False

    @property
    def tick(self) -> Fraction:
        """A tick in seconds."""
        return Fraction(1, self.instance.ticks_per_s)

    def bound_by_formulas(self) -> None:
        """Step 1."""
        ticks, certificate = best_certificate(self.shop)
        self.prove(ticks * self.tick, certificate)
        self.notes["formula"] = certificate.proof.kind

    def bound_by_machines(self) -> None:
        """Step 2, a better bound of what the schedules have not closed."""
        for ticks, proof in () if self.over else machine_bounds(self.shop):
            if self.over:
                return
            if self.prove(ticks * self.tick, PipelineSchedulesCertificate(proof=proof)):
                self.notes["formula"] = proof.kind

    def bound_by_contradiction(self) -> None:
        """Step 2, the best bound by formulas, between what is known and the best schedule.

        If time was up before it was exact, annealing may have brought the schedule nearer.
        """
        if self.over or self.contradicted:
            return
        least = math.floor(Fraction(self.bound) / self.tick) + 1
        most = math.floor(Fraction(self.value) / self.tick) if self.best else self.shop.horizon
        clock = Clock(self.clock.limits(CONTRADICTION_PART))
        for ticks, proof in contradictions(self.shop, least, most, clock):
            if self.prove(ticks * self.tick, PipelineSchedulesCertificate(proof=proof)):
                self.notes["formula"] = proof.kind
        self.contradicted = not clock.expired

    def anneal(self, rng: np.random.Generator) -> None:
        """Step 2, local search."""
        with self.clock.phase("anneal"):
            clock = Clock(self.clock.limits(ANNEALING_PART))
            improve(self.instance, self.shop, self, clock, rng)

    def ask_at_the_bound(self) -> None:
        """Step 3: ask for any schedule, if there is none, then for one at the bound."""
        if self.best is None and not self.over:
            self._ask(Fraction(self.shop.horizon))
        if not self.over:
            self._ask(Fraction(self.bound) / self.tick, 0.2)

    def bound_by_a_pair(self) -> None:
        """Step 3, a relaxation: all devices but the first and the last do any number at a time.

        They are the farthest from each other, and one begins and the other turns around.
        """
        if self.best is None or self.over or len(self.shop.on_device) < 3:
            return
        below = math.floor(self._just_below())
        if below >= Fraction(self.bound) / self.tick:
            pair = (self.shop.device[0], len(self.shop.on_device) - 1)
            self._find_shortest(below, PAIR_PART, pair)

    def ask_for_less(self) -> None:
        """Step 3: ask for the shortest, then for less by a fraction."""
        while not self.over:
            below = self._just_below()
            if math.ceil(Fraction(self.bound) / self.tick) <= math.floor(below):
                self._find_shortest(math.floor(below))
            else:
                self._ask(below)

    def _just_below(self) -> Fraction:
        return next_below(Fraction(self.value) / self.tick, self.shop.most_denominator)

    def _ask(self, most: Fraction, part: float = 1.0) -> None:
        """Ask for a schedule of at most so many ticks, with a part of the time that is left."""
        limits = self.clock.limits(part)
        model, solved = ask(self.shop, most, limits, self.seed, self._hint())
        self._take(model, solved, most, last=part == 1)

    def _find_shortest(
        self, most: int, part: float = 1.0, devices: tuple[int, ...] | None = None
    ) -> None:
        """Look for the shortest schedule in whole ticks, of at most so many.

        With a part of the time that is left; if some devices are named, only they are limited.
        """
        model = ScheduleModel(self.shop, most, devices=devices)
        least = math.ceil(Fraction(self.bound) / self.tick)
        model.model.add(model.length >= least)
        model.model.minimize(model.length)
        hint = self._hint()
        if hint is not None:
            model.hint({op: int(start) for op, start in hint.items()})
        solved = solve_cp(model.model, self.clock.limits(part), self.seed)
        self._take(model, solved, Fraction(most), last=part == 1)
        if solved.bound is not None and solved.values is not None and not self.closed:
            # No schedule is a whole tick shorter than the model's bound.
            self._refuted(Fraction(solved.bound) - 1)

    def _take(
        self, model: ScheduleModel, solved: SolverOutcome, most: Fraction, *, last: bool
    ) -> None:
        self.notes["questions"] = int(self.notes.get("questions", 0)) + 1
        self.versions |= solved.versions
        if solved.values is not None:
            offer(self.instance, model.decode(solved.values, self.instance), self)
        elif solved.status is Status.INFEASIBLE:
            self._refuted(most)
        if last and solved.limit_hit is not None:
            self.limit_hit = solved.limit_hit

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
        return starts_of(self.instance, self.best)
