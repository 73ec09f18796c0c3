"""What SCIP says while it works, and how it is told to end."""

from __future__ import annotations

import math
import time
from typing import Any

import pyscipopt
from pyscipopt import SCIP_EVENTTYPE as EVENTS

from gadgetopt.search import stopping
from gadgetopt.search.watched import Report
from gadgetopt.system.result import TracePoint

#: Seconds between two points of the trace with one incumbent. Tuned: `benchmarks/constants.py`.
BETWEEN_BOUNDS_S = 0.1

#: When SCIP calls: often enough to be ended soon, in long root nodes, too.
CALLED_AT = (EVENTS.BESTSOLFOUND, EVENTS.NODESOLVED, EVENTS.LPSOLVED, EVENTS.PRESOLVEROUND)


class Events(pyscipopt.Eventhdlr):
    """Keeps the trace of a solve, tells of it, and ends it once a criterion of the run is met.

    Parameters
    ----------
    report : callable or None
        Is told of each point of the trace.

    Attributes
    ----------
    trace : list of TracePoint
    """

    def __init__(self, report: Report | None):
        self.trace: list[TracePoint] = []
        self._report = report
        self._criteria = stopping.current()
        self._start_s = time.perf_counter()

    def eventinit(self) -> None:
        """Ask for the events; SCIP calls this before presolving."""
        for event in CALLED_AT:
            self.model.catchEvent(event, self)

    def eventexit(self) -> None:
        """Ask for no more events."""
        for event in CALLED_AT:
            self.model.dropEvent(event, self)

    def eventexec(self, event: Any) -> None:
        """Take notice of where SCIP is."""
        self._note(_finite(self.model, self.model.getPrimalbound()), self._bound())
        if self._criteria is not None and self._criteria.why is not None:
            self.model.interruptSolve()

    def _bound(self) -> float | None:
        return _finite(self.model, self.model.getDualbound())

    def _note(self, incumbent: float | None, bound: float | None) -> None:
        now_s = time.perf_counter() - self._start_s
        last = self.trace[-1] if self.trace else TracePoint(-math.inf, None, None)
        new = last.incumbent != incumbent
        if new or (last.bound != bound and now_s > last.time_s + BETWEEN_BOUNDS_S):
            self.trace.append(TracePoint(now_s, incumbent, bound))
            if self._report is not None:
                self._report(incumbent, bound)


def _finite(model: Any, x: float) -> float | None:
    return float(x) if abs(x) < model.infinity() else None
