"""Jobs that wait for a better place, and the places that they have turned down."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from fractions import Fraction

#: A job in the queue: what orders it, and its index.
Entry = tuple[int | Fraction, int]
#: Free GPUs of the servers on offer.
Place = tuple[int, ...]


@dataclass
class Waiting:
    """Jobs that are all offered the same place.

    A job that has turned a place down is not asked about it again, however often it is on offer.
    """

    _entries: list[Entry] = field(default_factory=list)
    _members: set[Entry] = field(default_factory=set)
    _joined: list[Entry] = field(default_factory=list)
    #: How many jobs need so many free GPUs on some server.
    _needs: dict[int, int] = field(default_factory=dict)
    #: By place: those not asked about it, sorted, and how many had joined when that was noted.
    _unasked: dict[Place, tuple[list[Entry], int]] = field(default_factory=dict)

    @property
    def least(self) -> int:
        """Free GPUs on some server, without which all jobs turn down any place."""
        return min(self._needs)

    def join(self, entry: Entry, needs: int) -> None:
        """Add a job that turns down any place unless some server has so many free GPUs."""
        self._needs[needs] = self._needs.get(needs, 0) + 1
        insort(self._entries, entry)
        self._members.add(entry)
        self._joined.append(entry)

    def leave(self, entry: Entry, needs: int) -> None:
        """Take a job away."""
        self._needs[needs] -= 1
        if not self._needs[needs]:
            del self._needs[needs]
        del self._entries[bisect_left(self._entries, entry)]
        self._members.discard(entry)

    def following(self, last: Entry) -> Entry | None:
        """Return the first job after an entry."""
        at = bisect_right(self._entries, last)
        return self._entries[at] if at < len(self._entries) else None

    def unasked(self, place: Place, last: Entry) -> Entry | None:
        """Return the first job after an entry that has not turned a place down."""
        known = self._unasked.get(place)
        if known is None:
            pending = self._entries.copy()
        else:
            pending, noted = known
            for entry in self._joined[noted:]:
                if entry in self._members:
                    insort(pending, entry)
        self._unasked[place] = pending, len(self._joined)
        at = bisect_right(pending, last)
        while at < len(pending) and pending[at] not in self._members:
            del pending[at]
        return pending[at] if at < len(pending) else None

    def decline(self, place: Place, entry: Entry) -> None:
        """Note that a job has turned down a place that it was asked about."""
        pending, _ = self._unasked[place]
        del pending[bisect_left(pending, entry)]
