"""What a user sees and hears of a solve in his process: its log, and a function of his."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from gadgetopt.errors import InputError, failure
from gadgetopt.errors import logger as warnings
from gadgetopt.numbers.tolerance import Number
from gadgetopt.runs.engine.solve_log import SolveLog
from gadgetopt.runs.engine.waiting import Lines
from gadgetopt.search.watched import Tell, told_all
from gadgetopt.system.declaration import Sense
from gadgetopt.system.result import Result, TracePoint

#: Called with the seconds since the solve began, an incumbent, and the bound if there is one.
OnIncumbent = Callable[[float, Number, Number | None], object]


class Incumbents:
    """Calls a function at each better incumbent.

    A function that fails is not called again: its failure is not one of the method, in whose midst,
    or in a thread of whose solver, it is called.

    Parameters
    ----------
    sense : "min" or "max"
    function : callable
    """

    def __init__(self, sense: Sense, function: OnIncumbent):
        self._minimise = sense == "min"
        self._function: OnIncumbent | None = function
        self._best: Number | None = None

    def tell(self, point: TracePoint) -> None:
        """Take notice of an incumbent and a bound."""
        found, best = point.incumbent, self._best
        if self._function is None or found is None:
            return
        if best is not None and not (found < best if self._minimise else found > best):
            return
        self._best = found
        try:
            self._function(point.time_s, found, point.bound)
        except Exception as error:
            self._function = None
            warnings.warning("on_incumbent: %s; it is not called again", failure(error))


class SolveWatch:
    """Who is told of a solve: its log and a function, or neither."""

    def __init__(self, log: SolveLog | None, incumbents: Incumbents | None):
        self._log, self._incumbents = log, incumbents
        #: What is to be told of incumbents and bounds; None if nobody wants to know.
        self.tell: Tell | None = told_all(
            None if log is None else log.tell, None if incumbents is None else incumbents.tell
        )

    def end(self, result: Result) -> None:
        """Take notice of the result."""
        if self._log is not None:
            self._log.end(result)
        if self._incumbents is not None:
            self._incumbents.tell(TracePoint(result.time_s, result.objective, result.bound))


@contextmanager
def watched(
    sense: Sense, on_incumbent: OnIncumbent | None, *, display: bool
) -> Iterator[SolveWatch]:
    """Watch the solve in the block.

    Raises
    ------
    InputError
        If the function cannot be called.
    """
    if on_incumbent is not None and not callable(on_incumbent):
        what = "a function of time_s, incumbent and bound"
        raise InputError(f"on_incumbent: is of type {type(on_incumbent).__name__}, expected {what}")
    log = SolveLog(Lines(sys.stdout)) if display else None
    incumbents = None if on_incumbent is None else Incumbents(sense, on_incumbent)
    with log or nullcontext():
        yield SolveWatch(log, incumbents)
