"""What a run by a formulation claims: exact numbers are compared exactly, rounded ones are not."""

from __future__ import annotations

import signal
import time
from dataclasses import replace
from fractions import Fraction

import pyomo.environ as pyo
import pytest
from toy import KNAPSACK, TOY, Choice

from gadgetopt.system.files import Document
from gadgetopt.system.result import Evaluation, Limits, Status, Voucher
from gadgetopt.trust.run import solve

#: A worth that is a rounded real number: nothing that is chosen changes it.
WORTH = 0.24522191747334487


def constant(_instance):
    """Build a model without variables, whose objective is rounded."""
    m = pyo.ConcreteModel()
    m.worth = pyo.Objective(expr=WORTH, sense=pyo.maximize)
    return m


def partly(_instance):
    """Build a model with a share of an item, whose optimum 1/3 no double is."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Binary)
    m.share = pyo.Var(bounds=(0, 1))
    m.row = pyo.Constraint(expr=3 * m.share + m.x <= 1)
    m.worth = pyo.Objective(expr=m.share + Fraction(1, 10) * m.x, sense=pyo.maximize)
    return m


def problem(build, worth, error=Fraction(0)):
    """Return the toy whose formulation is `build`, and whose evaluator says `worth`."""
    plain = replace(
        TOY.formulations[0],
        build=build,
        decode=lambda m, instance: Choice(chosen=()),
        objective_error=error,
    )
    return replace(
        TOY,
        formulations=(plain,),
        evaluate=lambda instance, solution: Evaluation(worth),
        integral_objective=False,
    )


def run(given, backend="highs", time_s=None):
    document = Document(given, "instance", "small", KNAPSACK)
    return solve(document, f"plain@{backend}", Limits(time_s), 0)


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_a_bound_of_rounded_costs_may_be_weakened_by_its_certificate(backend):
    result = run(problem(constant, WORTH, Fraction(1, 10**12)), backend)
    assert (result.status, result.reason) == (Status.OPTIMAL, None)
    assert result.bound >= result.objective == WORTH


def test_a_decision_from_doubles_may_miss_the_exact_optimum_by_rounding():
    result = run(problem(partly, Fraction(1 / 3)))
    assert (result.status, result.reason) == (Status.OPTIMAL, None)
    assert result.claimed_objective == 1 / 3


def test_a_decision_worse_than_the_claim_is_an_error_all_the_same():
    result = run(problem(partly, Fraction(33, 100)))
    assert result.status is Status.ERROR
    assert "claimed objective 0.333" in result.reason


def test_exact_duals_verify_the_bound_of_a_model_without_variables():
    result = run(problem(constant, WORTH, Fraction(1, 10**12)))
    assert result.bound_voucher is Voucher.VERIFIED


def slow_to_build(_instance):
    time.sleep(60)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_the_building_of_a_model_ends_with_the_time():
    began = time.perf_counter()
    result = run(problem(slow_to_build, 1), time_s=0.2)
    assert time.perf_counter() - began < 30
    assert (result.status, result.limit_hit) == (Status.NO_SOLUTION, "time_s")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("compiler", ["linear.compile_model", "through_pyomo.nonlinear.Program.of"])
def test_the_compiling_of_a_model_ends_soon_after_the_time(compiler, monkeypatch):
    def build(instance):
        m = constant(instance)
        m.x = pyo.Var(bounds=(0, 1))
        m.row = pyo.Constraint(expr=(m.x**2 if "nonlinear" in compiler else m.x) <= 1)
        return m

    monkeypatch.setattr(f"gadgetopt.solvers.{compiler}", lambda model: time.sleep(60))
    began = time.perf_counter()
    result = run(problem(build, 1), "scip", 0.2)
    assert time.perf_counter() - began < 30
    assert (result.status, result.limit_hit) == (Status.NO_SOLUTION, "time_s")
