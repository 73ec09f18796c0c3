"""Event-driven simulation of a running cluster under contention.

The algorithms place jobs one by one and need to know when GPUs come free. A job placed later can
slow down an earlier one, so a completion predicted at the start of a job may be wrong. The
simulation therefore follows the true rates phi_j(r, p), equations (6)-(9), as time advances.

Only spread jobs change their rate, and only when a spread job starts or completes on one of their
servers. The cost of a start or a completion is the number of servers of the job times the spread
jobs on them. Jobs due at the same instant share one heap entry.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from ..instance import SjfBcoInstance


class SimulationClock:
    """Simulated time; it only moves forward, from completion to completion.

    Attributes
    ----------
    now : int
        The current instant, in slots.
    completion : list of int or None
        C_j of completed jobs, else None.
    """

    def __init__(self, instance: SjfBcoInstance):
        jobs = len(instance.jobs)
        self.now: int = 0
        self.completion: list[int | None] = [None] * jobs
        self._rate_of = instance.rates.rate
        self._local_slots = instance.rates.local_slots
        self._servers: list[Sequence[int]] = [()] * jobs
        self._level = [0] * jobs
        self._rate = [0] * jobs
        self._remaining = list(instance.rates.iterations)
        self._since = [0] * jobs  # instant up to which _remaining is up to date
        # Predicted completions: jobs by instant, and a heap of the instants. Many jobs share one.
        # An entry is stale when _due says otherwise.
        self._due_at: dict[int, list[int]] = {}
        self._instants: list[int] = []
        self._due: list[int | None] = [None] * jobs
        self._spread_on: list[set[int]] = [set() for _ in instance.server_gpus]
        self._count = [0] * len(self._spread_on)  # len of each, as of the last settlement
        # Changes of spread jobs at this instant: servers affected, and new jobs.
        self._touched: set[int] = set()
        self._started: list[int] = []

    def start(self, j: int, servers: Sequence[int]) -> None:
        """Start job j now on these distinct servers."""
        self._servers[j] = servers
        if len(servers) == 1:
            self._set_due(j, self._local_slots[j])
            return
        self._since[j] = self.now
        self._touched.update(servers)
        for s in servers:
            self._spread_on[s].add(j)
        self._started.append(j)

    def advance(self) -> list[int]:
        """Advance to the next completions and return these jobs; empty if there are none."""
        self._settle()
        due = self._due
        finished: list[int] = []
        while self._instants and not finished:
            instant = heapq.heappop(self._instants)
            for j in self._due_at.pop(instant):
                if due[j] == instant:
                    due[j] = None
                    self.completion[j] = self.now = instant
                    finished.append(j)
        for j in finished:
            if len(self._servers[j]) > 1:
                self._touched.update(self._servers[j])
                for s in self._servers[j]:
                    self._spread_on[s].discard(j)
        return finished

    def _settle(self) -> None:
        """Update levels and rates after the starts and completions of this instant."""
        if not self._touched:
            return
        level, spread_on, count = self._level, self._spread_on, self._count
        before_of = {s: count[s] for s in self._touched}
        for s in self._touched:
            count[s] = len(spread_on[s])
        count_on = count.__getitem__
        changed = set(self._started)
        for j in self._started:
            level[j] = max(map(count_on, self._servers[j]))
        for s, before in before_of.items():
            after = count[s]
            if after > before:
                for i in spread_on[s]:
                    if level[i] < after:
                        level[i] = after
                        changed.add(i)
            elif after < before:
                for i in spread_on[s]:
                    if level[i] == before:
                        level[i] = max(map(count_on, self._servers[i]))
                        changed.add(i)
        for j in changed:
            rate = self._rate_of(j, len(self._servers[j]), level[j])
            if rate != self._rate[j]:
                self._set_rate(j, rate)
        self._touched.clear()
        self._started.clear()

    def _set_rate(self, j: int, rate: int) -> None:
        """Credit job j with its work so far and predict its completion at the new rate."""
        self._remaining[j] -= self._rate[j] * (self.now - self._since[j])
        self._since[j] = self.now
        self._rate[j] = rate
        self._set_due(j, -(-self._remaining[j] // rate) if rate else None)

    def _set_due(self, j: int, slots: int | None) -> None:
        """Set the predicted completion of job j, in slots from now; None if it stalls."""
        if slots is None:
            self._due[j] = None
            return
        due = self._due[j] = self.now + slots
        if due in self._due_at:
            self._due_at[due].append(j)
        else:
            self._due_at[due] = [j]
            heapq.heappush(self._instants, due)
