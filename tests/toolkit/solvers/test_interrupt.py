"""A real Ctrl-C during a real solve keeps the incumbent."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pyomo.environ as pyo
import pytest

from gadgetopt.search.clock import Clock
from gadgetopt.solvers import highs
from gadgetopt.solvers.interrupt import LeftAlone, run_interruptibly
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

SCRIPT = """
    import os, signal, sys, threading, time
    import numpy as np
    import pyomo.environ as pyo
    from gadgetopt.system.result import Limits
    from gadgetopt.solvers import import_backend, solve_model

    import_backend(sys.argv[1])
    rng = np.random.default_rng(0)
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(250), domain=pyo.Binary)
    model.rows = pyo.ConstraintList()
    for row in rng.integers(100, 1000, size=(40, 250)).tolist():
        model.rows.add(sum(a * model.x[j] for j, a in enumerate(row)) <= sum(row) // 2)
    values = rng.integers(100, 1000, size=250).tolist()
    model.value = pyo.Objective(
        expr=sum(v * model.x[j] for j, v in enumerate(values)), sense=pyo.maximize
    )

    def interrupt():
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    outcome = solve_model(model, sys.argv[1], Limits(time_s=3600))
    print(outcome.status, outcome.limit_hit, outcome.objective > 0, outcome.bound > 0)
    print(pyo.value(model.value) > 0)
"""


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_ctrl_c_returns_the_incumbent(backend):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), backend],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["feasible", "interrupted", "True", "True", "True"], done.stderr


def test_solve_returns_its_value_and_was_not_interrupted():
    clock = Clock()
    assert run_interruptibly(lambda: 7, lambda: None) == (7, False)
    assert not clock.interrupted


def test_exception_of_the_solve_is_raised_in_the_caller():
    with pytest.raises(ZeroDivisionError):
        run_interruptibly(lambda: 1 // 0, lambda: None)


def test_solve_runs_in_place_outside_the_main_thread():
    names = []

    def solve() -> None:
        names.append(threading.current_thread().name)

    thread = threading.Thread(target=lambda: run_interruptibly(solve, lambda: None), name="worker")
    thread.start()
    thread.join()
    assert names == ["worker"]


def test_a_solver_that_forgets_to_stop_is_asked_again():
    asked = []

    def solve() -> str:
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)  # delivered to the main thread, which waits
        deadline = time.monotonic() + 30
        while len(asked) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        return "stopped"

    clock = Clock()
    assert run_interruptibly(solve, lambda: asked.append(True)) == ("stopped", True)
    assert len(asked) >= 3
    assert clock.interrupted  # so that the method that made the solve ends too


def test_a_solver_that_does_not_stop_is_left_alone():
    done = threading.Event()

    def solve() -> None:
        signal.raise_signal(signal.SIGINT)
        done.wait(60)

    begin = time.monotonic()
    with pytest.raises(LeftAlone):
        run_interruptibly(solve, lambda: None, patience_s=0.0)
    assert not done.is_set()
    assert time.monotonic() - begin < 60
    done.set()


def test_what_highs_found_is_kept_where_it_does_not_stop(monkeypatch):
    """HiGHS is asked to stop by a function that does nothing, as where it looks at nothing."""
    rng = np.random.default_rng(0)
    weights = rng.integers(100, 1000, size=(40, 250))
    model = pyo.ConcreteModel()
    model.x = pyo.Var(range(250), domain=pyo.Binary)
    model.rows = pyo.ConstraintList()
    for row in weights.tolist():
        model.rows.add(sum(a * model.x[j] for j, a in enumerate(row)) <= sum(row) // 2)
    values = rng.integers(100, 1000, size=250).tolist()
    model.value = pyo.Objective(
        expr=sum(v * model.x[j] for j, v in enumerate(values)), sense=pyo.maximize
    )
    form = compile_model(model)
    monkeypatch.setattr(highs, "PATIENCE_S", 0.0)
    kept = []
    subscribe = highs._subscribe

    def interrupt_at_an_incumbent(solver, report):
        events = subscribe(solver, report)
        kept.append((events, solver.cancelSolve))
        monkeypatch.setattr(solver, "cancelSolve", lambda: None, raising=False)

        def ring() -> None:
            while events.best is None or events.trace[-1].bound is None:
                time.sleep(0.01)
            signal.raise_signal(signal.SIGINT)

        threading.Thread(target=ring, daemon=True).start()
        return events

    monkeypatch.setattr(highs, "_subscribe", interrupt_at_an_incumbent)
    outcome = highs.solve_form(form, Limits(time_s=600))
    kept[0][1]()  # so that it does stop
    assert outcome.status is Status.FEASIBLE
    assert outcome.limit_hit == "interrupted"
    point = np.round(outcome.values)
    assert np.all(weights @ point <= weights.sum(axis=1) // 2)
    assert outcome.objective == pytest.approx(values @ point)
    assert outcome.bound >= outcome.objective
