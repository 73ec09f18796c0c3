"""A time limit holds for a method that looks at no clock, and for the check of its certificate."""

import dataclasses
import signal
import time
from threading import Event

import pytest
from toy import BEST, DOCUMENT, TOY, method

from gadgetopt.solvers.interrupt import run_interruptibly
from gadgetopt.system.data import Certificate
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, MethodOutcome, Status, Voucher
from gadgetopt.trust.run import attempt, conclude

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")

SOON = Limits(time_s=0.05)
#: Most seconds until a run has ended, on a busy machine; what it would take is longer.
AT_ONCE_S, LONG_S = 30.0, 600.0


class Claim(Certificate):
    """The optimum is at most this."""

    value: int


def ended(run, check=lambda instance, certificate: certificate.value, limits=SOON, grace_s=0.4):
    """Return the result of a method, which has to end soon."""
    system = dataclasses.replace(
        TOY, methods=(method("it", run),), certificate_type=Claim, check_bound=check
    )
    document = dataclasses.replace(DOCUMENT, problem=system)
    call, begin = find_method(system, "it"), time.monotonic()
    made = attempt(document, call, limits, 0, grace_s)
    result = conclude(document, call, limits, 0, made)
    assert time.monotonic() - begin < AT_ONCE_S
    return made, result


def sleeps(instance, limits, rng):
    time.sleep(LONG_S)


def keeps_its_incumbent(instance, limits, rng):
    try:
        time.sleep(LONG_S)
    except KeyboardInterrupt:
        return MethodOutcome(solution=BEST, limit_hit="interrupted")


def claims_four(instance, limits, rng):
    return MethodOutcome(solution=BEST, dual_bound=4, certificate=Claim(value=4))


def proves_four(instance, limits, rng):
    return MethodOutcome(solution=BEST, certificate=Claim(value=4))


def test_a_method_that_overstays_is_ended():
    made, result = ended(sleeps)
    assert made.overstayed
    assert (result.status, result.limit_hit) == (Status.NO_SOLUTION, "time_s")


def test_a_method_that_is_ended_may_hand_back_its_incumbent():
    made, result = ended(keeps_its_incumbent)
    assert made.overstayed
    assert (result.status, result.objective, result.limit_hit) == (Status.FEASIBLE, 4, "time_s")


def waits_for_a_deaf_solver(instance, limits, rng):
    done = Event()
    try:
        run_interruptibly(done.wait, lambda: None)
    except KeyboardInterrupt:
        return MethodOutcome(solution=BEST, limit_hit="interrupted")
    finally:
        done.set()


def test_a_solver_that_does_not_heed_its_limit_is_left_behind(monkeypatch):
    monkeypatch.setattr("gadgetopt.numbers.alarm.AGAIN_S", 0.1)
    made, result = ended(waits_for_a_deaf_solver)
    assert made.overstayed
    assert (result.status, result.limit_hit) == (Status.FEASIBLE, "time_s")


def test_a_method_that_heeds_its_limit_is_not_ended():
    made, result = ended(claims_four, limits=Limits(time_s=LONG_S))
    assert not made.overstayed
    assert (result.status, result.bound_voucher) == (Status.OPTIMAL, Voucher.VERIFIED)


def slow_check(instance, certificate):
    time.sleep(LONG_S)


def test_a_check_beyond_the_limit_leaves_the_bound_a_solvers_word():
    _, result = ended(claims_four, slow_check)
    assert (result.status, result.bound, result.bound_voucher) == (
        Status.OPTIMAL, 4, Voucher.SOLVER
    )  # fmt: skip
    assert result.notes["proof"]["refused"].startswith("its check was stopped after ")
    assert result.certificate == Claim(value=4), "it can still be checked"
    assert result.phases_s["judge"] > 0


def test_a_check_beyond_the_limit_gives_no_bound_that_was_not_claimed():
    _, result = ended(proves_four, slow_check)
    assert (result.status, result.bound, result.limit_hit) == (Status.FEASIBLE, None, "time_s")
