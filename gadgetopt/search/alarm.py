"""An alarm for work that looks at no clock, such as the building of a model."""

from __future__ import annotations

import math
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from gadgetopt.numbers.compiling import is_compiling
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

#: Seconds after which the alarm rings again: code between may have swallowed the exception, or a
#: module was being imported.
AGAIN_S = 2.0

#: Seconds, or part of its time, that work without a clock may take beyond it.
LATE_S, LATE_PART = 0.5, 0.1

#: The least time that a timer can be set to; 0 would switch it off.
LEAST_S = 1e-3

#: Where Python's import machinery says that its code comes from.
IMPORTING = "<frozen importlib._bootstrap>"


def late(time_s: float | None) -> float:
    """Return the seconds after which work without a clock is ended that should take so long."""
    return math.inf if time_s is None else time_s + max(LATE_S, LATE_PART * time_s)


class TimeUp(KeyboardInterrupt):
    """The time of a piece of work is over: it ends as it does at Ctrl-C."""


@dataclass
class Alarm:
    """Whether an alarm has rung: who handles it as Ctrl-C does not say so."""

    rang: bool = False


@contextmanager
def ended_after(seconds: float) -> Iterator[Alarm]:
    """Raise `TimeUp` in the block once it has lasted so long, compiling of inner loops not counted.

    Python code can be ended so, in the main thread of systems with timers; elsewhere, and within a
    library that is not Python, the block takes as long as it takes. An infinite time sets no alarm.
    An import is never cut short: the module would stay half loaded, for whoever needs it next.
    """
    alarm, has_timer = Alarm(), hasattr(signal, "setitimer")
    if not has_timer or threading.current_thread() is not threading.main_thread():
        yield alarm
        return
    waiting_s, again_s = signal.getitimer(signal.ITIMER_REAL)
    if seconds > threading.TIMEOUT_MAX or 0 < waiting_s < seconds:  # an earlier alarm is set
        yield alarm
        return
    clock = Clock(Limits(time_s=max(seconds, LEAST_S)))
    outside = _imports(sys._getframe())  # a script that is itself imported may set an alarm

    def ring(_: int, frame: FrameType | None) -> None:
        if clock.expired and not is_compiling() and _imports(frame) == outside:
            alarm.rang = True
            raise TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, LEAST_S), AGAIN_S)
    try:
        yield alarm
    finally:
        if signal.getsignal(signal.SIGALRM) is ring:  # else Ctrl-C has set an alarm of its own
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            if waiting_s:
                left_s = max(waiting_s - clock.elapsed_s, LEAST_S)
                signal.setitimer(signal.ITIMER_REAL, left_s, again_s)


def _imports(frame: FrameType | None) -> int:
    """Return how many of the calls up to a frame are those of Python's import machinery."""
    count = 0
    while frame is not None:
        count += frame.f_code.co_filename == IMPORTING
        frame = frame.f_back
    return count
