"""What workers elsewhere do beside the runs, told to their client by Dask's events.

Loops that are compiled and searches for proofs are then known there as those of this machine are
(`gadgetopt.numbers.compiling`, `gadgetopt.runs.engine.searches`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.compiling import tell
from gadgetopt.runs.engine.searches import is_followed, search_of
from gadgetopt.runs.engine.worker import dask_worker

if TYPE_CHECKING:
    from gadgetopt.runs.engine.waiting import Waiting
    from gadgetopt.runs.engine.work import Work

Words = Callable[..., None]


def topic(session: str) -> str:
    """Return the topic of Dask's events that the words of a session go by."""
    return f"gadgetopt-{session}"


def words_of(work: Work) -> Words:
    """Return a function that tells a run's client what is done beside it, from a worker's thread.

    It tells nothing where the client is in this process, and so knows already.
    """
    worker = None if is_followed(work.session) else dask_worker()
    if worker is None:
        return _nothing

    def told(*words: str | float) -> None:
        worker.log_event(topic(work.session), [work.key, *words])

    return told


def _nothing(*_words: str | float) -> None:
    """Tell nobody."""


@dataclass
class _Beside:
    """What is done beside a run."""

    compiling: bool = False
    search: Waiting | None = None
    known: ExitStack = field(default_factory=ExitStack)


class Heard:
    """Receives the words of workers, and has what they do known here until it is over.

    Parameters
    ----------
    session : str
    """

    def __init__(self, session: str):
        self.session = session
        self._runs: dict[str, _Beside] = {}
        self._changing = threading.RLock()  # events come in a thread of Dask's

    def __call__(self, event: tuple[float, Any]) -> None:
        """Take notice of an event."""
        _, (key, what, *rest) = event
        with self._changing:
            run = self._runs.setdefault(key, _Beside())
            match what:
                case "compiling" | "compiled":
                    run.compiling = what == "compiling"
                    tell(what, *rest)
                case "proving":
                    run.search = run.known.enter_context(search_of(self.session, *rest))
                case "doing" if run.search is not None:
                    run.search.at(*rest)
                case "over":
                    self.over(key)

    def over(self, key: str) -> None:
        """Forget what was done beside a run, whose worker may have died meanwhile."""
        with self._changing:
            run = self._runs.pop(key, _Beside())
            if run.compiling:
                tell("compiled")
            run.known.close()
