"""The clock of a run, with simulated time."""

import math
from dataclasses import fields, replace

import pytest

from gadgetopt.search import clock as module
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

ALL = Limits(time_s=10.0, threads=3, memory_mb=512.0, rel_gap=0.25)


@pytest.fixture
def wait(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])

    def passes(seconds):
        now[0] += seconds

    return passes


def test_what_is_left_of_the_time_shrinks_to_nothing(wait):
    clock = Clock(ALL)
    assert (clock.elapsed_s, clock.left_s, clock.expired) == (0.0, 10.0, False)
    wait(4.0)
    assert (clock.elapsed_s, clock.left_s, clock.expired) == (4.0, 6.0, False)
    wait(7.0)
    assert (clock.elapsed_s, clock.left_s, clock.expired) == (11.0, 0.0, True)


def test_without_a_time_limit_there_is_always_time(wait):
    clock = Clock()
    wait(1e9)
    assert clock.left_s == math.inf
    assert not clock.expired
    assert clock.limits() == Limits()
    assert clock.limits(at_most_s=5.0).time_s == 5.0


def test_no_time_at_all_is_over_at_once(wait):
    assert Clock(Limits(time_s=0.0)).expired


def test_no_limit_is_lost_but_the_time_that_has_passed(wait):
    clock = Clock(ALL)
    wait(4.0)
    for limits, time_s in (
        (clock.limits(), 6.0),
        (clock.limits(part=0.5), 3.0),
        (clock.limits(at_most_s=2.0), 2.0),
        (clock.limits(part=0.5, at_most_s=5.0), 3.0),
    ):
        assert limits == replace(ALL, time_s=time_s)
        for field in fields(Limits):  # a field that is added later is kept too
            assert field.name == "time_s" or getattr(limits, field.name) == getattr(ALL, field.name)


def test_a_step_with_a_clock_of_its_own_ends_before_the_run(wait):
    clock = Clock(ALL)
    step = Clock(clock.limits(part=0.5))
    wait(5.0)
    assert step.expired
    assert not clock.expired


def test_an_interrupted_solve_takes_the_time_of_all_clocks_that_run(wait):
    clock, endless = Clock(ALL), Clock()
    step = Clock(clock.limits(part=0.5))
    assert clock.limit_hit is None
    Clock.interrupt_all()
    for running in (clock, endless, step):
        assert (running.left_s, running.expired) == (0.0, True)
        assert running.limits().time_s == 0.0
        assert running.limit_hit == "interrupted"
    next_run = Clock(ALL)
    assert (next_run.left_s, next_run.limit_hit) == (10.0, None)
    wait(11.0)
    assert next_run.limit_hit == "time_s"


def test_phases_add_up_and_count_when_they_fail(wait):
    clock = Clock(ALL)
    for _ in range(2):
        with clock.phase("master"):
            wait(1.5)

    def fails():
        with clock.phase("pricing"):
            wait(1.0)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert clock.phases_s == {"master": 3.0, "pricing": 1.0}


def test_methods_have_no_clock_of_their_own(root):
    for folder in ("models", "gadgetopt/pieces"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "perf_counter" not in text, f"{path}: use gadgetopt.search.clock.Clock"
            assert "monotonic()" not in text, f"{path}: use gadgetopt.search.clock.Clock"


def test_what_is_kept_for_later_is_not_left(wait):
    clock = Clock(Limits(time_s=10))
    clock.reserve(4)
    assert clock.left_s == clock.limits().time_s == 6
    clock.reserve(1)
    assert clock.left_s == 9, "it takes the place of what was kept before"
    wait(9)
    assert clock.expired
    assert clock.limit_hit == "time_s"
    clock.reserve(0)
    assert clock.left_s == 1
