"""Criteria that end a run early: a target that is reached, or no better objective for a while.

They hear of the incumbents that whoever watches a run hears of (`gadgetopt.search.watched`), and
whoever works asks them: each `Clock` has no time left once a criterion is met, and a call of a
solver is ended as by Ctrl-C. What the run then returns is judged as ever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from gadgetopt.numbers.compiling import compiling_s
from gadgetopt.numbers.tolerance import Number, as_double
from gadgetopt.system.result import Limits, TracePoint

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Sense

#: The names of the criteria as limits that a run hit.
NO_IMPROVEMENT, TARGET = "no_improvement", "target"


class Stopping:
    """The criteria of a run.

    A run without an incumbent goes on: there is nothing yet to improve on.

    Parameters
    ----------
    limits : Limits
        With `no_improvement_s`, `target` or both.
    sense : "min" or "max"

    Attributes
    ----------
    ended : str or None
        The criterion that somebody at work was told of, so that it ended.
    """

    def __init__(self, limits: Limits, sense: Sense):
        self.ended: str | None = None
        self._limits = limits
        self._minimise = sense == "min"
        self._best: Number | None = None
        self._best_at_s = 0.0
        self._reached = False

    def tell(self, point: TracePoint) -> None:
        """Take notice of an incumbent; called from any thread."""
        found = point.incumbent
        if found is None or (self._best is not None and not self._better(found, self._best)):
            return
        self._best_at_s = _now_s()
        self._best = found
        target = self._limits.target
        if target is not None:  # compared as the double that the target is
            value = as_double(found)
            self._reached = value <= target if self._minimise else value >= target

    @property
    def why(self) -> str | None:
        """The criterion that is met, and then is for good; None while the run may go on."""
        if self.ended is None:
            if self._reached:
                self.ended = TARGET
            elif self._stalls():
                self.ended = NO_IMPROVEMENT
        return self.ended

    def _stalls(self) -> bool:
        most_s = self._limits.no_improvement_s
        if most_s is None or self._best is None:
            return False
        return _now_s() - self._best_at_s >= most_s

    def _better(self, a: Number, b: Number) -> bool:
        return a < b if self._minimise else a > b


def _now_s() -> float:
    """Return the seconds of a clock that stands still while inner loops are compiled."""
    return time.perf_counter() - compiling_s()


_stopping: ContextVar[Stopping | None] = ContextVar("stopping", default=None)


def current() -> Stopping | None:
    """Return the criteria of the run that is at work in this context."""
    return _stopping.get()


@contextmanager
def stopped_early(limits: Limits, sense: Sense) -> Iterator[Stopping | None]:
    """Have what works in the block end when a criterion of the limits is met.

    Yields
    ------
    Stopping or None
        To be told of incumbents; None without a criterion, or within a run that has one.
    """
    asked = limits.no_improvement_s is not None or limits.target is not None
    if not asked or current() is not None:  # a run within another one ends with that
        yield None
        return
    stopping = Stopping(limits, sense)
    token = _stopping.set(stopping)
    try:
        yield stopping
    finally:
        _stopping.reset(token)
