"""Runs on this machine: threads of this process that supervise them, without Dask."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from gadgetopt.runs.engine.supervisor import Place, end_process, work_at

#: Seconds that a thread has to end its solver process as the engine closes; it needs a moment only.
CLOSE_S = 5.0


@dataclass(eq=False)
class Task:
    """A call that a thread does, with what Dask calls a future: its status, once it has one.

    Attributes
    ----------
    status : str
        "pending", "finished" or "error".
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    status: str = "pending"


class Arrived:
    """The tasks that have ended, with what they returned or raised."""

    def __init__(self) -> None:
        # No SimpleQueue, see `SolverProcess`.
        self.queue: queue.Queue[tuple[Task, Any]] = queue.Queue()

    def add(self, task: Task) -> None:
        """Do nothing: a task comes by itself when it has ended."""


class Threads:
    """Threads that do tasks in the order in which they are given; they answer as a Dask client.

    Each has its own solver process, which ends with it. They are daemons: whatever happens to the
    client, none of them keeps its process alive.

    Parameters
    ----------
    count : int
        How many runs are done at a time.
    arrived : Arrived
        Receives the tasks that have ended.
    """

    status: str = "running"

    def __init__(self, count: int, arrived: Arrived):
        self.arrived = arrived
        self.place: Place = Place(count, threading.Event())
        self._tasks: queue.Queue[Task | None] = queue.Queue()
        self._threads: list[threading.Thread] = [
            threading.Thread(target=self._work, name=f"run {k}", daemon=True) for k in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> Task:
        """Give the threads a task; what tells Dask its name and its turn does not count here."""
        task = Task(function, arguments)
        self._tasks.put(task)
        return task

    def nthreads(self) -> dict[str, int]:
        """Return the number of threads."""
        return {"here": self.place.threads}

    def run(self, function: Callable[..., Any], *arguments: Any, **_: Any) -> None:
        """Call a function beside the tasks, at once."""
        function(*arguments)

    def cancel(self, _tasks: Iterable[Task]) -> None:
        """End all tasks soon: only a client that is closing takes any back."""
        self.place.over.set()

    def close(self) -> None:
        """End the tasks, the solver processes and the threads."""
        self.place.over.set()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(CLOSE_S)

    def _work(self) -> None:
        work_at(self.place)
        try:
            while (task := self._tasks.get()) is not None and not self.place.over.is_set():
                try:
                    result: Any = task.function(*task.arguments)
                    task.status = "finished"
                except BaseException as error:  # the client says what it was
                    result, task.status = error, "error"
                self.arrived.queue.put((task, result))
        finally:
            end_process()
