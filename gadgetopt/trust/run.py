"""Run one method on one instance and check everything that it claims."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

import numpy as np

from gadgetopt.errors import InputError, ModelRefused, SolverError, failure
from gadgetopt.numbers.compiling import follow_numba
from gadgetopt.search.alarm import (
    CHECK_PART,
    METHOD_PART,
    TimeUp,
    default_grace_s,
    ended_after,
)
from gadgetopt.search.clock import Clock
from gadgetopt.search.stopping import Stopping, stopped_early
from gadgetopt.search.watched import Tell, told_all, watched
from gadgetopt.system.data import Solution
from gadgetopt.system.declaration import Method, Problem, resolved
from gadgetopt.system.extension import as_method
from gadgetopt.system.files import Document
from gadgetopt.system.methods import MethodCall, find_method
from gadgetopt.system.result import Limits, MethodOutcome, Result, Status
from gadgetopt.trust.exactness import with_exact_bound
from gadgetopt.trust.judgement import judge
from gadgetopt.trust.proving import add_root_proof

#: Seconds for making the bound of a short run exact. Tuned: `benchmarks/constants.py`.
MOMENT_S = 0.1

#: The phase of a run in which its result is judged, and the seconds from which on it is told.
JUDGE, LEAST_TOLD_S = "judge", 0.05


def solve(
    document: Document,
    method: MethodCall | str | Callable[..., Any],
    limits: Limits | None = None,
    seed: int = 0,
    tell: Tell | None = None,
) -> Result:
    """Run a method on an instance; re-evaluate its solution and check its claims.

    The method runs in this process. If it overstays its time limit by half a grace period, it is
    ended as by Ctrl-C, and so is the check of its certificate when more of that has passed: where
    this is the main thread, and nothing holds it that is not Python. The commands `solve` and
    `compare` run it in a separate process, which they end.

    Parameters
    ----------
    document : Document
        An instance, as `gadgetopt.read` returns it.
    method : str, MethodCall or callable
        `name` or `name:key=value:...`; or a function of yours, as `gadgetopt.method` takes it.
    limits : Limits, optional
        Default: no time limit, one thread, relative gap 0.
    seed : int
        Seed of the method's random generator and of the solvers.
    tell : callable, optional
        Is told of incumbents and bounds while the method works, as far as it lets them be known.

    Returns
    -------
    Result
        A method that raises, or makes a false claim, gives the status `error` and a `reason`.

    Raises
    ------
    InputError
        If the problem has no such method, or the method no such parameter.
    """
    problem = document.problem
    limits = limits or Limits()
    call = _call(problem, method)
    warm_up(problem, call.method)
    made = attempt(document, call, limits, seed, tell=tell)
    result = conclude(document, call, limits, seed, made)
    return replace(result, document=document)


def _call(problem: Problem, method: MethodCall | str | Callable[..., Any]) -> MethodCall:
    if isinstance(method, MethodCall):
        return method
    if isinstance(method, str):
        return find_method(problem, method)
    system, declared = as_method(method)
    if system not in ("", problem.name):
        raise InputError(f"method {declared.name!r}: is of {system}, expected {problem.name}")
    return MethodCall(declared)


@dataclass(frozen=True)
class Attempt:
    """The unchecked outcome of a method, or the reason why there is none.

    Attributes
    ----------
    reason : str or None
        Why the method did not finish.
    refused : bool
        True if the reason is that the method does not support the instance.
    overstayed : bool
        True if the method had to be ended, and may have left threads behind.
    check_s : float
        Seconds until the check of its certificate is ended.
    """

    outcome: MethodOutcome
    time_s: float
    reason: str | None = None
    refused: bool = False
    overstayed: bool = False
    check_s: float = math.inf


def attempt(
    document: Document,
    call: MethodCall,
    limits: Limits,
    seed: int,
    grace_s: float | None = None,
    tell: Tell | None = None,
) -> Attempt:
    """Run a method; whatever it raises becomes a reason.

    A method that goes on beyond its time limit is ended after half the grace period. `tell` is told
    of incumbents and bounds meanwhile.
    """
    clock = Clock()
    grace_s = default_grace_s(limits.time_s) if grace_s is None else grace_s
    limit_s = math.inf if limits.time_s is None else limits.time_s
    alarm = ended_after(limit_s + METHOD_PART * grace_s)
    ctrl_c: list[int] = []
    outcome, reason, refused = MethodOutcome(), None, False
    nothing = outcome
    criteria: Stopping | None = None
    try:
        rng = np.random.default_rng(seed)
        with (
            _noticing(ctrl_c),
            alarm,
            stopped_early(limits, document.sense) as criteria,
            watched(
                told_all(tell, None if criteria is None else criteria.tell), limits, document.sense
            ),
        ):
            outcome = call.method.run(document.data, limits, rng, **call.parameters)
    except ModelRefused as error:
        return Attempt(outcome, 0.0, str(error), refused=True)
    except (InputError, SolverError) as error:
        reason = str(error)
    except BaseException as error:  # any failure of a method, even sys.exit, is that run's result
        ended = ctrl_c or clock.interrupted or alarm.rang
        if not (isinstance(error, KeyboardInterrupt) and ended):
            reason = failure(error)
        elif outcome is nothing:  # else it had just returned
            outcome = MethodOutcome(limit_hit="interrupted")
    if outcome is None or isinstance(outcome, Solution):
        outcome = MethodOutcome(solution=outcome)
    if not isinstance(outcome, MethodOutcome):
        what = "a Solution, None or a MethodOutcome"
        reason = f"returned {type(outcome).__name__}, expected {what}"
        outcome = MethodOutcome()
    time_s = clock.elapsed_s
    nobody_did = not (ctrl_c or clock.interrupted or _is_own(document.problem, call.method))
    if outcome.limit_hit == "interrupted" and alarm.rang and not ctrl_c:
        outcome.limit_hit = "time_s"
    elif outcome.limit_hit == "interrupted" and nobody_did:
        outcome.limit_hit = None
    stopped = clock.interrupted and not alarm.rang
    if stopped and outcome.proved is None and outcome.limit_hit in (None, "time_s"):
        outcome.limit_hit = "interrupted"
    unnamed = outcome.proved is None and outcome.limit_hit in (None, "time_s", "interrupted")
    if criteria is not None and criteria.ended is not None and unnamed and not (stopped or ctrl_c):
        outcome.limit_hit = criteria.ended
    if outcome.further_notes is not None and reason is None:
        with contextlib.suppress(Exception, KeyboardInterrupt):  # the result stands without them
            outcome.notes = {**outcome.notes, **outcome.further_notes()}
    check_s = limit_s + CHECK_PART * grace_s - clock.elapsed_s
    return Attempt(outcome, time_s, reason, refused, alarm.rang, check_s)


@contextlib.contextmanager
def _noticing(ctrl_c: list[int]) -> Iterator[None]:
    """Note each Ctrl-C; a `KeyboardInterrupt` alone may be one that a method raises by itself."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    pass_on = before

    def notice(number: int, frame: FrameType | None) -> None:
        ctrl_c.append(number)
        pass_on(number, frame)

    signal.signal(signal.SIGINT, notice)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def conclude(
    document: Document, call: MethodCall, limits: Limits, seed: int, made: Attempt
) -> Result:
    """Turn an attempt into a result; never fails, whatever the method returned."""
    clock = Clock(Limits(time_s=max(0.0, made.check_s)))
    if made.reason is None:
        with contextlib.suppress(TimeUp), ended_after(clock.left_s):
            add_root_proof(document, call, made.outcome)
    try:
        result = judge(
            document, call, made.outcome, limits, seed, made.time_s, made.reason, clock=clock
        )
    except Exception as error:
        reason = f"its outcome cannot be judged: {failure(error)}"
        result = judge(document, call, MethodOutcome(), limits, seed, made.time_s, reason)
    if made.refused:
        result = replace(result, status=Status.NOT_APPLICABLE)
    solved, left_s = made.outcome.solved, math.inf
    if limits.time_s is not None:
        left_s = limits.time_s - made.time_s - clock.elapsed_s
    # It may take as long as the run did, or a moment.
    most_s = min(left_s, max(MOMENT_S, made.time_s))
    form = None if solved is None else solved.form
    with contextlib.suppress(TimeUp), ended_after(clock.left_s):
        result = with_exact_bound(document, result, most_s, form)
    if clock.elapsed_s >= LEAST_TOLD_S:
        result = replace(result, phases_s={**result.phases_s, JUDGE: clock.elapsed_s})
    return result


def _is_own(problem: Problem, method: Method) -> bool:
    """Return True if a system itself declares a method; it is no plug-in's and no function."""
    return method.origin is None and method in problem.methods


def warm_up(problem: Problem, method: Method) -> None:
    """Import what a method needs, so that it does not count as time; nor does what it compiles."""
    builds = [f.build for f in problem.formulations if f.name == method.formulation]
    for part in (method.run, *builds):
        resolved(part)
    if method.backend is not None:
        from gadgetopt.solvers import import_backend

        with contextlib.suppress(InputError):  # the run itself will report what is missing
            import_backend(method.backend)
    if "numba" in sys.modules:  # a method of one's own may use it without `compiled`
        follow_numba()
