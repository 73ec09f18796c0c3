"""The progress of a comparison in a notebook or at a prompt; scripts are silent."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.compiling import announcing
from gadgetopt.runs.pace import Pace
from gadgetopt.runs.progress import Live, Watch, of_store, told
from gadgetopt.runs.rows import Row

if TYPE_CHECKING:
    from gadgetopt.runs.engine.batch import Batch

#: Seconds between two changes of the display.
EVERY_S = 0.25


def in_notebook() -> bool:
    """Return True if the outputs of this process appear in a notebook."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return hasattr(get_ipython(), "kernel")


def at_prompt() -> bool:
    """Return True if somebody types at a terminal."""
    if not sys.stderr.isatty():
        return False
    if hasattr(sys, "ps1"):
        return True
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return get_ipython() is not None


@contextmanager
def announced() -> Iterator[None]:
    """Say that inner loops are compiled where somebody waits, in a notebook or at a prompt."""
    if in_notebook():
        from IPython.display import HTML, display

        shown: list[Any] = []
        try:
            with announcing(lambda line: shown.append(display(HTML(line), display_id=True))):
                yield
        finally:
            for handle in shown:
                handle.update(HTML(""))
    elif at_prompt():
        with announcing(lambda line: print(line, file=sys.stderr)):
            yield
    else:
        yield


@contextmanager
def watching(watch: Watch | None, progress: bool | None, new: bool) -> Iterator[Watch | None]:
    """Show progress where it is wanted, while a comparison runs.

    Parameters
    ----------
    watch : Watch or None
        What the caller brought; nothing else is shown then.
    progress : bool or None
        None for only in a notebook and at a prompt.
    new : bool
        True if the store is a temporary one, which is not worth a word.
    """
    if watch is not None or progress is False:
        yield watch
        return
    if in_notebook():
        shown = NotebookProgress(new)
        try:
            yield shown
        finally:
            shown.end()
        return
    if not (progress or at_prompt()):
        yield None
        return
    from rich.console import Console

    live = (Unnamed if new else Live)(Console(stderr=True))
    try:
        yield live
    finally:
        live.end()


class Unnamed(Live):
    """The view of a terminal without words about the store."""

    def opened(self, batch: Batch) -> None:
        """Say nothing."""


class NotebookProgress(Watch):
    """A bar of HTML that is redrawn in place; it needs no widgets."""

    def __init__(self, new: bool):
        self.new = new
        self.handle: Any = None
        self.drawn_at: float = 0.0

    def opened(self, batch: Batch) -> None:
        """Say which runs the store already holds."""
        self.about: list[str] = [] if self.new else of_store(batch)

    def begin(self, batch: Batch, dashboard: str | None) -> None:
        """Show the bar."""
        from IPython.display import HTML, display

        self.pace: Pace = Pace()
        self.handle = display(HTML(self.markup(batch)), display_id=True)

    def result(self, row: Row, batch: Batch) -> None:
        """Move the bar."""
        self.pace.ended(row["time_s"], self.compiling_s)
        self._draw(batch)

    def tick(self, batch: Batch, running: int) -> None:
        """Move the bar."""
        self._draw(batch)

    def interrupted(self, batch: Batch) -> None:
        """Leave the bar where it is."""
        super().interrupted(batch)
        self.handle = None

    def end(self) -> None:
        """Remove the bar."""
        from IPython.display import HTML

        if self.handle is not None:
            self.handle.update(HTML(""))

    def markup(self, batch: Batch) -> str:
        """Return bar and words as HTML."""
        left = self.pace.left(batch.tallies, self.compiling_s)
        said = told(batch, None, left) + self.meanwhile
        lines = "".join(f"<div>{escape(line)}</div>" for line in self.about)
        bar = f'<progress max="{batch.total}" value="{batch.done}"></progress>'
        return f"{lines}<div>{bar} {escape(said)}</div>"

    def _draw(self, batch: Batch) -> None:
        from IPython.display import HTML

        if self.handle is None or time.monotonic() < self.drawn_at + EVERY_S:
            return
        self.drawn_at = time.monotonic()
        self.handle.update(HTML(self.markup(batch)))
