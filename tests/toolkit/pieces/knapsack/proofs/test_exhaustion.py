"""The check that nothing brings more than a bound, against enumeration of everything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.proofs import exhaustion
from gadgetopt.pieces.knapsack.proofs.exhaustion import Prices, TooManyChoices, largest_profit
from gadgetopt.pieces.knapsack.proofs.prices import most_steps, prices_of_proof
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits


def small_groups(rng: np.random.Generator, rows: int):
    """Up to six groups of up to three options; some have "nothing" among them."""
    return [
        [
            (int(rng.integers(0, 20)) if o else 0, tuple(rng.integers(0, 9, rows).tolist()))
            for o in range(int(rng.integers(1, 4)))
        ]
        for _ in range(int(rng.integers(0, 7)))
    ]


def enumerated(groups, capacity):
    """The largest profit of a choice that fits, None if there is none."""
    fitting = [
        sum(p for p, _ in choice)
        for choice in itertools.product(*groups)
        if all(sum(w[r] for _, w in choice) <= c for r, c in enumerate(capacity))
    ]
    return max(fitting, default=None)


def random_prices(rng: np.random.Generator, rows: int, groups: int) -> Prices:
    """Any prices, mostly bad ones, and further ones at any number of groups."""
    scale = int(rng.choice([1, 2, 16]))

    def drawn():
        return tuple(rng.integers(0, 4 * scale, rows).tolist())

    further = [(int(rng.integers(1, groups + 3)), drawn()) for _ in range(int(rng.integers(0, 5)))]
    return Prices(scale, drawn(), further)


@pytest.mark.parametrize("seed", range(300))
def test_any_prices_find_the_largest_profit_and_nothing_above_it(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 4))
    groups = small_groups(rng, rows)
    capacity = rng.integers(0, 25, rows).tolist()
    best = enumerated(groups, capacity)
    for at_least in range(0, 60, 3):
        found = largest_profit(groups, capacity, random_prices(rng, rows, len(groups)), at_least)
        assert found == (best if best is not None and best >= at_least else None)


def drawn_knapsack(seed: int, items: int = 60, rows: int = 3):
    """Single items, as a knapsack and as groups."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 1000, (items, rows))
    profits = weights.sum(axis=1) // rows + rng.integers(0, 500, items)
    groups = [
        [(int(p), tuple(w)), (0, (0,) * rows)]
        for p, w in zip(profits, weights.tolist(), strict=True)
    ]
    capacity = weights.sum(axis=0) // 2
    knapsack = Knapsack(
        profits.astype(float), weights.astype(float), np.arange(items), capacity.astype(float)
    )
    return knapsack, groups, capacity.tolist()


def test_the_prices_of_a_search_leave_few_choices():
    knapsack, groups, capacity = drawn_knapsack(0)
    found = cg_core(knapsack)
    optimum = int(found.value)
    main = Prices(1 << 20, [round(y * (1 << 20)) for y in found.duals.tolist()])
    prices = prices_of_proof(groups, capacity, main, optimum + 1, Clock())
    assert largest_profit(groups, capacity, prices, optimum + 1, 20_000_000) is None
    assert largest_profit(groups, capacity, prices, optimum - 5, 40_000_000) == optimum
    assert prices_of_proof(groups, capacity, main, optimum, Clock()) is None


def test_a_check_that_would_take_too_long_is_refused():
    _, groups, capacity = drawn_knapsack(1)
    with pytest.raises(TooManyChoices):
        largest_profit(groups, capacity, Prices(1, (0, 0, 0)), 0, 1_000_000)


def test_less_time_means_fewer_choices():
    assert most_steps(Clock()) == exhaustion.MOST_STEPS
    assert most_steps(Clock(Limits(time_s=0.0))) == 0


@pytest.mark.parametrize(
    ("prices", "why"),
    [
        (Prices(1, (1,)), "1 prices for 2 rows"),
        (Prices(1, (1, -1)), "a price is negative"),
        (Prices(0, (1, 1)), "not positive"),
        (Prices(1, (1, 1), ((1, (1,)),)), "1 prices for 2 rows"),
        (Prices(1, (1, 1), ((1, (1, -5)),)), "a price is negative"),
        (Prices(2**60, (1, 1)), "too many digits"),
        (Prices(1, (2**60, 1)), "too many digits"),
        (Prices(1, (1, 1), ((1, (1, 2**62)),)), "too many digits"),
    ],
)
def test_prices_that_prove_nothing_are_refused(prices, why):
    with pytest.raises(ValueError, match=why):
        largest_profit([[(3, (1, 2)), (0, (0, 0))]], [4, 4], prices, 1)


@pytest.mark.parametrize(
    ("prices", "profit"),
    [
        (Prices(1, (0, 2**63)), 1),
        (Prices(1, (0, 0), ((1, (0, 2**64)),)), 1),
        (Prices(2**70, (0, 0)), 0),
    ],
)
def test_prices_of_what_nothing_uses_are_refused_too_if_large(prices, profit):
    groups = [[(profit, (1, 0)), (0, (0, 0))], [(profit, (1, 0)), (0, (0, 0))]]
    with pytest.raises(ValueError, match="too many digits"):
        largest_profit(groups, [1, 5], prices, 0)


def test_options_that_do_not_fit_count_as_steps():
    light = [(1, (0,))] * 300
    heavy = [(1, (0,)), *[(1, (2,))] * 999]
    assert largest_profit([light, heavy], [3], Prices(1, (0,)), 2) == 2
    with pytest.raises(TooManyChoices):
        largest_profit([light, heavy], [1], Prices(1, (0,)), 2, 100_000)


def test_numbers_just_below_the_limit_do_not_overflow():
    big = 2**55
    groups = [[(big, (1, 1)), (0, (0, 0))], [(big - 1, (1, 1)), (0, (0, 0))]]
    assert largest_profit(groups, [1, 10**30], Prices(1, (big, 0)), big) == big
    assert largest_profit(groups, [1, 10**30], Prices(1, (big, 0)), big + 1) is None
