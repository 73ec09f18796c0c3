"""Progress of a comparison: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.compiling import SAID, Event
from gadgetopt.runs.engine.searches import Searches
from gadgetopt.runs.pace import Left, Pace, duration, in_words
from gadgetopt.runs.rows import Row
from gadgetopt.runs.tally import Tally

if TYPE_CHECKING:
    from rich.live import Live as LiveView
    from rich.progress import TaskID

    from gadgetopt.runs.engine.batch import Batch
    from gadgetopt.runs.grid import Unreadable

logger: logging.Logger = logging.getLogger(__name__)

#: Seconds between two plain lines, at least.
LINE_S = 10.0

#: Systems that a plain line names.
MOST_NAMED = 3

#: Systems that the live view shows.
MOST_SYSTEMS = 12


#: Files that cannot be read that are named.
MOST_UNREADABLE = 10


class Watch:
    """Receives the events of a comparison; this base class ignores them.

    Attributes
    ----------
    complete : bool
        True unless the comparison ended early.
    prints : bool
        True if what is left out is printed beside the results; otherwise it is a warning.
    left_out : mapping of (system, method) to int
        Numbers of instances that methods do not support.
    unreadable : sequence of Unreadable
        Files among the instances that cannot be read.
    compiling_s : float
        Seconds in which inner loops were compiled: work that belongs to no run.
    searches : Searches
        The searches for proofs that are at work.
    """

    complete: bool = True
    prints = False
    left_out: Mapping[tuple[str, str], int] = {}
    unreadable: Sequence[Unreadable] = ()
    compiling_s: float = 0.0
    searches: Searches = Searches()
    _compilers = 0

    def cannot_read(self, files: Sequence[Unreadable]) -> None:
        """Called first with the files among the instances that cannot be read."""
        self.unreadable = files
        for line in unreadable_lines(list(map(str, files))):
            logger.warning("%s", line)

    def opened(self, batch: Batch) -> None:
        """Called once the store has been searched for finished runs."""

    def begin(self, batch: Batch, dashboard: str | None) -> None:
        """Called before the first run starts."""

    def result(self, row: Row, batch: Batch) -> None:
        """Called after a run is stored."""

    def tick(self, batch: Batch, running: int) -> None:
        """Called several times a second, perhaps from another thread, but never beside `result`."""

    def compiling(self, event: Event, seconds: float) -> None:
        """Called, from any thread, with what is done for inner loops.

        Parameters
        ----------
        event : str
            See `gadgetopt.numbers.compiling.listening`.
        seconds : float
            That it took, which are no run's.
        """
        if event == "compiling":
            self._compilers += 1
        elif event == "compiled":
            self._compilers -= 1
            self.compiling_s += seconds

    @property
    def beside(self) -> list[str]:
        """What is done beside the runs: loops are compiled, bounds are proved."""
        return [
            words for words in (SAID if self._compilers > 0 else "", str(self.searches)) if words
        ]

    @property
    def meanwhile(self) -> str:
        """What is done beside the runs, as the end of a line."""
        return "".join(f", {words}" for words in self.beside)

    def interrupted(self, batch: Batch) -> None:
        """Called after Ctrl-C has ended the comparison."""
        self.complete = False

    def leave_out(self, left_out: Mapping[tuple[str, str], int]) -> None:
        """Called at the end with the methods that do not support some of the instances."""
        self.left_out = left_out
        if left_out and not self.prints:
            methods = ", ".join(sorted({method for _, method in left_out}))
            logger.warning("left out for instances that they do not support: %s", methods)


def unreadable_lines(files: Sequence[str]) -> list[str]:
    """Return lines on files that cannot be read, the first of them by name."""
    more = len(files) - MOST_UNREADABLE
    lines = [f"cannot be used: {file}" for file in files[:MOST_UNREADABLE]]
    return [*lines, f"cannot be used: {more} more files"] if more > 0 else lines


def of_store(batch: Batch) -> list[str]:
    """Return lines that name the store and count the runs taken from it and not taken."""
    store = batch.store
    if store.path is None:
        return []
    if store.new:
        return [f"new store {store.path}"]
    age = "" if batch.age_days is None else f" (oldest {days(batch.age_days)})"
    lines = [f"{batch.taken} of {batch.total} runs taken from {store.path}{age}"]
    if batch.of_other_code:
        runs = "1 run" if batch.of_other_code == 1 else f"{batch.of_other_code} runs"
        lines.append(f"{runs} in {store.path} made by other or unknown code, to be run again")
    return lines


def days(count: float) -> str:
    """Return an age in words; in days from two days on."""
    return f"{count:.0f} days" if count >= 2 else duration(max(0.0, 86_400 * count))


def told(batch: Batch, running: int | None, left: Mapping[str, Left] | None) -> str:
    """Return how far a batch is, in one line."""
    tallies = batch.tallies.values()
    errors, limits = (sum(getattr(t, what) for t in tallies) for what in ("errors", "limits"))
    closed, instances = sum(len(t.closed) for t in tallies), sum(t.instances for t in tallies)
    parts = [f"{batch.done} of {batch.total} runs done"]
    if running is not None:
        parts.append(f"{running} running")
    if errors:
        parts.append("1 error" if errors == 1 else f"{errors} errors")
    if limits:
        parts.append(f"{limits} hit a limit")
    parts.append(f"{closed} of {instances} instances closed")
    return ", ".join([*parts, in_words(left)])


def to_do(tallies: Mapping[str, Tally]) -> str:
    """Return how many runs of each system are to be done, where there are several systems."""
    left = {name: t.total - t.done for name, t in tallies.items() if t.done < t.total}
    if len(tallies) < 2 or not left:
        return ""
    named = [f"{name} {count}" for name, count in left.items()]
    more = len(named) - MOST_NAMED
    return f", to do: {', '.join(named[:MOST_NAMED])}" + (f" and {more} more" if more > 0 else "")


class Lines(Watch):
    """Prints lines at growing distances: the next one when a tenth more time has passed.

    Parameters
    ----------
    write : callable
        Is given each line.
    every_s : float
        Seconds between two lines at least.
    """

    def __init__(self, write: Any, every_s: float = LINE_S):
        self.write = write
        self.every_s = every_s
        self.link: str | None = None

    def opened(self, batch: Batch) -> None:
        """Print which runs the store already holds."""
        for line in of_store(batch):
            self.write(line)

    def begin(self, batch: Batch, dashboard: str | None) -> None:
        """Remember the start; a comparison that takes no time prints nothing."""
        self.pace: Pace = Pace()
        self.due_s: float = time.monotonic() + self.every_s
        self.link = dashboard

    def result(self, row: Row, batch: Batch) -> None:
        """Print a line if it is due."""
        self.pace.ended(row["time_s"], self.compiling_s)
        self._speak(batch, None)

    def tick(self, batch: Batch, running: int) -> None:
        """Print a line if it is due."""
        self._speak(batch, running)

    def _speak(self, batch: Batch, running: int | None) -> None:
        now_s = time.monotonic()
        if now_s < self.due_s:
            return
        self.due_s = now_s + max(self.every_s, (now_s - self.pace.started_s) / 10)
        left = self.pace.left(batch.tallies, self.compiling_s)
        line = told(batch, running, left) + to_do(batch.tallies) + self.meanwhile
        if self.link is not None:
            line += f", Dask's dashboard: {self.link}"
            self.link = None
        self.write(line)


class Live(Watch):
    """Shows a view that is redrawn in place: all runs, and a line per system."""

    pace: Pace

    def __init__(self, console: Any):
        self.console = console
        self.bar: Any = None
        self.dashboard: str | None = None

    def opened(self, batch: Batch) -> None:
        """Print which runs the store already holds."""
        for line in of_store(batch):
            self.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def begin(self, batch: Batch, dashboard: str | None) -> None:
        """Show the view."""
        from rich.live import Live as View
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self.pace, self.dashboard = Pace(), dashboard
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=self.console)
        self.task: TaskID = self.bar.add_task("", total=batch.total, completed=batch.done)
        self.view: LiveView = View(console=self.console, transient=True, refresh_per_second=4)
        self.view.start()
        self._draw(batch, 0)

    def result(self, row: Row, batch: Batch) -> None:
        """Take notice of the run's time."""
        self.pace.ended(row["time_s"], self.compiling_s)

    def tick(self, batch: Batch, running: int) -> None:
        """Update the view."""
        self._draw(batch, running)

    def end(self) -> None:
        """Remove the view."""
        if self.bar is not None:
            self.view.stop()

    def _draw(self, batch: Batch, running: int) -> None:
        from rich.console import Group
        from rich.text import Text

        left = self.pace.left(batch.tallies, self.compiling_s)
        said = f"{running} running, {in_words(left)}"
        self.bar.update(self.task, completed=batch.done, description=said)
        lines = [*map(Text, self.beside), _systems(batch.tallies, left)]
        if self.dashboard is not None:
            lines.append(Text(f"Dask's dashboard: {self.dashboard}"))
        self.view.update(Group(self.bar, *lines))


def _systems(tallies: Mapping[str, Tally], left: Mapping[str, Left] | None) -> Any:
    """Return a table with a row per system, those that are not finished first."""
    from rich.table import Table

    out = Table(box=None, padding=(0, 2, 0, 0))
    out.add_column("system")
    for head in ("done", "errors", "limits hit", "closed", "left"):
        out.add_column(head, justify="right", no_wrap=True)
    unfinished_first = sorted(tallies, key=lambda name: tallies[name].done == tallies[name].total)
    for name in unfinished_first[:MOST_SYSTEMS]:
        t = tallies[name]
        out.add_row(
            name,
            f"{t.done}/{t.total}",
            f"[red]{t.errors}[/]" if t.errors else "",
            f"{t.limits}" if t.limits else "",
            f"{len(t.closed)}/{t.instances}",
            "" if t.done == t.total else "unknown" if left is None else str(left[name]),
        )
    if len(tallies) > MOST_SYSTEMS:
        out.add_row(f"and {len(tallies) - MOST_SYSTEMS} more")
    return out
