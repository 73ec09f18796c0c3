"""The supervisor: a thread that enforces the limits of a run from outside.

It is one of this process's (`gadgetopt.runs.engine.here`) or one of a Dask worker elsewhere.

Each thread owns one solver process and keeps it for many runs. A run that takes too long or too
much memory is stopped; a process that dies is replaced, and its run is tried once more.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError, NotLoaded, OtherCode
from gadgetopt.numbers.compiling import tell
from gadgetopt.runs.engine.budget import budget_s
from gadgetopt.runs.engine.elsewhere import words_of
from gadgetopt.runs.engine.machine import machine_memory_mb
from gadgetopt.runs.engine.process_handle import Crash, EndedIdle, SolverProcess
from gadgetopt.runs.engine.searches import search_of
from gadgetopt.runs.engine.work import (
    VERSIONS,
    Call,
    Failure,
    Work,
    unproved,
)
from gadgetopt.runs.engine.worker import dask_worker
from gadgetopt.search.alarm import default_grace_s

if TYPE_CHECKING:
    from gadgetopt.numbers.compiling import Event
    from gadgetopt.runs.engine.waiting import Waiting
    from gadgetopt.runs.rows import Row
    from gadgetopt.system.plugins import Shipment

#: Seconds between two checks of a solver process.
POLL_S = 0.05

#: Seconds for importing a method and reading its instance, in addition to the run's time.
MARGIN_S = 300.0

#: Seconds that a method has to return its incumbent when the whole comparison is interrupted.
FAREWELL_S = 3.0

#: Seconds that a search for a proof has at most to return what it proved when it is interrupted.
PROOF_FAREWELL_S = 5.0


#: How often a run is repeated because it ran out of memory in a process that had compiled loops.
MOST_SPOILT = 3

#: Share of the memory that all solves may use together if no limit is given.
MEMORY_SHARE = 0.9


@dataclass(frozen=True)
class Place:
    """Threads of this process that do the runs of one client.

    Attributes
    ----------
    threads : int
        How many runs are done at a time; they share the memory.
    over : threading.Event
        Set once nobody waits for the runs any more.
    """

    threads: int
    over: threading.Event


_threads = threading.local()
_interrupted: set[str] = set()


def interrupt(session: str) -> None:
    """End the runs of a comparison on this worker: current runs soon, waiting runs at once."""
    _interrupted.add(session)


def work_at(place: Place) -> None:
    """Have this thread's runs share a place with those of its other threads."""
    _threads.place = place


def versions() -> tuple[str, str]:
    """Return the versions that a worker must share with its clients."""
    return VERSIONS


def supervise_all(
    works: Sequence[Work], document: str, plugins: Shipment, patience_s: float
) -> list[Row | Failure]:
    """Do runs on one instance, one after another.

    Runs that would start after `patience_s` are returned undone: the result may be shorter than
    `works`.
    """
    out, until = [], time.monotonic() + patience_s
    for work in works:
        out.append(supervise(work, document, plugins))
        if time.monotonic() > until:
            break
    return out


def supervise(work: Work, document: str, plugins: Shipment = ()) -> Row | Failure:
    """Have this thread's solver process do a run; never fails and never hangs.

    Parameters
    ----------
    work : Work
    document : str
        The text of the instance's file.
    plugins : tuple
        The plug-ins that `work.plugins` identifies.
    """
    if work.versions != VERSIONS:
        raise WrongVersions(work.versions, VERSIONS)
    words = words_of(work)
    try:
        return _supervise(work, document, plugins, words)
    finally:
        words("over")


def _supervise(
    work: Work, document: str, plugins: Shipment, words: Callable[..., None]
) -> Row | Failure:
    """Try to do a run until it is done or there is a reason why not."""
    cancelled = _cancelled()
    crashes: list[str] = []
    spoilt = 0
    while True:
        if work.session in _interrupted or cancelled():
            return Failure("interrupted", "interrupted")
        try:
            process = _process(work.limits.threads, work.plugins)
        except OSError as error:
            return Failure(f"no solver process could be started: {error}")
        watch = Watch(work, process, cancelled, words=words)
        try:
            outcome: Row | Failure = watch.run(document, plugins)
            if not watch.spoilt(outcome) or spoilt == MOST_SPOILT:
                return outcome
            spoilt += 1
        except EndedIdle:
            continue
        except OtherCode:
            if process.orders == 1:
                raise
            # The process was started for an earlier run, and the code has changed since: start a
            # new one.
        except Crash as crash:
            if watch.kept is not None:
                return watch.crashed(crash)
            crashes.append(str(crash))
        finally:
            if watch.spent or not process.alive:
                process.stop()
                del _threads.process
        if len(crashes) == 2:
            first, second = crashes
            also = "" if first == second else f", before {first}"
            return Failure(f"crashed twice: {second}{also}", time_s=watch.elapsed)


class WrongVersions(InputError):
    """A worker runs another version of gadgetopt or Python than its client."""

    client: tuple[str, str]
    worker: tuple[str, str]

    def __init__(self, client: tuple[str, str], worker: tuple[str, str]):
        super().__init__(client, worker)
        self.client, self.worker = client, worker

    def __str__(self) -> str:
        said = [f"gadgetopt {v} on Python {python}" for v, python in (self.worker, self.client)]
        return f"its workers have {said[0]}, expected {said[1]} as here"


class Watch:
    """One attempt at one run, or one call.

    Parameters
    ----------
    work : Work or Call
    process : SolverProcess
    cancelled : callable
        Returns True if nobody waits for the run any more.
    farewell_s : float
        Seconds that a method has to return its incumbent when its session is interrupted.
    alone : bool
        True if the machine has no other solves to do, so that this one may use all the memory.
    proving : str
        Words such as "proving", to say on standard error every few seconds what a search for a
        proof does; empty to say nothing.
    words : callable
        Told what is done beside the run, for a client elsewhere.
    """

    def __init__(
        self,
        work: Work | Call,
        process: SolverProcess,
        cancelled: Callable[[], bool],
        farewell_s: float = FAREWELL_S,
        *,
        alone: bool = False,
        proving: str = "",
        words: Callable[..., None] = lambda *words: None,
    ):
        self.work = work
        self.process = process
        self.cancelled = cancelled
        self.farewell_s = farewell_s
        self.alone = alone
        self.proving = proving
        self.words = words
        self.lines = ExitStack()
        self.waiting: Waiting | None = None  # for a proof
        self.phase: str = "start"
        self.since: float = time.monotonic()
        self.elapsed: float = 0.0
        self.asked: str | None = None  # the limit because of which the method was asked to stop
        self.late: bool = False  # True if the method had to be ended, before its bound was proved
        self.until: float = math.inf  # when it has to have stopped, on the clock of the run
        self.give_up_at: float | None = None  # the same at Ctrl-C, on the wall's clock
        self.kept: Row | None = None  # the row of a run whose bound is being proved
        self.compiling_since: float | None = None  # the clock stands still while loops are compiled
        self.compiled: bool = False
        self.spent: bool = False  # True if the process should not be used for another run

    @cached_property
    def limit_mb(self) -> float:
        """Memory that the process may use."""
        if self.work.limits.memory_mb is not None:
            return self.work.limits.memory_mb
        return MEMORY_SHARE * machine_memory_mb() if self.alone else _share_mb()

    def run(self, document: str = "", plugins: Shipment = ()) -> Any:
        """Give the process its work, a run with its instance and plug-ins; return the answer.

        Returns
        -------
        Row, Answer or Failure
        """
        if isinstance(self.work, Call):
            self.process.send(self.work)
        else:
            self.process.order(self.work, document, plugins)
        with self.lines:
            return self._answer()

    def _answer(self) -> Any:
        """Wait for the process's answer, and look at its limits meanwhile."""
        while True:
            message = self.process.message(POLL_S)
            now = time.monotonic()
            seconds = (self.compiling_since or now) - self.since
            if self.phase == "solve":
                self.elapsed = seconds
            if message is None:
                failure = self._look(seconds)
                if failure is not None:
                    self.spent = True
                    return failure if self.kept is None else unproved(self.kept, failure.reason)
                continue
            match message:
                case ("begun",):
                    self.phase, self.since = "solve", now
                case ("numba", event, spent_s):
                    self._at_numba(event, spent_s, now)
                case ("ended", overstayed):
                    self.phase, self.late = "judge", bool(overstayed)
                case ("solved", row):
                    if self.give_up_at is not None:  # before there was a proof to search for
                        self.spent, why = True, "interrupted before the search for a proof"
                        return unproved(self._in_time(row), why)
                    self._begin_proof(self._in_time(row), now)
                case ("doing", doing) if self.waiting is not None:
                    self.waiting.at(str(doing))
                    self.words("doing", str(doing))
                case ("proved", row):
                    self.kept = self._in_time(row)
                case ("row", row):
                    return self._finish(row)
                case ("answer", answer):
                    return answer
                case ("failed", reason) if self.kept is not None:
                    self.spent = True
                    return unproved(self.kept, f"the search for a proof failed: {reason}")
                case ("failed", reason):
                    self.spent = True
                    return Failure(str(reason), time_s=self.elapsed)
                case ("other code", here):
                    self.spent = True
                    raise OtherCode(self.work.code or "unknown", str(here))
                case ("not loaded", reason):
                    self.spent = True
                    raise NotLoaded(str(reason))

    def crashed(self, crash: Crash) -> Row | Failure:
        """Return what a process that has died leaves: the row of a run that was being proved."""
        if self.kept is not None:
            return unproved(self.kept, f"the search for a proof crashed{self._step}: {crash}")
        return Failure(f"crashed: {crash}", time_s=self.elapsed)

    def _begin_proof(self, row: Row, now: float) -> None:
        """Take the row of a run, whose bound is proved from now on; limits count anew."""
        self.phase, self.since, self.kept = "certify", now, row
        self.late, self.asked = self.late or self.asked is not None, None
        most_s = budget_s(self.work.certify, row["time_s"])
        told = search_of(self.work.session, most_s)
        self.words("proving", most_s)
        if self.proving:
            from gadgetopt.runs.engine.waiting import said_while_waiting

            told = said_while_waiting(self.proving, most_s)
        self.waiting = self.lines.enter_context(told)

    @property
    def _step(self) -> str:
        doing = "" if self.waiting is None else self.waiting.doing
        return f" while {doing}" if doing else ""

    def _at_numba(self, event: Event, spent_s: float, now: float) -> None:
        """Stop the clock while the process compiles inner loops or reads them; pass the word on."""
        self.compiled = self.compiled or event == "compiling"
        if event == "reading":
            self.compiling_since = now
        elif event != "compiling":
            self.compiling_since = None
            self.since += spent_s
        tell(event, spent_s)
        if event in ("compiling", "compiled"):
            self.words(event, spent_s)

    def spoilt(self, outcome: Any) -> bool:
        """Return True if the compiler's memory, which a next process will not need, ended a run."""
        memory = isinstance(outcome, Failure) and outcome.limit_hit == "memory_mb"
        return memory and self.compiled

    def _finish(self, row: Row) -> Row:
        # An interrupted method may have left threads behind, and a large one may not have freed its
        # memory: the next run must not suffer from it.
        stopped = self.late or self.asked is not None
        self.spent = stopped or self.process.memory_mb() > self.limit_mb / 2
        return self._in_time(row)

    def _in_time(self, row: Row) -> Row:
        """Return the row of a method that was stopped as by Ctrl-C with the limit that did it."""
        stopped = self.late or self.asked == "time_s"
        if stopped and row["limit_hit"] == "interrupted":
            return {**row, "limit_hit": "time_s"}
        return row

    def _look(self, seconds: float) -> Failure | None:
        """Stop the process if it has exceeded a limit; return the reason."""
        if not self.process.alive and self.process.silent():
            self.process.ended(self.phase)
        if self._compiles_for_ever():
            return Failure(f"compiled its loops for more than {MARGIN_S:.0f} s")
        if self.compiling_since is None and self.process.memory_mb() > self.limit_mb:
            reason = f"took more than {self.limit_mb:.0f} MB of memory"
            if self.kept is not None:
                reason = f"the search for a proof {reason}{self._step}"
            return Failure(reason, "memory_mb", self.elapsed)
        if self.cancelled():
            return Failure("interrupted", "interrupted", self.elapsed)
        if self.work.session in _interrupted and self._gives_up():
            return Failure(f"interrupted{self._step}", "interrupted", self.elapsed)
        if self.phase == "certify" and self.kept is not None:
            return self._look_at_proof(seconds, self.kept)
        time_s, grace_s = self.work.limits.time_s, self.work.grace_s
        if time_s is None:
            return None
        if self.phase == "start":
            late = seconds > time_s + grace_s + MARGIN_S
            return Failure(f"did not start within {seconds:.0f} s") if late else None
        if seconds <= time_s + grace_s:
            return None
        judging = self.phase == "judge"
        what = "was not judged within its limit" if judging else "ignored its time limit"
        return Failure(f"{what} of {time_s:g} s; stopped after {seconds:.3g} s", "time_s", seconds)

    def _look_at_proof(self, seconds: float, kept: Row) -> Failure | None:
        """End a search for a proof within its grace period; the first half is for its own end."""
        more_s = budget_s(self.work.certify, kept["time_s"])
        half_s = default_grace_s(more_s) / 2
        if seconds > more_s + half_s and self._ask("time_s", half_s, seconds):
            stopped = f"the search for a proof was stopped after {seconds:.0f} s"
            return Failure(f"{stopped}{self._step}", "time_s")
        return None

    def _compiles_for_ever(self) -> bool:
        since = self.compiling_since
        return since is not None and time.monotonic() > since + MARGIN_S

    def _gives_up(self) -> bool:
        """Ask the method, or the search for a proof, to stop; return True if its time is over."""
        now = time.monotonic()
        if self.give_up_at is None:
            proving = self.phase == "certify"
            patience_s = min(self.farewell_s, PROOF_FAREWELL_S) if proving else self.farewell_s
            self.give_up_at = now + patience_s
            self._interrupt("interrupted")
        return now > self.give_up_at

    def _ask(self, why: str, patience_s: float, seconds: float) -> bool:
        """Ask the method to stop, once; return True if its time to do so is over."""
        if self.asked is None:
            self.until = seconds + patience_s
            self._interrupt(why)
        return seconds > self.until

    def _interrupt(self, why: str) -> None:
        if self.asked is None:
            self.asked = why
            self.process.interrupt()


def _process(threads: int, plugins: str) -> SolverProcess:
    """Return the solver process of this thread, one without other plug-ins."""
    process: SolverProcess | None = getattr(_threads, "process", None)
    fits = process is not None and process.threads == threads
    if process is None or not process.alive or not fits or process.plugins not in (None, plugins):
        if process is not None:
            process.stop()
        process = _threads.process = SolverProcess(threads)
    return process


def end_process() -> None:
    """End the solver process of this thread, if it has one."""
    process: SolverProcess | None = _threads.__dict__.pop("process", None)
    if process is not None:
        process.stop()


def _cancelled() -> Callable[[], bool]:
    """Return a function that is True once nobody waits for this thread's run any more."""
    place: Place | None = getattr(_threads, "place", None)
    if place is not None:
        return place.over.is_set
    worker = dask_worker()
    if worker is None:
        return lambda: False
    try:
        key = worker.get_current_task()
    except (ValueError, KeyError):
        return lambda: False

    def asked() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return asked


def _share_mb() -> float:
    """Return the memory that one solve may use if no limit is given."""
    limit, threads, worker = machine_memory_mb(), 1, dask_worker()
    place: Place | None = getattr(_threads, "place", None)
    if place is not None:
        threads = place.threads
    elif worker is not None:
        own = worker.memory_manager.memory_limit
        limit, threads = own / 1e6 if own else limit, worker.state.nthreads
    return float(MEMORY_SHARE * limit / threads)
