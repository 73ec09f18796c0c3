"""A run that is watched: who asked is told of incumbents and bounds while the method works.

A method makes many searches and many calls of solvers, most of them about parts of its instance.
Only what is about the instance itself is passed on: the incumbents and bounds of the first `Search`
or `Trace` that is given the very limits of the run, or those of a stage that the method names by
`watched_stage`, or those of the solve that it names by `solver_watched`. They are claims of the
method; only the result of the run is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

from gadgetopt.numbers.tolerance import Number, is_finite
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, TracePoint

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Sense

#: Is told of an incumbent and a bound at their moment; called from any thread.
Tell = Callable[[TracePoint], None]

#: Is told of an incumbent and a bound, None where there is none.
Report = Callable[[Number | None, Number | None], None]


class _Run:
    """The run at work in this context, and who is told of it."""

    def __init__(self, tell: Tell, limits: Limits, sense: Sense):
        self.whole = self.limits = limits  # those of the run, and of the search that is watched
        self.taken = False  # True once a search or a solve has said that it is about the instance
        self._tell, self._clock = tell, Clock()
        self._minimise = sense == "min"
        self._incumbent: Number | None = None
        self._bound: Number | None = None

    def report(self, incumbent: Number | None, bound: Number | None) -> None:
        """Tell of the best incumbent and bound of all stages so far."""
        self._incumbent = self._better(self._incumbent, _known(incumbent), least=self._minimise)
        self._bound = self._better(self._bound, _known(bound), least=not self._minimise)
        self._tell(TracePoint(self._clock.elapsed_s, self._incumbent, self._bound))

    @staticmethod
    def _better(a: Number | None, b: Number | None, *, least: bool) -> Number | None:
        if a is None or b is None:
            return b if a is None else a
        return b if (b < a if least else b > a) else a


_run: ContextVar[_Run | None] = ContextVar("run", default=None)
_solver: ContextVar[Report | None] = ContextVar("solver", default=None)


@contextmanager
def watched(tell: Tell | None, limits: Limits, sense: Sense) -> Iterator[None]:
    """Tell of incumbents and bounds of the method that the block runs within these limits.

    Parameters
    ----------
    tell : callable or None
        None tells nobody, not even who watches a run around this one.
    limits : Limits
        The very object that the method is given.
    sense : "min" or "max"
        Of the instance.
    """
    before = _run.get(), _solver.get()
    _run.set(None if tell is None else _Run(tell, limits, sense))
    _solver.set(None)
    try:
        yield
    finally:
        _run.set(before[0])
        _solver.set(before[1])


def told_all(*tells: Tell | None) -> Tell | None:
    """Return what tells all of several, None if there are none."""
    wanted = [tell for tell in tells if tell is not None]

    def tell_all(point: TracePoint) -> None:
        for tell in wanted:
            tell(point)

    return tell_all if wanted else None


def watched_stage(limits: Limits, stage: Limits) -> Limits:
    """Return the limits of a stage of a method whose search is about the whole instance.

    The next `Search` or `Trace` that is given them is watched, as is what the stages before found.

    Parameters
    ----------
    limits : Limits
        Those of the run, as the method was given them.
    stage : Limits
        Such as a part of them.
    """
    run = _run.get()
    if run is None or limits is not run.whole:
        return stage
    own = replace(stage)  # another object, which nothing else is given
    run.limits, run.taken = own, False
    return own


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
