"""The bound by configurations of a slot, and the prices that prove it."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.data.generate.presets import contended_small
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.proving.bounds.instants import instants
from gadgetopt.models.sjf_bco.proving.certificate.check import (
    InstantPrices,
    SjfBcoCertificate,
    check_bound,
)
from gadgetopt.models.sjf_bco.proving.certificate.configurations import (
    iterations_per_slot,
    most_per_slot,
)
from gadgetopt.system.result import Limits

from ...brute_force import optimal_makespan
from ...hand_checked import co_locate, contention_pays, kappa_matters, staggered_start
from ...random_instances import small_instance

HAND_CHECKED = [
    (co_locate(), 2),
    (contention_pays(), 3),
    (staggered_start(), 11),
    (kappa_matters(), 2),
]


def proof(*prices: int) -> SjfBcoCertificate:
    return SjfBcoCertificate(instants=InstantPrices(prices=prices))


def assert_no_prices_prove_more(instance: SjfBcoInstance, optimum: int) -> None:
    outcome = instants(instance, Limits())
    assert outcome.certificate is not None
    assert check_bound(instance, outcome.certificate) == outcome.dual_bound <= optimum
    rng = np.random.default_rng(1)
    for _ in range(20):
        prices = rng.integers(0, 9, len(instance.jobs)).tolist()
        prices[0] += 1
        assert check_bound(instance, proof(*prices)) <= outcome.dual_bound


@pytest.mark.parametrize(("instance", "optimum"), HAND_CHECKED)
def test_the_best_prices_prove_most_and_never_more_than_the_optimum(instance, optimum):
    assert_no_prices_prove_more(instance, optimum)


@pytest.mark.parametrize("seed", range(4))
def test_no_prices_prove_more_than_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, most_jobs=2, most_servers=3, largest_server=2, most_work=20)
    assert_no_prices_prove_more(instance, optimal_makespan(instance, 80))


def test_configurations_of_two_gangs_of_three_share_a_server():
    # Servers of two: alone 6 iterations a slot on two servers; any two gangs share a server, 4.
    rows = iterations_per_slot(contention_pays())
    assert {tuple(row) for row in rows.tolist()} >= {(6, 0), (0, 6), (4, 4)}
    assert most_per_slot(rows, (1, 1)) == 8
    assert most_per_slot(rows, (10**30, 10**30)) == 8 * 10**30


@pytest.mark.parametrize(("prices", "message"), [((1,), "1 for 2 jobs"), ((0, 0), "all are 0")])
def test_prices_that_are_none_are_refused(prices, message):
    with pytest.raises(ValueError, match=message):
        check_bound(contention_pays(), proof(*prices))


def test_too_many_clusters_are_refused():
    instance = contended_small(np.random.default_rng(0), jobs=30, servers=20)
    with pytest.raises(ModelRefused, match="expected at most"):
        iterations_per_slot(instance)
