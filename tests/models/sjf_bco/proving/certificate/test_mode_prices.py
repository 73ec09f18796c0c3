"""What iterations are worth at prices of modes, against the definition slot by slot."""

from __future__ import annotations

import time

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.proving.certificate.mode_prices import Modes, price_tables

from ... import hand_checked
from ...exact_instances import tiny_instance
from ...hand_checked import contention_pays, job


def falling_prices(modes: Modes, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw prices that do not rise with the servers or the level."""
    prices = rng.integers(0, 30, size=modes.first[-1])
    while any(prices[more] > prices[less] for less, more in modes.no_better):
        for less, more in modes.no_better:
            prices[more] = min(prices[more], prices[less])
    return tuple(prices.tolist())


def worth_by_slots(
    modes: Modes, prices: tuple[int, ...], j: int, r: int, work: int
) -> list[int] | None:
    """Return V_j^r(0..work): the last slot is at one of the levels; None if none does anything."""
    rates = modes.instance.rates
    levels = [
        (rates.rate(j, r, p), prices[modes.first[j] + i])
        for i, (q, p) in enumerate(modes.of_job[j])
        if q == r and rates.rate(j, r, p)
    ]
    if not levels:
        return None
    worth = [0]
    for f in range(1, work + 1):
        worth.append(min(price + worth[max(f - phi, 0)] for phi, price in levels))
    return worth


@pytest.mark.parametrize(
    "instance", [contention_pays(), *(tiny_instance(seed) for seed in range(30))]
)
def test_iterations_are_worth_the_cheapest_slots_that_do_them(instance: SjfBcoInstance):
    modes, rng = Modes(instance), np.random.default_rng(0)
    several = [falling_prices(modes, rng) for _ in range(3)]
    tables = price_tables(modes, several)
    for j, work in enumerate(instance.rates.iterations):
        for k, prices in enumerate(several):
            ways = {
                r: worth
                for r in instance.rates.server_counts(j)
                if (worth := worth_by_slots(modes, prices, j, r, work)) is not None
            }
            for r, worth in ways.items():
                assert tables.worth[j, r, : work + 1, k].tolist() == worth
            least = np.min(list(ways.values()), axis=0).tolist()
            assert tables.worth[j, 0, : work + 1, k].tolist() == least


def test_long_jobs_are_tabulated_in_moments():
    # A step for every slowest rate of the 400,000 iterations takes some seconds.
    long = [job(3, 200_000, 1.5, 0.02)] * 2
    modes = Modes(hand_checked.instance([2, 2, 2], long, horizon=10**6))
    assert len({modes.instance.rates.rate(0, 2, p) for p in modes.instance.rates.levels(2)}) > 1
    prices = [falling_prices(modes, np.random.default_rng(k)) for k in range(10)]
    began = time.process_time()
    tables = price_tables(modes, prices)
    assert time.process_time() - began < 2
    work = 1000  # the first of them, by slots
    assert tables.worth[1, 2, : work + 1, 7].tolist() == worth_by_slots(
        modes, prices[7], 1, 2, work
    )
