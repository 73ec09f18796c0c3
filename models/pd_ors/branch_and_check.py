r"""Branch and check: utility from slots without machines, machines checked slot by slot.

Utility depends on completion slots alone, and machines matter to single slots alone. Hence three
levels, each of which tells the one above what it got wrong (reconstructed):

1. *Master.* `aggregated` with integer completion slots, the rest fractional: the bound, and
   deadlines of the jobs to accept. It closes in seconds where all integer variables take minutes.
2. *Schedule.* With these deadlines, modes and then workers in integers, with the lowest peak of
   what is used of a slot (smoothing: utility does not change, packing becomes easier). If there is
   none, a minimal set of jobs whose deadlines cannot be met together goes to the master; as
   earlier deadlines are harder, all of those go with it.
3. *Slots.* Each packs onto machines (`slot_checks`), or yields a cut, which is valid in every slot:
   from patterns of one machine (`machine_patterns`), else a minimal conflict. Slots of which
   nothing is known within their time are given some reserve in the next schedule.

Deadlines of which nothing is known in the end are passed over, and the bound keeps their utility.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.result import Limits, MethodOutcome, Status, TracePoint

from .aggregated import useful_jobs
from .aggregated_mip import COMPLETIONS, COUNTS, MODES, AggregatedMip, Deadlines
from .bounds import alone
from .decoding import slot_plan, solution
from .instance import PdOrsInstance, PdOrsSolution, SlotPlan
from .slot_checks import SlotChecks
from .slot_packing import Item
from .terms import Floats

#: Seconds for one schedule, and for one test of whether fewer deadlines can be met.
SCHEDULE_S = 20.0
CORE_S = 2.0
#: Closeness of the peak to the lowest one at which a schedule is smooth enough.
PEAK_GAP = 0.003
#: Schedules tried for the same deadlines, and what slots that did not pack are relieved of.
ATTEMPTS = 8
RELIEF = 0.004
#: Part of the time left that one master may take.
MASTER_PART = 0.5
#: Relative improvement that is asked of a new solution.
IMPROVEMENT = 1e-7


@dataclass
class _Verdict:
    """Whether deadlines can be met: a solution, or the level whose relaxation refutes them."""

    solution: PdOrsSolution | None = None
    refuted_by: Sequence[str] | None = None


def branch_and_check(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
) -> MethodOutcome:
    """Return an optimum, or the best decision found and a bound."""
    if not useful_jobs(instance):
        nothing = alone(instance, limits, rng)
        nothing.solution = solution(instance, {})
        return nothing
    search = _Search(instance, limits, int(rng.integers(2**31)))
    search.run()
    return search.outcome()


class _Search:
    """What is known so far."""

    def __init__(self, instance: PdOrsInstance, limits: Limits, seed: int):
        self._instance, self._limits, self._seed = instance, limits, seed
        self._start = time.perf_counter()
        self._phases = {"build": 0.0, "master": 0.0, "schedule": 0.0, "slots": 0.0, "core": 0.0}
        with self._phase("build"):
            self._mip = AggregatedMip(instance)
        self._checks = SlotChecks(instance.terms, self._left)
        self._best: PdOrsSolution | None = None
        self._value = 0.0
        self._bound = sum(float(job.utility.max()) for job in self._mip.jobs.values())
        #: Utility of deadlines that were passed over.
        self._passed_over = 0.0
        self._trace: list[TracePoint] = []
        self._counts = {"masters": 0, "schedules": 0, "passed_over": 0}

    def run(self) -> None:
        """Search until the bound is met or time is up."""
        level = COMPLETIONS
        while not self._done():
            deadlines = self._master(level)
            if deadlines is None:
                return
            verdict = self._schedule(deadlines)
            if verdict.solution is not None:
                self._offer(verdict.solution)
            elif verdict.refuted_by is not None:
                self._mip.no_goods.append(self._core(deadlines, verdict.refuted_by))
            else:
                self._passed_over = max(self._passed_over, self._mip.utility(deadlines))
                self._mip.no_goods.append(dict(deadlines))
                self._counts["passed_over"] += 1

    def outcome(self) -> MethodOutcome:
        """Return what was found."""
        out_of_time = not self._closed() and self._expired()
        return MethodOutcome(
            solution=self._best,
            claimed_objective=self._value if self._best is not None else None,
            dual_bound=self._bound,
            limit_hit="time_s" if out_of_time else None,
            trace=tuple(self._trace),
            phases_s=self._phases,
            notes={
                **self._counts,
                "cuts": len(self._mip.cuts),
                "conflicts": len(self._mip.conflicts),
                "no_goods": len(self._mip.no_goods) - self._counts["passed_over"],
            },
        )

    def _master(self, level: Sequence[str]) -> Deadlines | None:
        """Return deadlines of the most utility that nothing known speaks against."""
        at_least = None if self._best is None else self._value * (1 + IMPROVEMENT)
        with self._phase("master"):
            outcome = self._mip.most_utility(
                level, self._within(part=MASTER_PART), self._seed, at_least
            )
        self._counts["masters"] += 1
        if outcome.status is Status.INFEASIBLE:
            self._lower(at_least or 0.0)
            return None
        if outcome.bound is not None:
            self._lower(float(outcome.bound))
        return None if outcome.values is None else self._mip.deadlines(outcome.values)

    def _schedule(self, deadlines: Deadlines) -> _Verdict:
        """Look for a schedule that meets the deadlines and fits onto the machines."""
        self._mip.reserve.clear()
        for _ in range(ATTEMPTS):
            self._counts["schedules"] += 1
            with self._phase("schedule"):
                verdict, values = self._counted(deadlines)
            if values is None:
                return verdict
            with self._phase("slots"):
                plans, learnt = self._packed(self._mip.items(values))
            if plans is not None:
                return _Verdict(solution(self._instance, plans))
            if self._expired() or not (learnt or self._mip.reserve):
                break
        return _Verdict()

    def _counted(self, deadlines: Deadlines) -> tuple[_Verdict, Floats | None]:
        """Return modes and workers by slot, or why there are none."""
        mip, seed = self._mip, self._seed
        limits = replace(self._within(SCHEDULE_S), rel_gap=PEAK_GAP)
        moded = mip.lowest_peak(deadlines, MODES, limits, seed)
        if moded.status is Status.INFEASIBLE:
            return _Verdict(refuted_by=MODES), None
        if moded.values is None:
            return _Verdict(), None
        counted = mip.lowest_peak(deadlines, COUNTS, limits, seed, modes=moded.values)
        if counted.values is None:
            limits = self._within(SCHEDULE_S)
            counted = mip.lowest_peak(deadlines, COUNTS, limits, seed, smooth=False)
        if counted.status is Status.INFEASIBLE:
            return _Verdict(refuted_by=COUNTS), None
        return _Verdict(), counted.values

    def _packed(
        self, items: Mapping[int, tuple[Item, ...]]
    ) -> tuple[dict[int, list[SlotPlan | None]] | None, bool]:
        """Pack every slot; if some do not pack, say whether something was learnt of why."""
        plans: dict[int, list[SlotPlan | None]] = {}
        fits, before = True, len(self._mip.cuts) + len(self._mip.conflicts)
        for t, running in items.items():
            packing = self._checks.check(running)
            if packing.fits:
                for item in running:
                    plan = slot_plan(self._mip.jobs[item.job], t, packing.counts[item.job])
                    plans.setdefault(item.job, []).append(plan)
                continue
            fits = False
            if packing.fits is None:
                self._mip.reserve[t] = self._mip.reserve.get(t, 0.0) + RELIEF
        self._mip.learn(self._checks.cuts, self._checks.conflicts)
        learnt = len(self._mip.cuts) + len(self._mip.conflicts) > before
        return (plans if fits else None), learnt

    def _core(self, deadlines: Deadlines, level: Sequence[str]) -> dict[int, int]:
        """Return few of the deadlines, as late as they may be, that cannot be met together."""
        kept = dict(deadlines)
        with self._phase("core"):
            for i in sorted(kept, key=lambda i: (self._mip.utility({i: kept[i]}), i)):
                fewer = {j: t for j, t in kept.items() if j != i}
                if self._refuted(fewer, level):
                    kept = fewer
            for i in sorted(kept):
                for later in self._mip.completions[i]:
                    if later <= kept[i]:
                        continue
                    if not self._refuted({**kept, i: later}, level):
                        break
                    kept[i] = later
        return kept

    def _refuted(self, deadlines: Deadlines, level: Sequence[str]) -> bool:
        if self._expired():
            return False
        limits = self._within(CORE_S)
        outcome = self._mip.lowest_peak(deadlines, level, limits, self._seed, smooth=False)
        return outcome.status is Status.INFEASIBLE

    def _offer(self, found: PdOrsSolution) -> None:
        value = utility_of(self._instance, found)
        if self._best is None or value > self._value:
            self._best, self._value = found, value
            self._bound = max(self._bound, value)
            self._trace.append(TracePoint(time.perf_counter() - self._start, value, self._bound))

    def _lower(self, bound: float) -> None:
        bound = max(bound, self._value, self._passed_over)
        if bound < self._bound:
            self._bound = bound
            self._trace.append(TracePoint(time.perf_counter() - self._start, self._value, bound))

    def _closed(self) -> bool:
        if self._best is None:
            return False
        gap = (self._bound - self._value) / max(abs(self._value), 1e-10)
        return gap <= max(self._limits.rel_gap, IMPROVEMENT)

    def _done(self) -> bool:
        return self._closed() or self._expired()

    def _expired(self) -> bool:
        left = self._left()
        return left is not None and left <= 0

    def _left(self) -> float | None:
        if self._limits.time_s is None:
            return None
        return self._limits.time_s - (time.perf_counter() - self._start)

    def _within(self, time_s: float | None = None, part: float = 1.0) -> Limits:
        """Limits of one solve: no more than so many seconds, or part of what is left."""
        left = self._left()
        times = [
            s for s in (time_s, None if left is None else max(0.0, part * left)) if s is not None
        ]
        return Limits(time_s=min(times, default=None), threads=self._limits.threads)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        begun = time.perf_counter()
        try:
            yield
        finally:
            self._phases[name] += time.perf_counter() - begun


def utility_of(instance: PdOrsInstance, decision: PdOrsSolution) -> float:
    """Return the utility of the completion slots of a decision."""
    total = 0.0
    for job, schedule in zip(instance.terms.jobs, decision.schedules, strict=True):
        if schedule:
            last = max(p.slot for p in schedule if any(x.workers for x in p.placements))
            total += float(job.utility[last])
    return total
