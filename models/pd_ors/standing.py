"""What a search knows so far: incumbent, bound, their trace, and the time that is left."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gadgetopt.numbers import agrees
from gadgetopt.result import Limits, TracePoint

from .aggregated_mip import completion_slots
from .decoding import solution
from .instance import PdOrsInstance, PdOrsSolution

#: Relative improvement that is asked of a new decision.
IMPROVEMENT = 1e-7


class Standing:
    """Incumbent and bound of a search within limits, which began when this was made.

    The first incumbent accepts no job.

    Parameters
    ----------
    phases
        Names of what time is spent on.
    """

    def __init__(self, instance: PdOrsInstance, limits: Limits, phases: Sequence[str]):
        self._instance, self._limits = instance, limits
        self._start = time.perf_counter()
        self.phases_s = dict.fromkeys(phases, 0.0)
        self.best: PdOrsSolution = solution(instance, {})
        self.value = 0.0
        self.bound = math.inf
        self.trace: list[TracePoint] = []

    def offer(self, found: PdOrsSolution) -> None:
        """Take a decision over if it is better."""
        value = utility_of(self._instance, found)
        if value > self.value:
            self.best, self.value = found, value
            self._note(self._not_below(self.bound))

    def lower(self, bound: float) -> None:
        """Take a bound over if it is better."""
        bound = self._not_below(bound)
        if bound < self.bound:
            self._note(bound)

    def closes(self, bound: float) -> bool:
        """Say whether nothing within this bound improves on the incumbent."""
        gap = max(self._limits.rel_gap, IMPROVEMENT)
        return bound - self.value <= gap * abs(self.value)

    @property
    def closed(self) -> bool:
        """Whether the incumbent is an optimum, to the gap that was asked for."""
        return self.closes(self.bound)

    @property
    def done(self) -> bool:
        """Whether the search is over."""
        return self.closed or self.expired

    @property
    def expired(self) -> bool:
        """Whether time is up."""
        return self.left() <= 0

    def left(self) -> float:
        """Return the seconds that are left, infinite without a limit."""
        if self._limits.time_s is None:
            return math.inf
        return self._limits.time_s - (time.perf_counter() - self._start)

    def within(self, time_s: float = math.inf, part: float = 1.0) -> Limits:
        """Return limits of one solve: so many seconds at most, and part of what is left."""
        at_most = min(time_s, max(0.0, part * self.left()))
        return Limits(time_s=None if at_most == math.inf else at_most, threads=self._limits.threads)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Count what this takes as time of a phase."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.phases_s[name] += time.perf_counter() - begun

    def _not_below(self, bound: float) -> float:
        """Lift a bound to the incumbent over rounding only: one that is refuted has to show."""
        return max(bound, self.value) if agrees(bound, self.value) else bound

    def _note(self, bound: float) -> None:
        self.bound = bound
        self.trace.append(TracePoint(time.perf_counter() - self._start, self.value, bound))


def utility_of(instance: PdOrsInstance, decision: PdOrsSolution) -> float:
    """Return the utility of the completion slots of a decision."""
    jobs = instance.terms.jobs
    return sum(float(jobs[i].utility[t]) for i, t in completion_slots(decision).items())
