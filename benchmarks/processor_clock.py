"""Time limits in processor seconds of this process, for a fair limit on a busy machine.

What a solver is given as its own limit, it still counts by the clock on the wall; without one it
can be interrupted after so many processor seconds.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from unittest.mock import patch

from gadgetopt.numbers.compiling import Event, listening
from gadgetopt.search import clock


@dataclass
class _Compiling:
    """Processor seconds of compiling inner loops, and when the present one began."""

    seconds: float = 0.0
    began: float = 0.0

    def heard(self, event: Event, _: float) -> None:
        if event == "reading":
            self.began = time.process_time()
        elif event in ("read", "compiled"):
            self.seconds += time.process_time() - self.began


_compiling = _Compiling()
_listening = ExitStack()  # kept, as a stack that is thrown away ends what it entered
_listening.enter_context(listening(_compiling.heard))


def processor_s() -> float:
    """Return the processor seconds of this process, without those of compiling inner loops."""
    return time.process_time() - _compiling.seconds


@contextmanager
def processor_clock() -> Iterator[None]:
    """Make every clock that a method asks count processor seconds."""
    with patch.object(clock, "time", SimpleNamespace(perf_counter=time.process_time)):
        yield


@contextmanager
def interrupt_after(seconds: float) -> Iterator[None]:
    """Interrupt what runs after so many processor seconds, as Ctrl-C does: solvers return."""
    # Ctrl-C is ignored in the background of a shell, and with it this.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end = time.process_time() + seconds
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            if time.process_time() >= end:
                _thread.interrupt_main()
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
