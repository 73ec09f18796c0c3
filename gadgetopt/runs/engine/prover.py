"""Searches for proofs of the bounds of finished runs, in a supervised process."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from gadgetopt.runs.engine.budget import budget_s
from gadgetopt.runs.engine.process_handle import Crash, EndedIdle, SolverProcess
from gadgetopt.runs.engine.supervisor import Watch, interrupt
from gadgetopt.runs.engine.work import Failure, Work, unproved
from gadgetopt.runs.rows import Row, StoredRun, to_row
from gadgetopt.search.alarm import default_grace_s
from gadgetopt.system.files import Document, document_text
from gadgetopt.system.plugins import digest_of, in_use
from gadgetopt.system.result import Limits


class Prover:
    """Searches for the proofs of one run after another, each within its time and memory.

    Parameters
    ----------
    within : str
        Seconds for each run, or a multiple of its time such as `10x`.
    memory_mb : float or None
        Memory that a search may take; None for a share of the machine's.
    asked : threading.Event
        Set by Ctrl-C: what was proved by then is returned soon.
    """

    def __init__(self, within: str, memory_mb: float | None, asked: Event):
        self.within = within
        self.memory_mb = memory_mb
        self.asked = asked
        self.session: str = uuid.uuid4().hex
        self.process: SolverProcess | None = None

    def proved(self, run: StoredRun, document: Document) -> Row:
        """Return the row of a run with what can be proved of its bound, or why nothing can."""
        work = self._work(run)
        while True:
            process = self._started(run.limits.threads)
            words = f"proving {run.result.instance}, {run.result.method}"
            watch = Watch(work, process, self._given_up, alone=True, proving=words)
            try:
                outcome = watch.run(document_text(document), in_use())
            except EndedIdle:
                continue
            except Crash as crash:
                outcome = watch.crashed(crash)
            finally:
                if watch.spent or not process.alive:
                    self.stop()
            if isinstance(outcome, Failure):  # before the search began
                return unproved(to_row(run), outcome.reason)
            row: Row = outcome
            return row

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.stop()
            self.process = None

    def _work(self, run: StoredRun) -> Work:
        result = run.result
        seconds = budget_s(self.within, result.time_s)
        return Work(
            key=run.key,
            session=self.session,
            problem=result.problem,
            fingerprint=result.fingerprint,
            spec=result.method,
            limits=Limits(seconds, run.limits.threads, self.memory_mb),
            seed=result.seed or 0,
            grace_s=default_grace_s(seconds),
            plugins=digest_of(in_use()),
            certify=self.within,
            finished=to_row(run),
        )

    def _started(self, threads: int) -> SolverProcess:
        """Return a process that lives, with so many threads."""
        if self.process is not None and (self.process.threads != threads or not self.process.alive):
            self.stop()
        if self.process is None:
            self.process = SolverProcess(threads)
        return self.process

    def _given_up(self) -> bool:
        """Pass Ctrl-C on; the watch ends the process if it does not heed it."""
        if self.asked.is_set():
            interrupt(self.session)
        return False


@contextmanager
def proving(within: str, memory_mb: float | None, asked: Event) -> Iterator[Prover]:
    """Return a prover whose process ends with the block."""
    prover = Prover(within, memory_mb, asked)
    try:
        yield prover
    finally:
        prover.stop()
