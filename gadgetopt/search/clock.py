"""The clock of a run: elapsed time, time left within its limits, and seconds per phase."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

from gadgetopt.numbers.compiling import compiling_s
from gadgetopt.search import stopping
from gadgetopt.system.result import Limits


class Clock:
    """A clock that starts when it is created and knows the limits of its run.

    It stands still while numba compiles an inner loop, so that the first run takes no longer than
    the second.

    A step that may use a part of the time gets its own clock: `Clock(clock.limits(0.5))`. Ctrl-C
    during a call of a solver ends that call, which returns what it has; from then on no clock that
    runs has time left, so the method ends as it does when its time is up. So it does once a
    criterion of the run is met (`gadgetopt.search.stopping`).

    Parameters
    ----------
    limits : Limits, optional
        Without them there is always time left.

    Attributes
    ----------
    phases_s : dict
        Seconds of each phase, in the order in which the phases began.
    """

    _interruptions: ClassVar[int] = 0

    def __init__(self, limits: Limits | None = None):
        self._limits = limits or Limits()
        self._start, self._compiling_before_s = time.perf_counter(), compiling_s()
        self._interruptions_before = Clock._interruptions
        self._stopping = stopping.current()
        self._reserved_s = 0.0
        self.phases_s: dict[str, float] = {}

    @staticmethod
    def interrupt_all() -> None:
        """Leave no time to any clock that runs: Ctrl-C has stopped a call of a solver."""
        Clock._interruptions += 1

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C has stopped a call of a solver since the clock was created."""
        return Clock._interruptions > self._interruptions_before

    @property
    def limit_hit(self) -> str | None:
        """What left no time: "interrupted", a criterion or "time_s"; None while there is some."""
        if self.interrupted:
            return "interrupted"
        if self.criterion is not None:
            return self.criterion
        return "time_s" if self.expired else None

    @property
    def criterion(self) -> str | None:
        """The criterion of the run that is met: "no_improvement" or "target"; None without one."""
        return None if self._stopping is None else self._stopping.why

    @property
    def elapsed_s(self) -> float:
        """Seconds since the clock was created, without those of compiling."""
        compiling = compiling_s() - self._compiling_before_s
        return time.perf_counter() - self._start - compiling

    @property
    def left_s(self) -> float:
        """Seconds left: never negative, infinite without a time limit.

        There are none after Ctrl-C, or once a criterion of the run is met.
        """
        if self.interrupted or self.criterion is not None:
            return 0.0
        if self._limits.time_s is None:
            return math.inf
        return max(0.0, self._limits.time_s - self._reserved_s - self.elapsed_s)

    def reserve(self, seconds: float) -> None:
        """Keep the last seconds for what follows, such as the check of a long proof.

        The time left ends so much sooner, whatever was kept before.
        """
        self._reserved_s = max(0.0, seconds)

    @property
    def expired(self) -> bool:
        """True if no time is left."""
        return self.left_s <= 0

    def limits(self, part: float = 1.0, at_most_s: float = math.inf) -> Limits:
        """Return the run's limits, with a part of the time left, but at most the given seconds."""
        time_s = min(at_most_s, part * self.left_s)
        return replace(self._limits, time_s=None if math.isinf(time_s) else max(0.0, time_s))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a phase; repeated phases add up."""
        self.phases_s.setdefault(name, 0.0)
        begin = self.elapsed_s
        try:
            yield
        finally:
            self.phases_s[name] += self.elapsed_s - begin
