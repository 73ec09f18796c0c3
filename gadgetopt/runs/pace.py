"""How long a batch takes yet: medians of the runs that ran, method by method."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from gadgetopt.runs.store import Store
from gadgetopt.runs.tally import MOST_TIMES, Tally, Times

#: Seconds that every run takes beside its own time.
OVERHEAD_S = 0.05


@dataclass(frozen=True)
class Left:
    """An estimate of the time left.

    Attributes
    ----------
    seconds : float
    whole : bool
        False if nothing is known of some method, as none of its runs has ended: it takes longer.
    """

    seconds: float = 0.0
    whole: bool = True

    def __str__(self) -> str:
        if self.whole:
            return duration(self.seconds)
        return f"at least {duration(self.seconds)}" if self.seconds else "unknown"


def run_times(store: Store, most_s: float | None) -> dict[str, Times]:
    """Return the seconds of the last stored runs of each system's methods, `most_s` at most."""
    out: dict[str, Times] = {}
    for row in store.query("SELECT problem, method, time_s FROM runs ORDER BY position"):
        if not isinstance(row["time_s"], int | float):  # a damaged row
            continue
        own = out.setdefault(row["problem"], {})
        times = own.setdefault(row["method"], deque(maxlen=MOST_TIMES))
        times.append(row["time_s"] if most_s is None else min(row["time_s"], most_s))
    return out


def total(parts: Iterable[Left]) -> Left:
    """Return the time left of several parts together."""
    known = list(parts)
    return Left(sum(p.seconds for p in known), all(p.whole for p in known))


def expected(to_do: Mapping[str, int], times: Times) -> Left:
    """Return how many seconds of runs are left: of each method the median of those that ran."""
    runs = {method: count for method, count in to_do.items() if count}
    ran = {method: count for method, count in runs.items() if times.get(method)}
    seconds = sum(count * (median(times[method]) + OVERHEAD_S) for method, count in ran.items())
    return Left(seconds, len(ran) == len(runs))


class Pace:
    """Estimates the time left, in all and of each system, from the runs that have ended."""

    def __init__(self) -> None:
        self.started_s: float = time.monotonic()
        self._compiled_before_s = 0.0
        self._running = False

    def ended(self, time_s: float, compiling_s: float = 0.0) -> None:
        """Take notice of the end of a run: the first tells when processes were ready for it."""
        if not self._running:
            self._running = True
            self.started_s = max(self.started_s, time.monotonic() - time_s - OVERHEAD_S)
            self._compiled_before_s = compiling_s

    def left(
        self, tallies: Mapping[str, Tally], compiling_s: float = 0.0
    ) -> dict[str, Left] | None:
        """Return the estimated seconds left of each system; None while no run has ended.

        Of the work so far, `compiling_s` belongs to no run and is not expected again.
        """
        ended = sum(tally.ended for tally in tallies.values())
        if not ended:
            return None
        spent_s = sum(tally.seconds for tally in tallies.values()) + OVERHEAD_S * ended
        spent_s += compiling_s - self._compiled_before_s
        # Runs at a time, measured; so seconds of runs become seconds of the clock.
        clock = (time.monotonic() - self.started_s) / spent_s
        out = {}
        for name, tally in tallies.items():
            runs = expected(tally.to_do, tally.times)
            out[name] = Left(clock * runs.seconds, runs.whole)
        return out


def in_words(left: Mapping[str, Left] | None) -> str:
    """Return the time left of all systems: "2 min 05 s left", or that it is unknown."""
    said = "unknown" if left is None else str(total(left.values()))
    return "time left unknown" if said == "unknown" else f"{said} left"


def duration(seconds: float) -> str:
    """Return a duration in words, such as "3 min 05 s"."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {whole % 60:02d} s" if minutes else f"{whole} s"
