"""Ctrl-C keeps what a method has found so far, and ends it also where a solver takes it."""

from __future__ import annotations

import signal
import threading

import pytest

from gadgetopt.search.state import Search
from gadgetopt.solvers import cpsat, highs, persistent
from gadgetopt.solvers.interrupt import run_interruptibly
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: A preset of each default method that searches for longer than a moment.
PRESETS = (
    "a_srpt:quickstart",
    "adversarial_online_run:paper",
    "bgl_cache:batches",
    "bgl_partition:planted",
    "dapple:quickstart",
    "gadget:tiny",
    "marl_placement:fat_tree",
    "marl_queueing:quickstart",
    "oneflow_sbp:quickstart",
    "parallel_machines:quickstart",
    "pd_ors:quickstart",
    "pd_ors:desk",
    "spp:quickstart",
)


@pytest.mark.parametrize("spec", PRESETS)
@pytest.mark.parametrize("step", ["offer", "prove"])
def test_an_interrupted_default_keeps_incumbent_and_bound(monkeypatch, spec, step):
    system, preset = spec.split(":")
    (document,) = documents_of(Series(system=system, preset=preset))
    optimum = solve(document, problem(system).default_method, Limits(time_s=20.0))
    kept, known = getattr(Search, step), []

    def then_interrupt(self, *given):
        taken = kept(self, *given)
        known.append((self.value, self.bound))
        if taken and len(known) >= 2:
            raise KeyboardInterrupt
        return taken

    monkeypatch.setattr(Search, step, then_interrupt)
    found = solve(document, problem(system).default_method, Limits(time_s=20.0))
    assert found.status != "error", found.reason
    assert found.objective is not None or step == "prove"
    if found.status != "optimal":
        assert found.limit_hit == "interrupted"
    if optimum.status == "optimal":
        minimise = problem(system).sense == "min"
        if found.objective is not None:
            assert (found.objective >= optimum.objective) == minimise or (
                found.objective == optimum.objective
            )
        if found.bound is not None:
            assert float(found.bound) == pytest.approx(float(optimum.objective), rel=1e-6) or (
                (found.bound <= optimum.objective) == minimise
            )


#: Where the relaxation's totals are not reached at once.
SMALL = {"jobs": 8, "servers": 8, "horizon_slots": 2}
NARROW = Series(
    system="gadget", preset="tight", options={**SMALL, "urgency": 1.0, "link_factor": 0.5}
)


class Pressed:
    """Presses Ctrl-C in the n-th call of a solver; notes the time limits of the calls after it."""

    def __init__(self, monkeypatch, nth):
        self.calls, self.nth = 0, nth
        self.later_s = []
        for module in (cpsat, highs, persistent):
            monkeypatch.setattr(module, "run_interruptibly", self.run)
        for owner, name, place in (
            (cpsat, "_run", 1),
            (highs, "_run", 2),
            (persistent.PersistentLp, "solve", 1),
        ):
            monkeypatch.setattr(owner, name, self.noted(getattr(owner, name), place))

    def noted(self, call, place):
        def called(*given, **named):
            if self.calls >= self.nth:
                self.later_s.append(given[place].time_s)
            return call(*given, **named)

        return called

    def run(self, solve, stop, *patience):
        self.calls += 1
        if self.calls != self.nth:
            return run_interruptibly(solve, stop, *patience)
        asked = threading.Event()

        def press_and_solve():
            signal.raise_signal(signal.SIGINT)  # delivered to the main thread, which waits
            assert asked.wait(30)
            return solve()

        def ask():
            asked.set()
            stop()

        return run_interruptibly(press_and_solve, ask, *patience)


@pytest.mark.parametrize(
    ("series", "method", "nth"),
    [
        (NARROW, "offline", 3),  # patterns of an epoch
        (NARROW, "offline", 62),  # slots of an epoch by CP-SAT
        (Series(system="pd_ors"), "branch_and_check", 2),  # modes of deadlines
        (Series(system="pd_ors"), "branch_and_check", 24),  # a slot by CP-SAT
        (Series(system="pd_ors"), "branch_and_check", 25),  # patterns of a machine
        (Series(system="marl_placement", preset="fat_tree"), None, 1),
        (Series(system="parallel_machines"), None, 2),
    ],
)
def test_ctrl_c_in_a_call_of_a_solver_leaves_no_time_for_another(monkeypatch, series, method, nth):
    (document,) = documents_of(series)
    pressed = Pressed(monkeypatch, nth)
    found = solve(document, method or problem(series.system).default_method, Limits(time_s=60.0))
    assert pressed.calls >= nth
    assert set(pressed.later_s) <= {0.0}
    assert found.status != "error", found.reason
    assert found.bound is not None
    assert found.limit_hit == ("interrupted" if found.status != "optimal" else None)
    if method is not None:
        assert found.objective is not None
