"""The supervisor's side of a solver process: its start, its pipes, and how it ended."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import psutil

from gadgetopt.numbers.compiling import forget_listeners
from gadgetopt.runs.engine.copied import Child, Copy
from gadgetopt.runs.engine.work import Call, Order, Work, receive, send

if TYPE_CHECKING:
    from gadgetopt.system.files import Document
    from gadgetopt.system.plugins import Shipment

#: Instances a solver process keeps.
KEPT_INSTANCES = 8


class Crash(Exception):
    """The solver process died; the message says how."""


class EndedIdle(Exception):
    """The solver process had just ended because it was idle."""


class SolverProcess:
    """The supervisor's side of a solver process.

    Parameters
    ----------
    threads : int
        Solver threads.
    options : sequence of str
        Options of its command line.
    echo : bool
        True to repeat its output here, on standard error.
    copied : bool
        True to begin as a copy of this process.
    holds : Document, optional
        An instance that a copy has from the beginning.
    """

    def __init__(
        self,
        threads: int,
        options: Sequence[str] = (),
        *,
        echo: bool = False,
        copied: bool = False,
        holds: Document | None = None,
    ):
        self.threads = threads
        held = {holds.fingerprint: holds} if copied and holds is not None else {}
        self.instances: OrderedDict[str, None] = OrderedDict.fromkeys(held)
        # No SimpleQueue: that of Python 3.11 waits for ever if a signal is handled until after the
        # time that it is to wait.
        self.messages: queue.Queue[Any] = queue.Queue()
        self.last_words: deque[bytes] = deque(maxlen=20)
        given = (*(["--echo"] if echo else []), *options)
        environment = _environment(threads)
        self.popen: Child = (
            _copied(given, environment, held) if copied else _fresh(given, environment)
        )
        self.stop: weakref.finalize[[Child], SolverProcess] = weakref.finalize(
            self, _stop, self.popen
        )
        self.usage: psutil.Process = psutil.Process(self.popen.pid)
        self.orders: int = 0
        self.plugins: str | None = None  # not yet given any, not even none
        self.listeners: list[threading.Thread] = [
            threading.Thread(target=_listen, args=(self.popen, self.messages), daemon=True),
            threading.Thread(
                target=_overhear, args=(self.popen, self.last_words, echo), daemon=True
            ),
        ]
        for thread in self.listeners:
            thread.start()

    @property
    def alive(self) -> bool:
        """True if the process has not ended."""
        return self.popen.poll() is None

    def order(self, work: Work, document: str, plugins: Shipment = ()) -> None:
        """Give the process a run, with the instance and the plug-ins unless it has them."""
        known = work.fingerprint in self.instances
        self.instances[work.fingerprint] = None
        self.instances.move_to_end(work.fingerprint)
        forget = []
        while len(self.instances) > KEPT_INSTANCES:
            forget.append(self.instances.popitem(last=False)[0])
        self.last_words.clear()
        self.orders += 1
        plugged = None if self.plugins == work.plugins else plugins
        self.plugins = work.plugins
        self.send(Order(work, None if known else document, tuple(forget), plugged))

    def send(self, order: Order | Call) -> None:
        """Send the process an order."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):  # it has ended: waiting for its messages will show why
            send(self.popen.stdin, order)

    def message(self, wait_s: float) -> tuple[Any, ...] | None:
        """Return the next message of the process within some time; None if there is none."""
        try:
            message: tuple[Any, ...] | None = self.messages.get(timeout=wait_s)
        except queue.Empty:
            return None
        return message

    def memory_mb(self) -> float:
        """Return the memory that the process uses."""
        try:
            return float(self.usage.memory_info().rss) / 1e6
        except psutil.Error:  # has just ended
            return 0.0

    def interrupt(self) -> None:
        """Send the process a Ctrl-C."""
        if os.name == "posix":
            self.popen.send_signal(signal.SIGINT)

    def silent(self) -> bool:
        """Return True if a process that has ended left no more messages."""
        for thread in self.listeners:
            thread.join(timeout=1.0)  # a process that it started may keep the pipe open
        return self.messages.empty()

    def ended(self, phase: str) -> NoReturn:
        """Raise the exception that fits the end of the process."""
        code = self.popen.wait()
        if phase == "start" and code == 0 and self.orders > 1:
            raise EndedIdle
        said = b"".join(self.last_words).decode(errors="replace").split("\n")
        words = next((line.strip() for line in reversed(said) if line.strip()), "")
        told = f" ({words[:200]})" if words.isprintable() and words else ""
        raise Crash(f"{_cause(code)}{told}")


def _cause(code: int) -> str:
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def _fresh(options: Sequence[str], environment: Mapping[str, str]) -> Child:
    """Start a Python of its own."""
    return subprocess.Popen(
        [
            *(sys.executable, "-P", *(["-B"] if sys.dont_write_bytecode else [])),
            *("-m", "gadgetopt.runs.engine.solver_process"),
            *options,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C on the terminal is handled by the client
    )


def _copied(
    options: Sequence[str], environment: Mapping[str, str], held: dict[str, Document]
) -> Child:
    """Copy this process, with the instances that it holds."""

    def begin() -> None:
        from gadgetopt.runs.engine.solver_process import main

        sys.argv[1:] = options
        forget_listeners()
        main(held)

    return Copy(begin, environment)


def _environment(threads: int) -> dict[str, str]:
    """Return the environment of a solver process, which can import whatever this one can."""
    out = dict(os.environ)
    out["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    limit_threads(out, threads)
    return out


def limit_threads(environment: MutableMapping[str, str], threads: int) -> None:
    """Have libraries of numerics start this many threads, unless the environment says how many."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment.setdefault(name, str(threads))


def _stop(popen: Child) -> None:
    """End a solver process and all processes it has started, even those that outlive it."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(popen.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        popen.kill()
    popen.wait()
    assert popen.stdin is not None
    with contextlib.suppress(OSError):
        popen.stdin.close()


def _listen(popen: Child, messages: queue.Queue[Any]) -> None:
    assert popen.stdout is not None
    with popen.stdout as stream:
        while True:
            try:
                messages.put(receive(stream))
            except Exception:  # gone, or a method has written into its file descriptor
                return


def _overhear(popen: Child, last_words: deque[bytes], echo: bool) -> None:
    assert popen.stderr is not None
    with popen.stderr as stream:
        for line in iter(lambda: stream.readline(1000), b""):
            last_words.append(line)
            if echo:
                sys.stderr.write(line.decode(errors="replace"))
                sys.stderr.flush()
