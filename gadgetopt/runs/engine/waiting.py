"""Lines on standard error, every few seconds, while a command waits for something long."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from gadgetopt.system.printable import printable_line

#: Seconds between two lines.
EVERY_S = 5.0


def to_stderr(line: str) -> None:
    """Print a line on standard error at once."""
    print(line, file=sys.stderr, flush=True)


class Lines:
    """Writes lines to a stream, within a block to where it went when the block began.

    Pyomo's interface to SCIP redirects standard output and standard error during a solve.

    Parameters
    ----------
    stream : text stream
    """

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._apart: TextIO | None = None

    def __enter__(self) -> Lines:
        if self._stream in (sys.__stdout__, sys.__stderr__):  # others have no descriptor of ours
            with contextlib.suppress(OSError, ValueError):  # closed
                self._stream.flush()
                self._apart = os.fdopen(os.dup(self._stream.fileno()), "w", errors="replace")
        return self

    def __exit__(self, *_: object) -> None:
        if self._apart is not None:
            self._apart.close()
            self._apart = None

    def __call__(self, line: str) -> None:
        """Write a line at once."""
        print(line, file=self._apart or self._stream, flush=True)


class Waiting:
    """What is waited for, and since when.

    Parameters
    ----------
    what : str
        Such as "proving".
    most_s : float, optional
        Seconds that it may take.

    Attributes
    ----------
    doing : str
        The step that is at work, if any.
    """

    doing: str

    def __init__(self, what: str, most_s: float | None = None):
        self.what = what
        self.doing = ""
        self.begin(most_s)

    def begin(self, most_s: float | None) -> None:
        """Count the seconds from now."""
        self._since_s, self._most_s = time.monotonic(), most_s

    def at(self, doing: str) -> None:
        """Take notice of the step that is at work."""
        self.doing = doing

    def __str__(self) -> str:
        """Return a line such as "proving: building time_indexed, 12 s of 40 s"."""
        return f"{self.what}{self.progress}"

    @property
    def progress(self) -> str:
        """The step and the seconds, such as ": building time_indexed, 12 s of 40 s"."""
        step = f": {self.doing}" if self.doing else ""
        most = "" if self._most_s is None else f" of {self._most_s:.6g} s"
        return f"{step}, {time.monotonic() - self._since_s:.0f} s{most}"


@contextmanager
def every(seconds: float, do: Callable[[], None]) -> Iterator[None]:
    """Call a function every so many seconds, from a thread of its own, while the block lasts."""
    over = threading.Event()

    def repeat() -> None:
        while not over.wait(seconds):
            do()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def said_while_waiting(
    what: str,
    most_s: float | None = None,
    write: Callable[[str], None] = to_stderr,
    every_s: float = EVERY_S,
) -> Iterator[Waiting]:
    """Say every few seconds what the block waits for; what takes less than that says nothing.

    Parameters
    ----------
    what : str
        Such as "building the model".
    most_s : float, optional
        Seconds that it may take.
    write : callable
        Is given each line, from a thread of its own; default standard error.

    Yields
    ------
    Waiting
        To be told the step that is at work: `waiting.at("building time_indexed")`.
    """
    waiting = Waiting(what, most_s)
    with every(every_s, lambda: write(printable_line(str(waiting)))):
        yield waiting
