"""Rays along which an objective improves by less than HiGHS's tolerance notices."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest

from gadgetopt.solvers import solve_model
from gadgetopt.solvers.exact_optimum import rays
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.result import Limits, Status

DOMAINS = pytest.mark.parametrize("domain", [pyo.NonNegativeReals, pyo.NonNegativeIntegers])


def apart(slope, side=1, domain=pyo.NonNegativeReals, sense=pyo.minimize) -> pyo.ConcreteModel:
    """Build min y - slope x with x - y = side: unbounded if the slope is above 1."""
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(domain=domain), pyo.Var(domain=domain)
    model.apart = pyo.Constraint(expr=model.x - model.y == side)
    sign = 1 if sense == pyo.minimize else -1
    model.value = pyo.Objective(expr=sign * (model.y - slope * model.x), sense=sense)
    return model


@DOMAINS
@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
@pytest.mark.parametrize("step", [1e-5, 1e-6, 1e-7, 1e-8, 1e-9])
def test_a_ray_is_found_however_little_it_improves(domain, sense, step):
    outcome = solve_model(apart(1 + step, domain=domain, sense=sense), "highs")
    assert outcome.status is Status.UNBOUNDED
    assert (outcome.bound, outcome.objective, outcome.values) == (None, None, None)


@DOMAINS
def test_a_column_in_no_row_may_be_the_ray(domain):
    model = pyo.ConcreteModel()
    model.x, model.y = pyo.Var(domain=domain), pyo.Var(bounds=(0, 1))
    model.value = pyo.Objective(expr=model.y - 1e-7 * model.x)
    assert solve_model(model, "highs").status is Status.UNBOUNDED


@DOMAINS
@pytest.mark.parametrize("slope", [1, 1 - 1e-7, 1 - 1e-9])
def test_without_a_ray_there_is_an_optimum(domain, slope):
    model = apart(slope, domain=domain)
    assert rays.pulled_to_infinity(compile_model(model))
    outcome = solve_model(model, "highs")
    assert outcome.status is Status.OPTIMAL
    assert outcome.bound == pytest.approx(-slope)


def test_a_bounded_column_has_no_ray():
    model = apart(1 + 1e-7)
    model.x.setub(10)
    assert not rays.pulled_to_infinity(compile_model(model))
    assert solve_model(model, "highs").status is Status.OPTIMAL


def test_sides_that_no_double_holds_do_not_matter_to_a_ray():
    form = compile_model(apart(1 + 1e-7, side=10**18 + 1, domain=pyo.NonNegativeIntegers))
    assert form.exact.rows
    assert rays.has_ray(form, Limits(), 0)


def test_without_time_nothing_is_proved():
    assert not rays.has_ray(compile_model(apart(1 + 1e-7)), Limits(time_s=0.0), 0)


def test_ctrl_c_during_the_search_keeps_the_incumbent(monkeypatch):
    def pressed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(rays, "has_ray", pressed)
    outcome = solve_model(apart(1 - 1e-7, domain=pyo.NonNegativeIntegers), "highs")
    assert outcome.limit_hit == "interrupted"
    assert outcome.objective == pytest.approx(-1)
