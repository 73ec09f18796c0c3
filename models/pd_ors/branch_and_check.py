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

Deadlines of which nothing is known within their time are passed over, and the bound keeps what the
master promised when it chose them. Once nothing else is left they are looked at again, for longer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.result import Limits, MethodOutcome, Status, TracePoint

from .aggregated import useful_jobs
from .aggregated_mip import COMPLETIONS, COUNTS, MODES, AggregatedMip, Deadlines, completion_slots
from .bounds import alone
from .certificate import PdOrsCertificate, certificate_of, check_bound
from .decoding import solution
from .instance import PdOrsInstance, PdOrsSolution, SlotPlan
from .pd_ors import pd_ors
from .placing import Placing
from .priced_search import PricedSearch, chosen, relaxation_prices
from .slot_checks import SlotChecks
from .slot_repair import Items, Packed, repaired, schedules
from .terms import Floats

#: Seconds for the modes of a schedule, for its workers, and for one test of fewer deadlines.
MODES_S = 10.0
COUNTS_S = 3.0
CORE_S = 2.0
#: Seconds for a proof that deadlines cannot be met, and their growth when they are looked at again.
PROVE_S = 5.0
LONGER = 4.0
#: Refutations of the modes alone, after which the master has integer modes too.
REFUTATIONS = 2
#: Time for all such tests, in that of the last master, and at most.
CORE_PART = 0.5
MOST_CORE_S = 10.0
#: Closeness of the peak to the lowest one at which a schedule is smooth enough.
PEAK_GAP = 0.003
#: Choices of modes tried for the same deadlines, choices of workers for the same modes, and what
#: slots that did not pack are relieved of.
ATTEMPTS = 2
COUNT_ATTEMPTS = 4
RELIEF = 0.02
#: What time is spent on.
PHASES = ("build", "master", "schedule", "slots", "core", "online", "prices", "placing", "reserved")
#: Ranges of prices at which PD-ORS looks for a first decision, and its time.
PRICE_SPANS = (10.0, 20.0, None)
ONLINE_S = 10.0
ONLINE_PART = 0.1
#: Parts of the time left for prices of the column relaxation, for a choice of its columns, and for
#: placing jobs at the prices.
PRICES_PART = 0.25
CHOICE_PART = 0.2
PLACING_PART = 0.4
PLACING_ROUNDS = 300
#: Part of every slot that is left free in the first search for a decision, and its growth.
FIRST_RESERVE = 0.03
GROWTH = 3.0
#: Part of the time left that the first master may take, each after it, and one with a reserve.
FIRST_PART = 0.05
MASTER_PART = 0.4
RESERVED_PART = 0.2
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
    search = _Search(instance, limits, rng)
    search.run()
    return search.outcome()


class _Search:
    """What is known so far."""

    def __init__(self, instance: PdOrsInstance, limits: Limits, rng: np.random.Generator):
        self._instance, self._limits, self._rng = instance, limits, rng
        self._seed = int(rng.integers(2**31))
        self._start = time.perf_counter()
        self._phases = dict.fromkeys(PHASES, 0.0)
        with self._phase("build"):
            self._mip = AggregatedMip(instance)
        self._checks = SlotChecks(instance.terms, self._left)
        self._best: PdOrsSolution | None = None
        self._value = 0.0
        self._certificate: PdOrsCertificate | None = None
        self._certified = np.inf
        self._price: Floats = np.zeros((instance.horizon_slots, *instance.terms.capacity.shape))
        self._bound = sum(float(job.utility.max()) for job in self._mip.jobs.values())
        #: Deadlines that were passed over, and what any of them or earlier ones may be worth.
        self._passed: list[Deadlines] = []
        self._passed_over = 0.0
        self._prove_s = PROVE_S
        self._promised = self._bound
        self._master_closed = False
        #: Nothing better is left in the master, but perhaps in what was passed over.
        self._exhausted = False
        self._too_little, self._next_reserve, self._enough = 0.0, FIRST_RESERVE, 0.0
        self._last_master_s = self._core_until = 0.0
        self._trace: list[TracePoint] = []
        self._counts = {"masters": 0, "schedules": 0, "passed_over": 0}

    def run(self) -> None:
        """Search until the bound is met or time is up."""
        self._offer(solution(self._instance, {}))
        self._online()
        level: Sequence[str] = COMPLETIONS
        refuted = 0
        while not self._done():
            if self._certificate is None:
                deadlines = self._master(level, FIRST_PART)
                if not self._exhausted and not self._master_closed:
                    self._place_at_prices()
                    continue
            else:
                deadlines = self._master(level, MASTER_PART) or self._master(level, 1.0)
            if deadlines is None:
                if not self._look_again():
                    return
                continue
            verdict = self._schedule(deadlines, ATTEMPTS)
            if verdict.solution is not None:
                self._offer(verdict.solution)
            elif verdict.refuted_by is not None:
                self._mip.no_goods.append(self._core(deadlines, verdict.refuted_by))
                # A master whose relaxation is refuted again and again is too weak.
                refuted += verdict.refuted_by == MODES
                level = MODES if refuted >= REFUTATIONS else level
            else:
                self._pass_over(deadlines)
            if self._certificate is None and not self._done():
                self._place_at_prices()
            self._reserve()

    def _place_at_prices(self) -> None:
        """Take the bound of the column relaxation, and what is found by placing at its prices."""
        with self._phase("prices"):
            prices = relaxation_prices(self._instance, self._within(part=PRICES_PART))
            self._certificate = certificate_of(self._instance, prices.price)
            self._certified = check_bound(self._instance, self._certificate)
        self._passed_over = min(self._passed_over, self._certified)
        self._lower(self._certified)
        with self._phase("placing"):
            self._price = prices.price
            self._offer(chosen(self._instance, prices, self._within(part=CHOICE_PART)).decision())
            known = Placing.of(self._instance, _schedules(self._best))
            search = PricedSearch(self._instance, prices, self._rng, known)
            search.run(self._within(part=PLACING_PART), PLACING_ROUNDS, self._bound)
        if search.best is not None:
            self._offer(search.best.decision())

    def _pass_over(self, deadlines: Deadlines) -> None:
        """Leave these deadlines, and all earlier ones, which may be worth what was promised."""
        self._passed_over = max(self._passed_over, min(self._promised, self._certified))
        self._passed.append(deadlines)
        self._mip.no_goods.append(dict(deadlines))
        self._counts["passed_over"] += 1

    def _look_again(self) -> bool:
        """Take back what was passed over, for more time; say whether there is any."""
        if not self._passed or self._done():
            return False
        self._mip.no_goods = [known for known in self._mip.no_goods if known not in self._passed]
        self._passed, self._passed_over, self._exhausted = [], 0.0, False
        self._prove_s *= LONGER
        return True

    def _online(self) -> None:
        """Take the best of what PD-ORS decides at several ranges of prices."""
        with self._phase("online"):
            for span in PRICE_SPANS:
                limits = self._within(ONLINE_S, part=ONLINE_PART)
                found = pd_ors(self._instance, limits, self._rng, log_price_span=span).solution
                if isinstance(found, PdOrsSolution):
                    self._offer(found)

    def _reserve(self) -> None:
        """Look for a first decision with ever more reserve, or a better one with less of it."""
        while not self._enough and self._next_reserve < 1 and not self._done():
            if self._reserved(self._next_reserve):
                self._enough = self._next_reserve
            else:
                self._too_little = self._next_reserve
                self._next_reserve *= GROWTH
        if not self._done() and self._enough - self._too_little > FIRST_RESERVE / 2:
            between = (self._enough + self._too_little) / 2
            if self._reserved(between):
                self._enough = between
            else:
                self._too_little = between

    def _reserved(self, reserve: float) -> bool:
        """Look for a decision that leaves a part of every slot free, as that is easier to pack.

        The answer is no only if there may be a better one that needs more reserve.
        """
        with self._phase("reserved"):
            outcome = self._mip.most_utility(
                COMPLETIONS,
                self._within(part=RESERVED_PART),
                self._seed,
                reserve=reserve,
                start=self._known(),
            )
        if outcome.values is None:
            return False
        if outcome.objective is not None and float(outcome.objective) <= self._value:
            return True
        deadlines = self._mip.deadlines(outcome.values)
        found = self._schedule(deadlines, 1, prove=False).solution
        if found is not None:
            self._offer(found)
        return found is not None

    def _known(self) -> Deadlines | None:
        return None if self._best is None else self._mip.deadlines_of(self._best)

    def _to_beat(self) -> float | None:
        return None if self._best is None else self._value * (1 + IMPROVEMENT)

    def outcome(self) -> MethodOutcome:
        """Return what was found."""
        out_of_time = not self._closed() and self._expired()
        certified = self._certified <= self._bound
        return MethodOutcome(
            solution=self._best,
            claimed_objective=self._value if self._best is not None else None,
            dual_bound=None if certified else self._bound,
            certificate=self._certificate if certified else None,
            limit_hit="time_s" if out_of_time else None,
            trace=tuple(self._trace),
            phases_s=self._phases,
            notes={
                **self._counts,
                "cuts": len(self._mip.cuts),
                "block_cuts": len(self._mip.block_cuts),
                "conflicts": len(self._mip.conflicts),
                "no_goods": len(self._mip.no_goods) - self._counts["passed_over"],
            },
        )

    def _master(self, level: Sequence[str], part: float) -> Deadlines | None:
        """Return deadlines of the most utility that nothing known speaks against."""
        if self._exhausted:
            return None
        # Where the modes are integer, the row helps to prove; else it hinders HiGHS's heuristics.
        at_least = self._to_beat() if level == MODES else None
        begun = time.perf_counter()
        with self._phase("master"):
            outcome = self._mip.most_utility(
                level, self._within(part=part), self._seed, at_least, start=self._known()
            )
        self._last_master_s = time.perf_counter() - begun
        self._counts["masters"] += 1
        self._master_closed = outcome.status is Status.OPTIMAL
        if outcome.status is Status.INFEASIBLE:
            self._exhausted = True
            self._lower(self._value)
            return None
        if outcome.bound is not None:
            self._promised = float(outcome.bound)
            self._lower(self._promised)
            self._exhausted = self._closes(self._promised)
        if outcome.values is None or self._exhausted:
            return None
        return self._mip.deadlines(outcome.values)

    def _schedule(self, deadlines: Deadlines, attempts: int, prove: bool = True) -> _Verdict:
        """Look for a schedule that meets the deadlines and fits onto the machines.

        With `prove`, if none is found, see whether the learnt rows rule all of them out.
        """
        mip, seed = self._mip, self._seed
        mip.reserve.clear()
        for _ in range(attempts):
            with self._phase("schedule"):
                limits = replace(self._within(MODES_S), rel_gap=PEAK_GAP)
                moded = mip.lowest_peak(deadlines, MODES, limits, seed)
            self._counts["schedules"] += 1
            if moded.status is Status.INFEASIBLE:
                return _Verdict(refuted_by=MODES)
            if moded.values is None:
                break
            found = self._counted(deadlines, moded.values)
            if found is not None:
                return _Verdict(found)
            if self._expired():
                return _Verdict()
        return self._decided(deadlines) if prove else _Verdict()

    def _decided(self, deadlines: Deadlines) -> _Verdict:
        """Take any schedule, learn from slots that do not pack, and again, while there is time."""
        until = time.perf_counter() + self._prove_s
        while (left := until - time.perf_counter()) > 0 and not self._expired():
            with self._phase("schedule"):
                found = self._mip.lowest_peak(
                    deadlines, COUNTS, self._within(left), self._seed, smooth=False
                )
            if found.status is Status.INFEASIBLE:
                return _Verdict(refuted_by=COUNTS)
            if found.values is None:
                return _Verdict()
            rows = self._mip.learnt
            with self._phase("slots"):
                packed, _ = self._packed(self._mip.items(found.values))
            if packed is not None:
                return _Verdict(packed)
            if self._mip.learnt == rows:
                return _Verdict()
        return _Verdict()

    def _counted(self, deadlines: Deadlines, modes: Floats) -> PdOrsSolution | None:
        """Look for workers in these modes that fit onto the machines."""
        for _ in range(COUNT_ATTEMPTS):
            with self._phase("schedule"):
                limits = replace(self._within(COUNTS_S), rel_gap=PEAK_GAP)
                counted = self._mip.lowest_peak(deadlines, COUNTS, limits, self._seed, modes=modes)
            if counted.values is None:
                return None
            with self._phase("slots"):
                packed, learnt = self._packed(self._mip.items(counted.values))
            if packed is not None:
                return packed
            if self._expired() or not learnt:
                return None
        return None

    def _packed(self, items: Mapping[int, Items]) -> tuple[PdOrsSolution | None, bool]:
        """Pack every slot; if some do not, say whether the next try will be another one."""
        packed: dict[int, Packed] = {}
        learnt = False
        for t, running in items.items():
            if self._mip.speaks_against(t, running):
                learnt = True
                continue
            verdict = self._checks.check(running)
            if verdict.packing.fits:
                packed[t] = verdict.packing.counts
                continue
            learnt = True
            if verdict.packing.fits is False:
                self._mip.learn(t, verdict.cut, verdict.conflict)
            else:
                self._mip.reserve[t] = self._mip.reserve.get(t, 0.0) + RELIEF
        if len(packed) == len(items):
            return solution(self._instance, schedules(self._instance, items, packed, set())), False
        left = self._left()
        until = math.inf if left is None else time.perf_counter() + left
        self._offer(repaired(self._instance, items, packed, self._price, until).decision())
        return None, learnt

    def _core(self, deadlines: Deadlines, level: Sequence[str]) -> dict[int, int]:
        """Return few of the deadlines, as late as they may be, that cannot be met together."""
        kept = dict(deadlines)
        with self._phase("core"):
            self._core_until = time.perf_counter() + min(
                max(CORE_S, CORE_PART * self._last_master_s), MOST_CORE_S
            )
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
        left = self._core_until - time.perf_counter()
        if left <= 0 or self._expired():
            return False
        limits = self._within(min(CORE_S, left))
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
        return self._closes(self._bound)

    def _closes(self, bound: float) -> bool:
        """Say whether nothing within this bound improves on the best decision."""
        gap = (bound - self._value) / max(abs(self._value), 1e-10)
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
    jobs = instance.terms.jobs
    return sum(float(jobs[i].utility[t]) for i, t in completion_slots(decision).items())


def _schedules(decision: PdOrsSolution | None) -> dict[int, tuple[SlotPlan, ...]]:
    """Return the schedules of accepted jobs."""
    found = enumerate(decision.schedules if decision is not None else ())
    return {i: schedule for i, schedule in found if schedule}
