"""The hand-checked cases by every route, and all routes on random prices."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.adversarial_online.sequence.data.generate import presets
from gadgetopt.models.adversarial_online.subproblems.grids import geometric
from gadgetopt.numbers.tolerance import agrees

from .brute_force import GAMES, bundles, optimum, prices, random_prices, run

UNIT_ROUTES = ("dynamic_program", "dinkelbach_cpsat", "dinkelbach_highs", "dinkelbach_resources")

CASES = [
    # Section 10, 1: 1, 4 against any table of one unit: it sells to 1 and misses 4.
    (prices([1, 2, 4], [1], horizon=3), 4),
    # 4: (1, 2, 4, 4) sells 1 and 2 of an optimum of 8.
    (prices([1, 2, 4], [1, "1.5616"], horizon=4), Fraction(8, 3)),
    # (1, 1, 2, 4, 4, 4) sells 1, 1, 2 of an optimum of 12.
    (prices([1, 2, 4], [1, 1, 2], horizon=6), 3),
    # (1, 1, 4, 4) sells 1, 1 of an optimum of 8.
    (prices([1, 2, 4], [1, 1], horizon=4), 4),
    (prices([1, 2, 4], [1, 1], horizon=4, payoff="regret"), 6),
    # Half the draws post 1, half 4: of 1, 2 they earn 1/2, where 2 were to be had.
    (prices([1, 2, 4], [1], [4], horizon=2), 4),
]


@pytest.mark.parametrize("method", UNIT_ROUTES)
@pytest.mark.parametrize(("instance", "wanted"), CASES)
def test_hand_checked_cases_come_out_to_the_digit_by_every_route(instance, wanted, method):
    if method == "dinkelbach_resources" and len(instance.policy) > 1:
        pytest.skip("not for lotteries")
    found = run(instance, method)
    assert found.objective == wanted
    assert agrees(found.bound, wanted)
    assert found.status == "optimal"


def test_two_resources_come_out_to_the_digit():
    for method in ("dynamic_program", "dinkelbach_resources"):
        found = run(bundles(), method)
        assert found.objective == 4  # type 0, then 3: the first sale blocks the bundle
    assert optimum(bundles()) == 4


@pytest.mark.parametrize(
    ("units", "levels", "horizon", "wanted"),
    [(4, 7, 10, 2.619840), (6, 9, 14, 2.596661), (8, 9, 20, 2.485004)],
)
def test_the_larger_tables_of_section_10(units, levels, horizon, wanted):
    # The optimal tables of k units for values from 1 to 4, on geometric grids.
    from gadgetopt.models.adversarial_online.subproblems.curves import finite_table

    table = finite_table(units, Fraction(1), Fraction(4))
    instance = prices(geometric(levels, 4), table, horizon=horizon)
    found = run(instance)
    assert found.status == "optimal"
    assert float(found.objective) == pytest.approx(wanted, abs=6e-7)
    if horizon >= 2 * units:
        assert run(instance, "closed_form").objective == found.objective


def test_closed_form_program_and_brute_force_agree_on_500_non_decreasing_tables():
    verified = Counter()
    for seed in range(500):
        instance = random_prices(np.random.default_rng(seed), monotone=True)
        wanted = optimum(instance)
        for method in ("closed_form", "dynamic_program"):
            found = run(instance, method)
            assert found.objective == found.bound == wanted, (method, instance)
            # An unbounded ratio has nothing to check.
            assert found.bound_voucher == "verified" or not found.certificate, (method, instance)
            verified[method] += found.bound_voucher == "verified"
    assert verified["closed_form"] == verified["dynamic_program"] > 400


def test_program_and_brute_force_agree_on_500_tables_and_lotteries_in_any_order():
    for seed in range(500):
        rng = np.random.default_rng(seed)
        instance = random_prices(rng, monotone=False, tables=1 + seed % 2)
        found = run(instance)
        assert found.objective == found.bound == optimum(instance), instance


@pytest.mark.parametrize("monotone", [True, False])
def test_integer_and_constraint_programs_agree_with_brute_force(monotone):
    for seed in range(GAMES):
        instance = random_prices(np.random.default_rng(seed), monotone=monotone)
        wanted = optimum(instance)
        for method in ("dinkelbach_cpsat", "dinkelbach_highs"):
            found = run(instance, method)
            assert found.objective == wanted, (method, instance)
            assert agrees(found.bound, wanted), (method, instance)


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_the_regret_as_one_integer_program(backend):
    for seed in range(min(GAMES, 60)):
        instance = random_prices(np.random.default_rng(seed), monotone=False)
        instance = instance.model_copy(update={"payoff": "regret"})
        found = run(instance, f"posted_prices@{backend}")
        assert found.objective == optimum(instance), instance
        assert agrees(found.bound, found.objective)
    found = run(bundles().model_copy(update={"payoff": "regret"}), f"resources@{backend}")
    assert found.objective == run(bundles().model_copy(update={"payoff": "regret"})).objective


def test_a_stream_of_what_is_refused_makes_the_ratio_infinite():
    instance = prices([1, 2], [2], horizon=3)
    for method in ("dynamic_program", "closed_form", "dinkelbach_highs", "chain", "any_horizon"):
        assert run(instance, method).status == "unbounded"
    assert run(instance.model_copy(update={"payoff": "regret"})).objective == 1


def test_several_resources_agree_with_brute_force():
    for seed in range(12):
        rng = np.random.default_rng(seed)
        instance = presets.resources(rng, units=2, types=3, horizon=3)
        found = run(instance)
        assert found.objective == found.bound == optimum(instance), instance
        if seed < 3:
            by_model = run(instance, "dinkelbach_resources")
            assert by_model.objective == found.objective, instance
