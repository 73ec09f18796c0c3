"""Schedules that meet given deadlines on the machines, or a proof that there are none.

Reconstructed. The two lower levels of `branch_and_check`. Modes and workers in integers without
machines come from `AggregatedMip`, slots are packed by `SlotChecks`, and the cut or conflict of a
slot goes back into the program. Decisions for fewer jobs that are found on the way are offered to
the search.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.result import Status

from ...instance import (
    PdOrsInstance,
    PdOrsSolution,
)
from ...subproblems.decoding import solution
from .aggregated_mip import (
    COUNTS,
    MODES,
    AggregatedMip,
    Deadlines,
    utility_of,
)
from .slot_checks import SlotChecks
from .slot_repair import (
    Items,
    Packed,
    repaired,
    schedules,
)

#: Seconds for the modes of a schedule, for its workers, and for one test of fewer deadlines.
#: Tuned: `benchmarks/constants.py`.
MODES_S = 10.0
COUNTS_S = 3.0
CORE_S = 2.0
#: Time for all such tests, in that of the last master, and at most.
#: Tuned: `benchmarks/constants.py`.
CORE_PART = 0.5
MOST_CORE_S = 10.0
#: Closeness of the peak to the lowest one at which a schedule is smooth enough.
#: Tuned: `benchmarks/constants.py`.
PEAK_GAP = 0.003
#: Choices of workers tried for the same modes, and what slots that did not pack are relieved of.
#: Tuned: `benchmarks/constants.py`.
COUNT_ATTEMPTS = 4
RELIEF = 0.02


#: The search for a decision.
Decisions = Search[PdOrsSolution]


@dataclass
class Verdict:
    """Verdict on deadlines: a solution, or the level whose relaxation refutes them."""

    solution: PdOrsSolution | None = None
    refuted_by: Sequence[str] | None = None


class DeadlineSchedules:
    """Looks for schedules, on machines, of jobs that have deadlines.

    Parameters
    ----------
    mip
        The model to which the cuts and conflicts of slots are added.
    search
        The search state: the incumbent is the best decision; its clock gives the time.
    seed
        HiGHS's.

    Attributes
    ----------
    price : array (slots, machines, resources)
        At which jobs of slots that do not pack are placed elsewhere.
    """

    def __init__(self, instance: PdOrsInstance, mip: AggregatedMip, search: Decisions, seed: int):
        self._instance, self._mip, self._search, self._seed = instance, mip, search, seed
        self._clock = search.clock
        self._checks = SlotChecks(instance.terms, self._clock)
        self.price: Floats = np.zeros((instance.horizon_slots, *instance.terms.capacity.shape))
        #: Schedules looked for.
        self.tried: int = 0
        self._core_clock = self._clock

    def find(self, deadlines: Deadlines, attempts: int, prove_s: float = 0.0) -> Verdict:
        """Look for a schedule that meets the deadlines and fits onto the machines.

        If none is found, these seconds go into a proof that the learnt rows rule all of them out.
        """
        mip, seed = self._mip, self._seed
        mip.reserve.clear()
        for _ in range(attempts):
            with self._clock.phase("schedule"):
                limits = replace(self._clock.limits(at_most_s=MODES_S), rel_gap=PEAK_GAP)
                moded = mip.lowest_peak(deadlines, MODES, limits, seed)
            self.tried += 1
            if moded.status is Status.INFEASIBLE:
                return Verdict(refuted_by=MODES)
            if moded.values is None:
                break
            found = self._counted(deadlines, moded.values)
            if found is not None:
                return Verdict(found)
            if self._clock.expired:
                return Verdict()
        return self._decided(deadlines, prove_s)

    def _decided(self, deadlines: Deadlines, prove_s: float) -> Verdict:
        """Take any schedule, learn from slots that do not pack, and again, while there is time."""
        clock = Clock(self._clock.limits(at_most_s=prove_s))
        while not clock.expired:
            with self._clock.phase("schedule"):
                found = self._mip.lowest_peak(
                    deadlines, COUNTS, clock.limits(), self._seed, smooth=False
                )
            if found.status is Status.INFEASIBLE:
                return Verdict(refuted_by=COUNTS)
            if found.values is None:
                return Verdict()
            rows = self._mip.learnt
            with self._clock.phase("slots"):
                packed, _ = self._packed(self._mip.items(found.values))
            if packed is not None:
                return Verdict(packed)
            if self._mip.learnt == rows:
                return Verdict()
        return Verdict()

    def _counted(self, deadlines: Deadlines, modes: Floats) -> PdOrsSolution | None:
        """Look for workers in these modes that fit onto the machines."""
        for _ in range(COUNT_ATTEMPTS):
            with self._clock.phase("schedule"):
                limits = replace(self._clock.limits(at_most_s=COUNTS_S), rel_gap=PEAK_GAP)
                counted = self._mip.lowest_peak(deadlines, COUNTS, limits, self._seed, modes=modes)
            if counted.values is None:
                return None
            with self._clock.phase("slots"):
                packed, learnt = self._packed(self._mip.items(counted.values))
            if packed is not None:
                return packed
            if self._clock.expired or not learnt:
                return None
        return None

    def _packed(self, items: Mapping[int, Items]) -> tuple[PdOrsSolution | None, bool]:
        """Pack every slot; if some do not, tell if the next try will be another one."""
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
        decision = repaired(self._instance, items, packed, self.price, self._clock).decision()
        self._search.offer(utility_of(self._instance, decision), decision)
        return None, learnt

    def core(self, deadlines: Deadlines, level: Sequence[str], master_s: float) -> dict[int, int]:
        """Return few of the deadlines, as late as they may be, that cannot be met together."""
        kept = dict(deadlines)
        with self._clock.phase("core"):
            most_s = min(max(CORE_S, CORE_PART * master_s), MOST_CORE_S)
            self._core_clock = Clock(self._clock.limits(at_most_s=most_s))
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
        if self._core_clock.expired:
            return False
        limits = self._core_clock.limits(at_most_s=CORE_S)
        outcome = self._mip.lowest_peak(deadlines, level, limits, self._seed, smooth=False)
        return outcome.status is Status.INFEASIBLE
