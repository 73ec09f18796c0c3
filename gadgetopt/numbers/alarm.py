"""An alarm for work that looks at no clock, such as the building of a model."""

from __future__ import annotations

import opcode
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING

from gadgetopt.numbers.compiling import compiling_s, is_compiling

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

#: Seconds after which the alarm rings again: code between may have swallowed the exception, or a
#: module was being imported. Tuned: `benchmarks/constants.py`.
AGAIN_S = 2.0

#: The least time that a timer can be set to; 0 would switch it off. By definition.
LEAST_S = 1e-3

#: The instructions that end a round of a loop.
_JUMPS_BACK = {code for name, code in opcode.opmap.items() if name.startswith("JUMP_BACKWARD")}

#: Where Python's import machinery says that its code comes from.
IMPORTING = "<frozen importlib._bootstrap>"


class TimeUp(KeyboardInterrupt):
    """The time of a piece of work is over: it ends as it does at Ctrl-C."""


class Alarm:
    """A block that the alarm ends, as `ended_after` says.

    The alarm does not ring while the block is entered or left, or jumps back in a loop, which would
    leave the timer on, but again soon after; nor once the block is over, however it was left.

    Attributes
    ----------
    rang : bool
        Whether the alarm has rung: who handles it as Ctrl-C does not say so.
    """

    def __init__(self, seconds: float):
        self.rang: bool = False
        self._seconds = seconds
        self._block: FrameType | None = None  # while an alarm is set

    def __enter__(self) -> Alarm:
        has_timer = hasattr(signal, "setitimer")
        if not has_timer or threading.current_thread() is not threading.main_thread():
            return self
        self._waiting_s, self._again_s = signal.getitimer(signal.ITIMER_REAL)
        earlier = 0 < self._waiting_s < self._seconds
        if self._seconds > threading.TIMEOUT_MAX or earlier:
            return self
        least_s = max(self._seconds, LEAST_S)
        self._since_s = _now_s()
        self._until_s = self._since_s + least_s
        self._block = sys._getframe(1)
        self._imports = _imports(_calls(self._block))  # a script that is itself imported may set it
        self._unraisable = sys.unraisablehook
        sys.unraisablehook = self._swallowed
        self._before = signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, least_s, AGAIN_S)
        return self

    def __exit__(self, *_: object) -> None:
        if self._block is None:
            return
        if sys.unraisablehook == self._swallowed:
            sys.unraisablehook = self._unraisable
        if signal.getsignal(signal.SIGALRM) == self._ring:  # else Ctrl-C set an alarm of its own
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            if self._waiting_s:
                passed_s = _now_s() - self._since_s
                left_s = max(self._waiting_s - passed_s, LEAST_S)
                signal.setitimer(signal.ITIMER_REAL, left_s, self._again_s)
        self._block = None

    def _ring(self, _: int, frame: FrameType | None) -> None:
        calls = _calls(frame)
        if any(call.f_code in _PASSAGES for call in calls):
            return
        if not any(call is self._block for call in calls):  # Ctrl-C kept it from being left
            self.__exit__()
        elif _now_s() >= self._until_s and not is_compiling() and _imports(calls) == self._imports:
            if frame is not None and frame is self._block and _jumps_back(frame):
                signal.setitimer(signal.ITIMER_REAL, LEAST_S, AGAIN_S)
                return
            self.rang = True
            raise TimeUp

    def _swallowed(self, raised: UnraisableHookArgs) -> None:
        """Ring again where Python could not hand the alarm on: in the end of an object, say."""
        if isinstance(raised.exc_value, TimeUp):
            signal.setitimer(signal.ITIMER_REAL, LEAST_S, AGAIN_S)
        else:
            self._unraisable(raised)


#: The code between the inside and the outside of a block.
_PASSAGES = (Alarm.__enter__.__code__, Alarm.__exit__.__code__)


def ended_after(seconds: float) -> Alarm:
    """Raise `TimeUp` in the block once it has lasted so long, compiling of inner loops not counted.

    Python code can be ended so, in the main thread of systems with timers; elsewhere, and within a
    library that is not Python, the block takes as long as it takes. An infinite time sets no alarm.
    An import is never cut short: the module would stay half loaded, for whoever needs it next.
    """
    return Alarm(seconds)


def _jumps_back(frame: FrameType) -> bool:
    """Return True if a call is at the end of a round of its loop.

    Python 3.13 leaves that jump out of what a `with` or `try` around the loop protects: an
    exception raised there would escape both, and leave the timer on.
    """
    return frame.f_code.co_code[frame.f_lasti] in _JUMPS_BACK


def _now_s() -> float:
    """Return seconds of a clock that stands still while loops are compiled."""
    return time.perf_counter() - compiling_s()


def _calls(frame: FrameType | None) -> list[FrameType]:
    """Return a call and those that it was made from."""
    calls = []
    while frame is not None:
        calls.append(frame)
        frame = frame.f_back
    return calls


def _imports(calls: list[FrameType]) -> int:
    """Return how many calls are those of Python's import machinery."""
    return sum(call.f_code.co_filename == IMPORTING for call in calls)
