"""The claimed ratios of PD-ORS are refuted, the proven one holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.algorithms.rounding import pd_ors_rounding
from gadgetopt.models.pd_ors.data.generate.presets import tiny
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.formulations.compact import build
from gadgetopt.models.pd_ors.guarantees.ratios import (
    competitive_ratio,
    exact_kernel,
    lemma_factor,
    lower_price_of_the_paper,
    prices_of,
    rho_hat,
    rounding_log_probability,
    rounding_ratio,
    small_demands,
    small_demands_ratio,
)
from gadgetopt.models.pd_ors.instance import TableUtility
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ..kernel_instances import cluster, job
from ..variants import variant

#: Parameters of `pd_ors` and of its roundings.
DEFAULTS = {"upper": "min", "factor": 1.0}
EXACT = {"upper": "min", "slot_method": "exact_dp", "progress": "exact"}


def worth(*values, **changes):
    return job(utility=TableUtility(values=values), **changes)


def run(instance, parameters):
    outcome = variant(instance, **parameters)
    return float(evaluate(instance, outcome.solution).objective), outcome.solution


def optimum(instance):
    return solve_model(build(instance), "highs").objective


# B: one machine of 3 units and two jobs that need all of them, worth 1 and 10.
B = cluster([worth(1), worth(10)], [(3,)], 1)
# One machine of 4 units and two jobs of 3 units, worth 1 and 10^6: one unit is left, of no use.
ROOM_LEFT = cluster([worth(1), worth(1_000_000)], [(4,)], 1)


@pytest.mark.parametrize(
    ("upper", "claimed"), [("sum", 2 * math.log(60)), ("min", 2 * math.log(120))]
)
def test_b_refutes_the_competitive_ratio(upper, claimed):
    parameters = {**EXACT, "upper": upper}
    value, _ = run(B, parameters)

    assert (value, optimum(B)) == (1, pytest.approx(10))
    assert competitive_ratio(B, parameters) == pytest.approx(claimed)
    assert 10 / value > claimed


def test_b_corrected_constant_is_118():
    parameters = {**EXACT, "upper": "sum"}
    outcome = variant(B, **parameters)

    # z = k = ln 60: k (e^z - 1) / z = 59.
    assert outcome.notes["claimed_ratio"] == pytest.approx(2 * math.log(60))
    assert outcome.notes["corrected_ratio"] == pytest.approx(118)
    assert rho_hat(B, outcome.solution, prices_of(B, parameters)) == 1


def test_room_that_is_left_refutes_the_corrected_constant():
    outcome = variant(ROOM_LEFT, **EXACT)
    corrected = outcome.notes["corrected_ratio"]

    # mu = 4 / (2 * 2) = 1, L = 1 / (2 * 4 * 2) = 1/16, U = 10^6, z = 3/4 ln(1.6e7).
    k = math.log(1.6e7)
    assert corrected == pytest.approx(2 * (math.exp(0.75 * k) - 1) / 0.75)
    assert outcome.claimed_objective == 1
    assert corrected < 1_000_000


@pytest.mark.parametrize("instance", [B, ROOM_LEFT], ids=["b", "room_left"])
def test_where_jobs_fill_machines_nothing_is_proved(instance):
    assert small_demands_ratio(instance, EXACT) is None


@pytest.mark.parametrize("span", ["literal", 1.0, 3.0, "given"])
@pytest.mark.parametrize("upper", ["min", "sum"])
def test_the_inequality_behind_small_demands_holds(upper, span):
    parameters = {**EXACT, "upper": upper}
    if span == "given":
        parameters.update(given_upper=2.0, given_lower=0.05)
    elif span != "literal":
        parameters["log_price_span"] = span
    for seed in range(12):
        rng = np.random.default_rng(seed)
        instance = tiny(rng, jobs=4, resources=1 + seed % 2)
        value, _ = run(instance, parameters)
        parts = small_demands(instance, parameters)
        kappa, step = math.exp(parts.log_kappa), math.exp(parts.log_step)
        best = optimum(instance)

        assert best <= kappa * math.exp(parts.log_start) + max(1, kappa * step) * value + 1e-6
        assert parts.reached <= best + 1e-6 or best == pytest.approx(0)


@pytest.mark.parametrize("locality", ["both", "external_only", "internal_only"])
@pytest.mark.parametrize("ratio", ["at_least", "exact"])
def test_the_inequality_holds_for_every_variant(locality, ratio):
    for seed in range(6):
        instance = tiny(np.random.default_rng(seed), jobs=3, locality=locality, ratio=ratio)
        value, _ = run(instance, EXACT)
        parts = small_demands(instance, EXACT)
        kappa, step = math.exp(parts.log_kappa), math.exp(parts.log_step)

        bound = kappa * math.exp(parts.log_start) + max(1, kappa * step) * value
        assert optimum(instance) <= bound + 1e-6


def many_small(machine=400.0, jobs=30):
    """Jobs of 3 or 6 units on machines of hundreds, more of them than there is room for."""
    rng = np.random.default_rng(5)
    return cluster(
        [worth(float(rng.integers(5, 20))) for _ in range(jobs)], [(machine,), (machine,)], 1
    )


def test_with_small_demands_the_ratio_is_finite_and_holds():
    instance = many_small()
    parts = small_demands(instance, EXACT)
    value, _ = run(instance, EXACT)

    # A job takes 6 of 400 units at most, and e^(k 6 / 400) is next to 1.
    assert 0 <= parts.log_kappa < 0.2
    assert parts.ratio < 15
    # All jobs fit.
    assert value == sum(j.utility.values[0] for j in instance.jobs)


def test_with_small_demands_and_little_room_the_ratio_holds():
    instance = many_small(machine=40.0)
    ratio = small_demands_ratio(instance, {**EXACT, "log_price_span": 6.0})
    value, _ = run(instance, {**EXACT, "log_price_span": 6.0})

    assert ratio is None or optimum(instance) <= ratio * value + 1e-6


def test_larger_machines_lower_the_proved_ratio():
    # By a price range that does not depend on the machines.
    parameters = {**EXACT, "given_upper": 20.0, "given_lower": 1e-4}
    ratios = [small_demands_ratio(many_small(m), parameters) for m in (200.0, 400.0, 800.0)]

    assert ratios == sorted(ratios, reverse=True)


def test_rounding_version_and_its_probability():
    parameters = {**DEFAULTS, "factor": 0.5, "upper": "sum"}

    # 6 * 0.5 / 0.5 = 6 times ln 60.
    assert rounding_ratio(B, parameters) == pytest.approx(6 * math.log(60))
    # One slot, eight samples: 2^-8.
    assert rounding_log_probability(B) == pytest.approx(-8 * math.log(2))


def test_assumptions_say_when_the_kernel_is_exact():
    few = tiny(np.random.default_rng(0))

    assert exact_kernel(few, EXACT)
    assert exact_kernel(few, DEFAULTS)
    assert not exact_kernel(few, {**EXACT, "progress": "quantised"})
    assert not exact_kernel(few, {**EXACT, "slot_method": "greedy"})
    assert not exact_kernel(few, {**EXACT, "slot_method": "milp", "grid": 16})
    assert exact_kernel(few, {**EXACT, "slot_method": "milp", "grid": 0})


def test_assumptions_of_rounding_and_prices():
    of_rounding = {"pd_ors_rounding", "pd_ors_repaired_rounding"}
    assert set(next(g for g in PROBLEM.guarantees if "roundings" in g.name).methods) == of_rounding
    # Machines of 3 units, l = ln(3 * 2 / 0.5) = 2.48: (6 + l - sqrt(24 l + l^2)) / 6 = 0.0621.
    assert lemma_factor(B, {**DEFAULTS, "factor": 0.062})
    assert not lemma_factor(B, {**DEFAULTS, "factor": 0.0625})
    assert not lemma_factor(B, DEFAULTS)
    assert lemma_factor(B, {**DEFAULTS, "factor": 50.0})
    assert lower_price_of_the_paper(B, DEFAULTS)
    assert not lower_price_of_the_paper(B, {**DEFAULTS, "log_price_span": 10.0})


def test_rho_hat_compares_spread_slots_with_their_relaxation():
    # 4 workers and 2 servers spread over machines that hold 3 units each.
    instance = cluster(
        [worth(10, worker_ps_ratio=2, samples=8)], [(3,), (3,)], 1, locality="external_only"
    )
    _, solution = run(instance, EXACT)

    assert len(solution.schedules[0][0].placements) == 2
    assert rho_hat(instance, solution, prices_of(instance, EXACT)) == pytest.approx(1)
    rounded = pd_ors_rounding(instance, Limits(), np.random.default_rng(0))
    assert rounded.notes["rho_hat"] == pytest.approx(1)
    assert rounded.notes["log_probability"] == pytest.approx(-8 * math.log(2))
