"""The time in which numba compiles inner loops, or reads them from their cache: nobody's result.

A loop is compiled where it is first called, which may be anywhere in any method. numba tells by its
events when it is at work, so every clock (`gadgetopt.search.clock`) stands still meanwhile, the
supervisor of a process waits, and whoever waits for it is told.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from gadgetopt.numbers.garbage import cycle_collector_paused

#: What a user who waits is told.
SAID = "compiling the inner loops, once"

#: The same afterwards, before the seconds; in several processes they add up.
DONE = "inner loops are compiled and kept; it took"

#: What numba begins, finds that it has to do, and has done.
Event = Literal["reading", "compiling", "read", "compiled"]

Listener = Callable[[Event, float], None]

_LOCK, _COMPILE = "numba:compiler_lock", "numba:compile"

_listeners: list[Listener] = []
_here = threading.local()
_adding, _telling = threading.Lock(), threading.RLock()


@dataclass
class _Total:
    seconds: float = 0.0
    until: float = 0.0  # the end of the last time at work: threads wait for each other


_spent = _Total()


def compiling_s() -> float:
    """Return the seconds that this process has spent on compiling loops and on reading them."""
    return _spent.seconds


def is_compiling() -> bool:
    """Return True if the calling thread compiles a loop or reads one."""
    return bool(getattr(_here, "at_work", False))


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have a function told of numba's work, here or in processes watched from here.

    Parameters
    ----------
    listener : callable
        Called from any thread, one call at a time: with "reading" when loops are looked for in
        their cache, "compiling" if they are not there, and in the end "read" or "compiled" with the
        seconds it took.
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def forget_listeners() -> None:
    """Tell nobody here any more, in a copy of the process whose listeners these were."""
    _listeners.clear()


@contextmanager
def announcing(say: Callable[[str], None]) -> Iterator[None]:
    """Have `say` print a line when the first loop is compiled, and in the end how long it took."""
    said: list[str] = []
    seconds = [0.0]

    def heard(event: Event, spent_s: float) -> None:
        if event == "compiling" and not said:
            said.append(SAID)
            say(SAID)
        elif event == "compiled":
            seconds[0] += spent_s

    try:
        with listening(heard):
            yield
    finally:
        if seconds[0]:
            say(f"{DONE} {seconds[0]:.1f} s")


def tell(event: Event, seconds: float = 0.0) -> None:
    """Tell all listeners of an event."""
    with _telling:
        for listener in tuple(_listeners):
            listener(event, seconds)


@cache
def follow_numba() -> None:
    """Have numba tell this module when it is at work; again is once."""
    from numba.core import event
    from numba.core.compiler_lock import global_compiler_lock

    class Reports(event.Listener):  # type: ignore[misc]
        """Hears when the compiler's lock is taken and freed, and when it is for compiling."""

        def on_start(self, event: Any) -> None:
            # Calls within the compiler take the lock again: only the outermost one counts.
            if event.kind == _COMPILE:
                _begin_compiling()
            elif not global_compiler_lock.is_locked():
                _begin(time.perf_counter())
                # The compiler makes a million objects that stay: to look at them is a tenth of it.
                _here.collector = cycle_collector_paused()
                _here.collector.__enter__()

        def on_end(self, event: Any) -> None:
            if event.kind == _LOCK and not global_compiler_lock.is_locked():
                _here.collector.__exit__(None, None, None)
                _end()

    reports = Reports()
    event.register(_LOCK, reports)
    event.register(_COMPILE, reports)


@contextmanager
def preparing(since_s: float) -> Iterator[None]:
    """Count the seconds from a moment to the end of the block as such: what loops need is got.

    Parameters
    ----------
    since_s : float
        By `time.perf_counter`, perhaps before the block.
    """
    _begin(since_s)
    try:
        yield
    finally:
        _end()


def _begin(since_s: float) -> None:
    _here.since, _here.compiling = since_s, False
    _here.at_work = True
    tell("reading")


def _begin_compiling() -> None:
    if not _here.compiling:
        _here.compiling = True
        tell("compiling")


def _end() -> None:
    now = time.perf_counter()
    with _adding:
        _spent.seconds += now - max(_here.since, _spent.until)
        _spent.until = now
    compiled, _here.compiling = _here.compiling, False
    try:
        tell("compiled" if compiled else "read", now - _here.since)
    finally:
        _here.at_work = False  # an alarm rings again from now on; it would cut what is told
