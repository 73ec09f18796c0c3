"""A single solve, check or model in a supervised process, for commands such as `solve`, `verify`.

The process is supervised as in a comparison, so limits are enforced in the same way. The Python
functions `gadgetopt.solve` and `gadgetopt.verify` work in the process that calls them.
"""

from __future__ import annotations

import os
import sys
import uuid
from threading import Event
from typing import TYPE_CHECKING, Any

from gadgetopt.numbers.compiling import SAID
from gadgetopt.runs.engine.copied import may_copy
from gadgetopt.runs.engine.interrupts import polite_interrupt
from gadgetopt.runs.engine.process_handle import Crash, SolverProcess, limit_threads
from gadgetopt.runs.engine.supervisor import MOST_SPOILT, Watch, interrupt
from gadgetopt.runs.engine.waiting import said_while_waiting
from gadgetopt.runs.engine.work import Answer, Call, Failure, Work
from gadgetopt.search.alarm import default_grace_s
from gadgetopt.system.plugins import digest_of, in_use
from gadgetopt.system.printable import printable_line
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.runs.rows import Row, StoredRun
    from gadgetopt.system.files import Document
    from gadgetopt.system.methods import MethodCall

#: Seconds that a method has to return its incumbent after Ctrl-C; a second Ctrl-C ends it at once.
FAREWELL_S = 60.0

#: Seconds between two lines about a check or a model; a busy machine takes seconds to start one.
EVERY_S = 10.0

#: What a line says of the phases of a run beside the solve.
STEPS = {"start": "starting", "judge": "judging the result"}


class Once:
    """A process for one solve.

    It begins as a copy of this process, once the instance is read; where that cannot be, it starts
    while the caller reads the instance. Its output appears on standard error.

    Parameters
    ----------
    threads : int
        Solver threads.
    log : bool
        True to print incumbents and bounds as they are found.
    solver_log : bool
        True to print the solver's own log.
    says : bool
        True to say every ten seconds what is waited for; a log says it by itself.
    """

    def __init__(
        self, threads: int, *, log: bool = False, solver_log: bool = False, says: bool = True
    ):
        self.threads = threads
        self.says: bool = says and not (log or solver_log)
        asked = {"--log": log, "--solver-log": solver_log}
        self.options: tuple[str, ...] = tuple(option for option, on in asked.items() if on)
        self.process: SolverProcess | None = None
        if threads == 1 and may_copy():
            limit_threads(os.environ, threads)  # before a library looks, here and in the copy
        else:
            self.process = self._started()
        self._asked: Event = Event()  # set by Ctrl-C

    def _started(self, document: Document | None = None) -> SolverProcess:
        return SolverProcess(
            self.threads, self.options, echo=True, copied=may_copy(), holds=document
        )

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C came during the solve, which then returned what it had."""
        return self._asked.is_set()

    def solve(
        self, document: Document, call: MethodCall, limits: Limits, seed: int, certify: str = ""
    ) -> StoredRun:
        """Do a run; a run that exceeds a limit or crashes ends as an error with its reason.

        Raises
        ------
        KeyboardInterrupt
            At a Ctrl-C before the method has started, and at a second one.
        """
        from gadgetopt.runs.rows import from_row

        work = Work(
            key="",
            session=uuid.uuid4().hex,
            problem=document.problem.name,
            fingerprint=document.fingerprint,
            spec=call.label,
            limits=limits,
            seed=seed,
            grace_s=default_grace_s(limits.time_s),
            plugins=digest_of(in_use()),
            certify=certify,
        )
        self.process = self.process or self._started(document)
        try:
            outcome = self._watched(work, document)
        finally:
            self.process.stop()
        self.process.silent()  # its output reaches the terminal before ours
        if isinstance(outcome, Failure):
            from gadgetopt.runs.engine.finish import failed_row  # loads what runs methods

            outcome = failed_row(work, document, outcome)
        return from_row(outcome)

    def _watched(self, work: Work, document: Document) -> Row | Failure:
        from gadgetopt.system.files import document_text

        def say(line: str) -> None:
            if self.says and watch.phase != "certify":  # a search for a proof says it itself
                print(line, file=sys.stderr, flush=True)

        words = work.spec, work.limits.time_s, say, EVERY_S
        with polite_interrupt() as asked, said_while_waiting(*words) as waiting:
            self._asked = asked

            def given_up() -> bool:
                compiling = watch.compiling_since is not None
                waiting.at(SAID if compiling else STEPS.get(watch.phase, ""))
                if asked.is_set():
                    interrupt(work.session)
                return asked.is_set() and watch.phase == "start"

            for _ in range(1 + MOST_SPOILT):
                assert self.process is not None
                watch = Watch(
                    work, self.process, given_up, FAREWELL_S, alone=True, proving="proving"
                )
                held = work.fingerprint in self.process.instances
                text = "" if held else document_text(document)
                try:
                    outcome: Row | Failure = watch.run(text, in_use())
                except Crash as crash:
                    return watch.crashed(crash)
                if not watch.spoilt(outcome):
                    break
                self.process.stop()
                self.process = self._started(document)
        if watch.phase == "start" and asked.is_set():
            raise KeyboardInterrupt
        return outcome


def run_command(
    function: str,
    arguments: tuple[Any, ...],
    limits: Limits,
    doing: str = "verifying",
    undone: str = "not verified",
) -> int:
    """Call a function that prints an answer and returns an exit code; print its answer here.

    Whatever it does to its process, it ends within the limits; if it has to be stopped, a line says
    why and the exit code is 1.

    Parameters
    ----------
    function : str
        As `module:name`.
    doing : str
        What a line on standard error says every ten seconds.
    undone : str
        What the line says of a function that had to be stopped.

    Raises
    ------
    InputError, ModelRefused
        As raised by the function.
    """
    with said_while_waiting(doing, limits.time_s, every_s=EVERY_S):
        outcome = call_apart(function, arguments, limits)
    if isinstance(outcome, Failure):
        time_s = f"took more than {limits.time_s:g} s" if limits.time_s is not None else ""
        reason = time_s if outcome.limit_hit == "time_s" else outcome.reason
        print(f"gadgetopt: {undone}: {printable_line(reason)}", file=sys.stderr)
        return 1
    sys.stdout.write(outcome.printed)
    return outcome.code


def call_apart(function: str, arguments: tuple[Any, ...], limits: Limits) -> Answer | Failure:
    """Call a function in a process of its own; return its answer, or why there is none.

    Parameters
    ----------
    function : str
        As `module:name`; it prints its answer and returns an exit code.

    Raises
    ------
    InputError, ModelRefused
        As raised by the function.
    """
    process = SolverProcess(limits.threads)
    call = Call(function, arguments, limits, in_use())
    watch = Watch(call, process, lambda: False, alone=True)
    try:
        outcome: Answer | Failure = watch.run()
    except Crash as crash:
        return Failure(f"crashed: {crash}")
    finally:
        process.stop()
    if isinstance(outcome, Answer) and outcome.error is not None:
        raise outcome.error
    return outcome
