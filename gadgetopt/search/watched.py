"""A run that is watched: who asked is told of incumbents and bounds while the method works.

A method makes many searches and many calls of solvers, most of them about parts of its instance.
Only what is about the instance itself is passed on: the incumbents and bounds of the first `Search`
or `Trace` that is given the very limits of the run, or those of the solve that a method names by
`solver_watched`. They are claims of the method; only the result of the run is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gadgetopt.numbers.tolerance import Number, is_finite
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, TracePoint

#: Is told of an incumbent and a bound at their moment; called from any thread.
Tell = Callable[[TracePoint], None]

#: Is told of an incumbent and a bound, None where there is none.
Report = Callable[[Number | None, Number | None], None]


class _Run:
    """The run at work in this context, and who is told of it."""

    def __init__(self, tell: Tell, limits: Limits):
        self.limits = limits
        self.taken = False  # True once a search or a solve has said that it is about the instance
        self._tell, self._clock = tell, Clock()

    def report(self, incumbent: Number | None, bound: Number | None) -> None:
        self._tell(TracePoint(self._clock.elapsed_s, _known(incumbent), _known(bound)))


_run: ContextVar[_Run | None] = ContextVar("run", default=None)
_solver: ContextVar[Report | None] = ContextVar("solver", default=None)


@contextmanager
def watched(tell: Tell | None, limits: Limits) -> Iterator[None]:
    """Tell of incumbents and bounds of the method that the block runs within these limits.

    Parameters
    ----------
    tell : callable or None
        None tells nobody, not even who watches a run around this one.
    limits : Limits
        The very object that the method is given.
    """
    before = _run.get(), _solver.get()
    _run.set(None if tell is None else _Run(tell, limits))
    _solver.set(None)
    try:
        yield
    finally:
        _run.set(before[0])
        _solver.set(before[1])


def _report_of(limits: Limits) -> Report | None:
    """Return who is to be told of the events of a new search, if they are those of the run."""
    run = _run.get()
    if run is None or run.taken or limits is not run.limits:
        return None
    run.taken = True
    return run.report


class Trace:
    """The incumbents and bounds of a search over time, of which whoever watches the run is told.

    Parameters
    ----------
    limits : Limits
    clock : Clock
        The search's.

    Attributes
    ----------
    points : list of TracePoint
    """

    def __init__(self, limits: Limits, clock: Clock):
        self.points: list[TracePoint] = []
        self._clock = clock
        self._report = _report_of(limits)

    def note(self, incumbent: Number | None, bound: Number | None) -> None:
        """Add a point at this moment; None where there is no incumbent or bound."""
        self.points.append(TracePoint(self._clock.elapsed_s, incumbent, bound))
        if self._report is not None:
            self._report(incumbent, bound)


@contextmanager
def solver_watched(
    scale: Number = 1,
    bound_of: Callable[[Number], Number] | None = None,
    *,
    incumbents: bool = True,
    bounds: bool = True,
) -> Iterator[None]:
    """Pass on the events of the first solve in the block: its model is that of the whole instance.

    Parameters
    ----------
    scale : Number
        The model's objective divided by the problem's.
    bound_of : callable, optional
        Converts the model's bounds into the problem's, if the scale is not enough.
    incumbents, bounds : bool
        False where the model's are none of the problem.
    """
    run = _run.get()
    if run is None or run.taken:
        yield
        return
    run.taken = True

    def unscaled(x: Number) -> Number:
        return x if scale == 1 else float(x) / float(scale)

    def report(incumbent: Number | None, bound: Number | None) -> None:
        incumbent = _known(incumbent) if incumbents else None
        bound = _known(bound) if bounds else None
        run.report(
            None if incumbent is None else unscaled(incumbent),
            None if bound is None else (bound_of or unscaled)(bound),
        )

    _solver.set(report)
    try:
        yield
    finally:
        _solver.set(None)


def solver_report() -> Report | None:
    """Return who is to be told of the events of a solve that begins; nobody of the next one."""
    report = _solver.get()
    _solver.set(None)
    return report


def of_bounds(report: Report) -> Report:
    """Return a report that is told of bounds only."""
    return lambda _, bound: report(None, bound)


def _known(x: Number | None) -> Number | None:
    return x if x is not None and is_finite(x) else None
