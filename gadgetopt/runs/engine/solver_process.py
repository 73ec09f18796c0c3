"""The solver process: does one run after another for the supervisor that started it.

Orders arrive on its original standard input, messages leave on its original standard output:
("begun",) when the method starts, ("ended", overstayed) when it ends, ("solved", row) when its
result is judged and its bound is to be proved, ("doing", step) at each step of that, ("proved",
row) when a part of it is done, ("row", row) when all is done, ("failed", reason), ("other code",
code) if its source code differs from that of the run, or ("not loaded", reason) if a plug-in cannot
be loaded; and at any time ("numba", event, seconds), as `gadgetopt.numbers.compiling` tells what is
done for inner loops. Nothing else can enter this channel: the printed output of a method is
discarded; the end of its standard error is reported if it dies.

    python -m gadgetopt.runs.engine.solver_process [--echo] [--log] [--solver-log]

With `--echo` a method's output goes to standard error; with `--log` lines on incumbents and bounds
do too, with `--solver-log` the solver's own log. A process answers a single call by ("begun",) and
("answer", answer).
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from gadgetopt.errors import InputError, NotLoaded, OtherCode
from gadgetopt.errors import logger as warnings

if TYPE_CHECKING:
    from gadgetopt.numbers.compiling import Event
    from gadgetopt.runs.engine.work import Answer, Call, Order, Work
    from gadgetopt.runs.rows import Row
    from gadgetopt.system.files import Document
    from gadgetopt.system.plugins import Shipment

#: Seconds from Ctrl-C to a `KeyboardInterrupt`, or part of the grace period if that is less.
PATIENCE_S, PATIENCE_PART = 0.5, 0.5
_HAS_TIMER = hasattr(signal, "setitimer")

#: Seconds until it is tried again to raise it, if a message is on its way.
AGAIN_S = 0.05

#: Seconds without an order after which the process ends; its supervisor then starts another.
IDLE_S = 60.0


class _Interrupts:
    """Passes the supervisor's Ctrl-C to a method while it runs, and to nothing else.

    First no clock that runs has time left, so that a method which looks at its clock returns what
    it has. One that does not, or waits for a solver, gets a `KeyboardInterrupt` soon after, but
    not within a message to the supervisor, which would lose it.

    Parameters
    ----------
    telling : threading.Lock
        Held while a message is sent.
    """

    def __init__(self, telling: threading.Lock) -> None:
        self._telling = telling
        self._patience_s: float | None = None
        signal.signal(signal.SIGINT, self._asked)
        if _HAS_TIMER:
            signal.signal(signal.SIGALRM, self._raise)

    @contextlib.contextmanager
    def wanted(self, grace_s: float) -> Iterator[None]:
        """Pass Ctrl-C on within; the method has a grace period after it, in seconds."""
        self._patience_s = min(PATIENCE_S, PATIENCE_PART * grace_s)
        try:
            yield
        finally:
            self._patience_s = None
            if _HAS_TIMER:
                signal.setitimer(signal.ITIMER_REAL, 0)

    def _asked(self, *_: object) -> None:
        if not self._patience_s or not _HAS_TIMER:
            self._raise()
            return
        from gadgetopt.search.clock import Clock

        Clock.interrupt_all()
        signal.signal(signal.SIGALRM, self._raise)  # the method may have set an alarm of its own
        signal.setitimer(signal.ITIMER_REAL, self._patience_s)

    def _raise(self, *_: object) -> None:
        if self._patience_s is None:
            return
        if _HAS_TIMER and self._telling.locked():
            signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
            return
        raise KeyboardInterrupt


def main(instances: dict[str, Document] | None = None) -> None:
    """Do runs until there are no more orders or the supervisor is gone.

    Parameters
    ----------
    instances : dict, optional
        Those that the supervisor knows to be here, by fingerprint.
    """
    orders_in, results_out = _channels(echo="--echo" in sys.argv)
    if "--solver-log" in sys.argv:
        _print_solver_log()
    _die_with_parent()
    one_at_a_time = threading.Lock()
    interrupts = _Interrupts(one_at_a_time)
    orders: queue.Queue[Order | Call] = queue.Queue()
    threading.Thread(target=_listen, args=(orders_in, orders), daemon=True).start()
    me = os.getpid()

    def say(*message: Any) -> None:
        from gadgetopt.runs.engine.work import send

        if os.getpid() != me:
            os._exit(0)  # a fork of this process that a method made and did not end
        try:
            with one_at_a_time:
                send(results_out, message)
        except OSError:
            os._exit(0)  # the supervisor is gone

    def say_compiling(event: Event, seconds: float) -> None:
        if os.getpid() == me:  # a fork that a method made may compile, too
            say("numba", event, seconds)

    from gadgetopt.numbers.compiling import listening

    with listening(say_compiling):
        _obey(orders, {} if instances is None else instances, interrupts, say)


def _obey(
    orders: queue.Queue[Order | Call],
    instances: dict[str, Document],
    interrupts: _Interrupts,
    say: Callable[..., None],
) -> None:
    """Carry out orders until there are none for a while."""
    from gadgetopt.runs.engine.work import Call

    while True:
        try:
            order = orders.get(timeout=IDLE_S)
        except queue.Empty:
            return
        try:
            if order.plugins is not None:
                _plug_in(order.plugins)
            if isinstance(order, Call):
                say("answer", _answer(order, say))
                continue
            for fingerprint in order.forget:
                instances.pop(fingerprint, None)
            say("row", _solve(order, instances, interrupts, say))
        except OtherCode as error:
            say("other code", error.here)
        except NotLoaded as error:
            say("not loaded", str(error))
        except MemoryError:
            instances.clear()
            say("failed", "ran out of memory")
        except BaseException as error:  # reported, so that the process need not die
            from gadgetopt.errors import failure

            say("failed", failure(error))


def _plug_in(plugins: Shipment) -> None:
    from gadgetopt.system.plugins import plug_in

    try:
        plug_in(plugins)
    except InputError as error:
        raise NotLoaded(str(error)) from None


def _solve(
    order: Order, instances: dict[str, Document], interrupts: _Interrupts, say: Callable[..., None]
) -> Row:
    from gadgetopt.runs.engine.finish import check_code, finished_row
    from gadgetopt.runs.engine.solve_log import SolveLog
    from gadgetopt.runs.engine.waiting import Lines
    from gadgetopt.runs.rows import from_row
    from gadgetopt.system.files import parse
    from gadgetopt.system.methods import find_method
    from gadgetopt.trust.run import attempt, warm_up

    warnings.setLevel(logging.ERROR)  # whoever asks for the run has said them
    work = order.work
    if order.document is not None:
        instances[work.fingerprint] = parse(order.document, f"instance {work.fingerprint[:12]}")
    document = instances[work.fingerprint]
    if work.finished is not None:
        return _certify(work, document, work.finished, interrupts, say)
    call = find_method(document.problem, work.spec)
    check_code(work, document.problem, call.method)
    warm_up(document.problem, call.method)
    log = SolveLog(Lines(sys.stderr)) if "--log" in sys.argv else None
    say("begun")
    with log or contextlib.nullcontext(), interrupts.wanted(work.grace_s):
        tell = None if log is None else log.tell
        made = attempt(document, call, work.limits, work.seed, work.grace_s, tell)
    say("ended", made.overstayed)
    row = finished_row(work, document, call, made)
    if log is not None:
        log.end(from_row(row).result)
    return _certify(work, document, row, interrupts, say) if work.certify else row


def _certify(
    work: Work, document: Document, row: Row, interrupts: _Interrupts, say: Callable[..., None]
) -> Row:
    """Return the row of a run with what can be proved of its bound."""
    from gadgetopt.runs.engine.finish import certified_row
    from gadgetopt.runs.engine.work import unproved

    say("solved", row)  # from here on, nothing can lose it
    best = [row]

    def keep(better: Row) -> None:
        best.append(better)
        say("proved", better)

    try:
        with interrupts.wanted(work.grace_s):
            return certified_row(work, document, row, keep, lambda step: say("doing", step))
    except KeyboardInterrupt:
        return unproved(best[-1], "interrupted")


def _answer(call: Call, say: Callable[..., None]) -> Answer:
    """Call a function and capture its output."""
    import io

    from gadgetopt.errors import ModelRefused
    from gadgetopt.runs.engine.work import Answer

    say("begun")
    module, name = call.function.split(":")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            code = getattr(importlib.import_module(module), name)(*call.arguments)
        except (InputError, ModelRefused) as error:
            return Answer(2, "", error)
    return Answer(code, printed.getvalue())


def _print_solver_log() -> None:
    from gadgetopt.system.result import solver_log

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    solver_log.addHandler(handler)
    solver_log.setLevel(logging.INFO)


def _channels(*, echo: bool) -> tuple[BinaryIO, BinaryIO]:
    """Return the pipes to the supervisor, out of reach of methods that read or print."""
    orders_in, results_out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(2 if echo else nowhere, 1)
    os.close(nowhere)
    return orders_in, results_out


def _listen(orders_in: BinaryIO, orders: queue.Queue[Order | Call]) -> None:
    """Take orders until the supervisor is gone, then end the process."""
    from gadgetopt.runs.engine.work import receive

    with contextlib.suppress(EOFError, OSError):
        while True:
            orders.put(receive(orders_in))
    os._exit(0)


def _die_with_parent() -> None:
    """Have Linux end this process with its supervisor, even while a solver holds the GIL."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    parent_death_signal = 1
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)


if __name__ == "__main__":
    main()
