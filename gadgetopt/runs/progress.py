"""Progress of a comparison: a live view on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.tolerance import Number
from gadgetopt.runs.rows import Row, decode_number
from gadgetopt.system.declaration import Sense
from gadgetopt.system.registry import problem

if TYPE_CHECKING:
    from gadgetopt.runs.engine.batch import Batch

#: Seconds between two plain lines.
LINE_S = 10.0


class Watch:
    """Receives the events of a comparison; this base class ignores them.

    Attributes
    ----------
    complete : bool
        True unless the comparison ended early.
    """

    complete = True

    def opened(self, batch: Batch) -> None:
        """Called once the store has been searched for finished runs."""

    def begin(self, batch: Batch, dashboard: str | None) -> None:
        """Called before the first run starts."""

    def result(self, row: Row, batch: Batch) -> None:
        """Called after a run is stored."""

    def tick(self, batch: Batch, running: int) -> None:
        """Called several times a second."""

    def interrupted(self, batch: Batch) -> None:
        """Called after Ctrl-C has ended the comparison."""
        self.complete = False


@dataclass(frozen=True)
class Worst:
    """The worst ratio so far: an objective against the best one known on its instance."""

    ratio: float
    instance: str
    method: str

    def __str__(self) -> str:
        return f"worst ratio so far >= {self.ratio:.3f} ({self.instance}, {self.method})"


class WorstRatio:
    """Keeps the worst ratio while results come in, in constant time per result.

    Ratios are to the best objective found so far, so the true ratio can only be worse.
    """

    def __init__(self) -> None:
        self._best: dict[str, Number] = {}
        self._worst: dict[str, tuple[Number, str, str]] = {}
        self.now: Worst | None = None

    def add(self, row: Row) -> None:
        """Compare a result with the others on its instance."""
        objective = decode_number(row["objective"])
        if objective is None:
            return
        which, sense = row["fingerprint"], problem(row["problem"]).sense
        best, worst = self._best.get(which), self._worst.get(which)
        if best is None or _better(objective, best, sense):
            self._best[which] = objective
        if worst is None or _better(worst[0], objective, sense):
            self._worst[which] = objective, row["instance"], row["method"]
        far, instance, method = self._worst[which]
        ratio = _ratio(far, self._best[which], sense)
        if ratio is not None and (self.now is None or ratio > self.now.ratio):
            self.now = Worst(ratio, instance, method)


def _better(a: Number, b: Number, sense: Sense) -> bool:
    return a < b if sense == "min" else a > b


def _ratio(objective: Number, best: Number, sense: Sense) -> float | None:
    small, large = (best, objective) if sense == "min" else (objective, best)
    if small < 0 or large < 0:
        return None
    if small == large:
        return 1.0
    return float(large / small) if small > 0 else float("inf")


class Pace:
    """Estimates the time left from the pace so far."""

    def __init__(self, done: int):
        self.started_s, self.before = time.monotonic(), done

    def left_s(self, done: int, total: int) -> float | None:
        """Return the estimated seconds left; None while there is no estimate."""
        ended = done - self.before
        if ended <= 0:
            return None
        return (time.monotonic() - self.started_s) / ended * (total - done)


def duration(seconds: float | None) -> str:
    """Return a duration in words, such as "3 min 05 s"."""
    if seconds is None:
        return "?"
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"


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


class Lines(Watch):
    """Prints a line every ten seconds."""

    def __init__(self, write: Any, every_s: float = LINE_S):
        self.write = write
        self.every_s = every_s
        self.link: str | None = None
        self.worst = WorstRatio()

    def opened(self, batch: Batch) -> None:
        """Print which runs the store already holds."""
        for line in of_store(batch):
            self.write(line)

    def begin(self, batch: Batch, dashboard: str | None) -> None:
        """Remember the start; a comparison that takes no time prints nothing."""
        self.pace, self.said = Pace(batch.done), time.monotonic()
        self.link = dashboard

    def result(self, row: Row, batch: Batch) -> None:
        """Update the worst ratio, and print a line if it is due."""
        self.worst.add(row)
        self._speak(batch, None)

    def tick(self, batch: Batch, running: int) -> None:
        """Print a line if it is due."""
        self._speak(batch, running)

    def _speak(self, batch: Batch, running: int | None) -> None:
        if time.monotonic() < self.said + self.every_s:
            return
        self.said = time.monotonic()
        parts = [f"{batch.done} of {batch.total} runs done"]
        if running is not None:
            parts.append(f"{running} running")
        if batch.failed:
            parts.append(f"{batch.failed} failed")
        parts.append(f"{duration(self.pace.left_s(batch.done, batch.total))} left")
        if self.worst.now is not None:
            parts.append(str(self.worst.now))
        if self.link is not None:
            parts.append(f"Dask's dashboard: {self.link}")
            self.link = None
        self.write(", ".join(parts))


class Live(Watch):
    """Shows a view that is redrawn in place."""

    def __init__(self, console: Any):
        self.console = console
        self.worst = WorstRatio()
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

        self.pace, self.dashboard = Pace(batch.done), dashboard
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
        self.bar = Progress(*columns, console=self.console)
        self.task = self.bar.add_task("", total=batch.total, completed=batch.done)
        self.view = View(console=self.console, transient=True, refresh_per_second=4)
        self.view.start()
        self._draw(batch, 0)

    def result(self, row: Row, batch: Batch) -> None:
        """Update the worst ratio."""
        self.worst.add(row)

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

        left = duration(self.pace.left_s(batch.done, batch.total))
        said = f"{running} running, {batch.failed} failed, {left} left"
        self.bar.update(self.task, completed=batch.done, description=said)
        lines = [Text(str(self.worst.now))] if self.worst.now is not None else []
        if self.dashboard is not None:
            lines.append(Text(f"Dask's dashboard: {self.dashboard}"))
        self.view.update(Group(self.bar, *lines))
