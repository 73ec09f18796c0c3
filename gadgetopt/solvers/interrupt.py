"""Ctrl-C during a solve, or a criterion of its run: stops the solver and keeps its incumbent."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from gadgetopt.search import stopping
from gadgetopt.search.clock import Clock

T = TypeVar("T")

#: Seconds between two checks of the waiting thread; Windows delivers Ctrl-C only in between.
#: Tuned: `benchmarks/constants.py`.
POLL_S = 0.1

#: Seconds in which HiGHS has to return once it is asked to stop. Its presolve and its heuristics
#: may look at nothing for minutes; what it found is then taken from its events, and its thread left
#: alone. Two seconds would use up the grace period of a check. Tuned: `benchmarks/constants.py`.
PATIENCE_S = 1.0


class LeftAlone(KeyboardInterrupt):
    """A solver that was asked to stop has not: it goes on in a thread that nobody waits for.

    Nobody may touch its model any more.
    """


def run_interruptibly(
    solve: Callable[[], T], stop: Callable[[], None], patience_s: float = math.inf
) -> tuple[T, bool]:
    """Run `solve` so that Ctrl-C calls `stop` and still returns what `solve` returns.

    So does a criterion of the run that is met (`gadgetopt.search.stopping`).

    The solve runs in a thread of its own while the main thread waits for Ctrl-C. Python delivers
    Ctrl-C to the main thread only, so anywhere else `solve` is simply called. A method makes many
    solves; so that Ctrl-C ends the method too, its clocks have no time left from then on.

    Parameters
    ----------
    solve : callable
        The blocking solve; it must release the interpreter lock.
    stop : callable
        Asks the running solve to return soon with its incumbent. Called from another thread, again
        and again until the solve has returned.
    patience_s : float
        Seconds after Ctrl-C in which the solve has to return.

    Returns
    -------
    tuple
        The result of `solve`, and True if it was interrupted.

    Raises
    ------
    LeftAlone
        If the solve has not returned when the patience ends.
    KeyboardInterrupt
        At a second Ctrl-C, without waiting any longer.
    """
    criteria = stopping.current()
    if criteria is None and threading.current_thread() is not threading.main_thread():
        return solve(), False
    returned: list[T] = []
    raised: list[BaseException] = []
    # A separate event: Thread.join, interrupted by Ctrl-C, may consider the thread finished.
    done = threading.Event()

    def run() -> None:
        try:
            returned.append(solve())
        except BaseException as error:  # raised in the waiting thread below
            raised.append(error)
        finally:
            done.set()

    interrupted = False
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
        while not done.wait(POLL_S):
            if criteria is not None and criteria.why is not None:
                interrupted = True
                stop()
    except KeyboardInterrupt:
        interrupted = True
        Clock.interrupt_all()
        stop()
        until = time.monotonic() + patience_s
        # A solver that has not begun its search yet may forget that it was asked to stop.
        while not done.wait(POLL_S):
            stop()
            if time.monotonic() > until:
                raise LeftAlone from None
    if raised:
        raise raised[0]
    return returned[0], interrupted
