"""The searches for proofs at work, here or in processes watched from here, for whoever waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gadgetopt.runs.engine.waiting import Waiting
from gadgetopt.system.printable import printable_line

_followed: dict[str, Searches] = {}  # by session


class Searches:
    """The searches for proofs of one session that are at work."""

    def __init__(self) -> None:
        self.at_work: list[Waiting] = []

    def __str__(self) -> str:
        """Return words such as "proving 2: growing a tree on direct, 12 s of 45 s", or nothing.

        The step and the seconds are those of the search that has been at work longest.
        """
        at_work = tuple(self.at_work)  # other threads begin and end searches meanwhile
        if not at_work:
            return ""
        return printable_line(f"proving {len(at_work)}{at_work[0].progress}")


@contextmanager
def following(session: str) -> Iterator[Searches]:
    """Have the searches of a session known while the block lasts."""
    searches = _followed[session] = Searches()
    try:
        yield searches
    finally:
        del _followed[session]


def is_followed(session: str) -> bool:
    """Return True if somebody in this process follows a session."""
    return session in _followed


@contextmanager
def search_of(session: str, most_s: float) -> Iterator[Waiting]:
    """Make the block's search known to who follows its session, if anybody does.

    Parameters
    ----------
    most_s : float
        Seconds that the search may take.

    Yields
    ------
    Waiting
        To be told the step that is at work.
    """
    search, searches = Waiting("proving", most_s), _followed.get(session, Searches())
    searches.at_work.append(search)
    try:
        yield search
    finally:
        searches.at_work.remove(search)
