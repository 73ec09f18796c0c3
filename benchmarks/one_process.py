"""One run in a process of its own: its result, processor time and memory."""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from defaults_losses import is_model

from gadgetopt.numbers.compiling import compiling_s
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import attempt, conclude, warm_up

#: Seconds of the wall for each of the processor's, after which a solver ends by its own clock.
BUSY = 20.0


@dataclass(frozen=True)
class Run:
    """What a row tells of one method's run: seconds are the processor's."""

    value: float | None
    bound: float | None
    gap: float | None
    voucher: str
    status: str
    sense: str
    search_s: float
    judging_s: float
    memory_mb: float

    @property
    def seconds(self) -> float:
        """Of search and judging."""
        return self.search_s + self.judging_s

    @property
    def closed(self) -> bool:
        """True if it ended with a proof."""
        return self.status in {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}


def run(make: Callable[[], Document], method: str, time_s: float) -> Run:
    """Run one method on the instance that `make` returns.

    The clock of the run counts the processor's time, so that other work on the machine changes
    little; compiling and imports do not count. Solvers count the wall's: a model that is all of a
    method is ended by the processor's, as Ctrl-C would end it.
    """
    time.perf_counter = time.process_time
    document = make()
    call, limits = find_method(document.problem, method), Limits(time_s=time_s)
    of_solver = "@" in method or is_model(call.method)
    warm_up(document.problem, call.method)
    before, compiling = time.process_time(), compiling_s()
    if of_solver:
        with interrupted_after(time_s):
            made = attempt(document, call, Limits(time_s=BUSY * time_s), 0)
    else:
        made = attempt(document, call, limits, 0)
    between, then = time.process_time(), compiling_s()
    result = conclude(document, call, limits, 0, made)
    after, last = time.process_time(), compiling_s()
    search_s, judging_s = between - before - (then - compiling), after - between - (last - then)
    return _row(result, search_s, judging_s)


@contextlib.contextmanager
def interrupted_after(processor_s: float) -> Iterator[None]:
    """Interrupt what runs as soon as it has had so many seconds of the processor."""
    before = signal.signal(signal.SIGPROF, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_PROF, processor_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _row(result: Result, search_s: float, judging_s: float) -> Run:
    return Run(
        value=None if result.objective is None else float(result.objective),
        bound=None if result.bound is None else float(result.bound),
        gap=result.gap,
        voucher=str(result.bound_voucher or ""),
        status=str(result.status),
        sense=result.sense or "min",
        search_s=search_s,
        judging_s=judging_s,
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    )


def apart(make: Callable[[], Document], method: str, time_s: float) -> Run:
    """Run one method in a new process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, make, method, time_s).result()
