"""Lines on incumbent, bound, gap and time while a method solves, as solvers print them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack

from gadgetopt.numbers.text import show, show_gap
from gadgetopt.numbers.tolerance import Number
from gadgetopt.runs.engine.waiting import Lines, every
from gadgetopt.system.result import Result, TracePoint
from gadgetopt.trust.judgement import relative_gap

#: Seconds between two lines, at least.
EVERY_S = 1.0

#: Widths of the columns time, incumbent, bound and gap.
WIDTHS = (10, 20, 20, 10)

#: Significant digits of numbers that are no integers.
DIGITS = 10


class SolveLog:
    """A log of one solve: a head, a line at each improvement, and a last line on the result.

    At most one line a second is printed; of several improvements within a second it is the last.
    What the method says while it works is printed as it says it; the last line is what was checked.

    Parameters
    ----------
    write : callable
        Is given each line.
    every_s : float
        Seconds between two lines, at least.
    """

    def __init__(self, write: Callable[[str], None], every_s: float = EVERY_S):
        self._write = write
        self._every_s = every_s
        self._open = ExitStack()
        self._lock = threading.Lock()
        self._at = TracePoint(0.0, None, None)
        self._untold = False  # True if there is an improvement without a line
        self._begun = False  # True if there has been an improvement
        self._headed = False

    def __enter__(self) -> SolveLog:
        if isinstance(self._write, Lines):
            self._open.enter_context(self._write)
        self._open.enter_context(every(self._every_s, self._catch_up))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def tell(self, point: TracePoint) -> None:
        """Take notice of an incumbent and a bound; called from any thread."""
        with self._lock:
            same = (point.incumbent, point.bound) == (self._at.incumbent, self._at.bound)
            self._at, self._untold = point, self._untold or not same
            first, self._begun = not self._begun and self._untold, self._begun or self._untold
        if first:
            self._catch_up()

    def end(self, result: Result) -> None:
        """Print the last line: what is known at the end of the solve."""
        self._head()
        self._write(_line(result.time_s, result.objective, result.bound, result.gap))

    def _head(self) -> None:
        if not self._headed:
            self._headed = True
            self._write(_columns("time", "incumbent", "bound", "gap"))

    def _catch_up(self) -> None:
        with self._lock:
            self._head()
            point, untold, self._untold = self._at, self._untold, False
        if untold:
            gap = relative_gap(point.incumbent, point.bound)
            self._write(_line(point.time_s, point.incumbent, point.bound, gap))


def _line(time_s: float, incumbent: Number | None, bound: Number | None, gap: float | None) -> str:
    return _columns(
        f"{time_s:.1f} s",
        "-" if incumbent is None else show(incumbent, DIGITS),
        "-" if bound is None else show(bound, DIGITS),
        "-" if gap is None else show_gap(gap, 2),
    )


def _columns(*cells: str) -> str:
    return " ".join(cell.rjust(width) for cell, width in zip(cells, WIDTHS, strict=True))
