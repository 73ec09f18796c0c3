"""The ladder of bounds, B0 to B5 and the prices of parts, against each other and against optima."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.proving.bounds.price import price_bound
from gadgetopt.models.a_srpt.proving.bounds.server_price import server_price_bound
from gadgetopt.models.a_srpt.proving.bounds.time_indexed import time_indexed_bound
from gadgetopt.models.a_srpt.proving.bounds.transportation import transportation_bound
from gadgetopt.models.a_srpt.proving.certificate.check import (
    FORMULAS,
    check_bound,
    proved,
)
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits

from ...rigid_jobs import (
    H3,
    cluster_optimum,
    instance_of,
    pool_optimum,
    random_jobs,
)

METHODS = {
    "B3": transportation_bound,
    "B4": time_indexed_bound,
    "B5": price_bound,
    "parts": server_price_bound,
}
#: Prices of linear programs are read as fractions; what that loses, for each unit of the bound.
ROUNDING = Fraction(1, 10**6)


def certificate(instance, name):
    return METHODS[name](instance, Limits()).certificate


def ladder(instance):
    """Return all bounds, not raised to the next value of an optimum."""
    pool = pool_of(instance)
    bounds = dict(zip(("B0", "B1", "B2"), (f(pool) for f in FORMULAS.values()), strict=True))
    return bounds | {name: proved(instance, certificate(instance, name).proof) for name in METHODS}


def test_h3_to_the_digit():
    # J1 (0, 4, 4), J2 (1, 1, 2), J3 (1, 2, 2) on 2 + 2 GPUs. B1: virtual sizes 16, 2, 4 microticks,
    # J1 runs 0-4 and 10-22, J2 4-6, J3 6-10. B2: mean busy times 3.125, 1.25, 2 and half durations.
    bounds = ladder(H3)
    assert bounds["B0"] == 10
    assert bounds["B1"] == Fraction(19, 2)
    assert bounds["B2"] == Fraction(83, 8)
    assert bounds["B3"] == Fraction(177, 16)
    assert bounds["B4"] == bounds["B5"] == bounds["parts"] == Fraction(49, 4)
    assert pool_optimum(H3) == cluster_optimum(H3) == 13


def test_h4_to_the_digit():
    # One-GPU jobs of 6, 8, 10 ticks at 0; from 6 on, one of two GPUs and 2 ticks: B0 = 24 + 8. On
    # the virtual machine they complete at 6, 14, 24 and 28 microticks: B1 = 72 / 4.
    h4 = read_instance(library() / "a_srpt" / "tiny" / "h4_delay_for_consolidation.json").data
    bounds = ladder(h4)
    assert bounds["B0"] == bounds["B3"] == bounds["B4"] == bounds["B5"] == 32
    assert bounds["B1"] == 18
    assert bounds["B2"] == Fraction(55, 2)
    assert bounds["parts"] == cluster_optimum(h4) == 32


def test_h3_raised_to_the_next_value_of_an_optimum_is_closed():
    assert check_bound(H3, certificate(H3, "B4")) == 13


def test_b1_and_b2_are_not_comparable():
    # Two jobs of all GPUs, (r, d) = (0, 10), (1, 1).
    bounds = ladder(instance_of((4,), [(0, 4, 10, 1), (1, 4, 1, 1)]))
    assert bounds["B1"] == 13
    assert bounds["B2"] == Fraction(129, 10)


@pytest.mark.parametrize("seed", range(12))
def test_bounds_are_in_order_and_below_the_optimum_of_the_pool(seed):
    rng = np.random.default_rng(seed)
    instance = instance_of((4,), random_jobs(rng, 6, 4))
    bounds = ladder(instance)
    optimum = pool_optimum(instance)
    slack = ROUNDING * optimum
    assert bounds["B0"] <= bounds["B3"] + slack
    assert bounds["B2"] <= bounds["B3"] + slack
    assert bounds["B3"] <= bounds["B4"] + slack
    assert bounds["B5"] <= bounds["B4"] + slack
    assert max(bounds.values()) <= optimum
    for name in METHODS:
        assert check_bound(instance, certificate(instance, name)) <= optimum


@pytest.mark.parametrize("seed", range(6))
def test_all_bounds_are_below_the_optimum_of_the_cluster(seed):
    rng = np.random.default_rng(100 + seed)
    servers = (2, 2) if seed % 2 else (3, 1)
    instance = instance_of(servers, random_jobs(rng, 4, 4), Fraction(int(rng.integers(0, 4)), 2))
    optimum = cluster_optimum(instance)
    assert pool_optimum(instance) <= optimum
    assert max(ladder(instance).values()) <= optimum
    assert check_bound(instance, certificate(instance, "parts")) <= optimum


def test_weights_of_a_common_divisor_raise_the_bound_to_its_multiple():
    jobs = [(0, 4, 4, Fraction(5, 2)), (1, 1, 2, Fraction(5, 2)), (1, 2, 2, Fraction(5, 2))]
    instance = instance_of((2, 2), jobs)
    found = certificate(instance, "B4")
    assert proved(instance, found.proof) == Fraction(49, 4) * Fraction(5, 2)
    assert check_bound(instance, found) == 13 * Fraction(5, 2) == pool_optimum(instance)


def test_bounds_of_many_jobs_are_in_order():
    rng = np.random.default_rng(5)
    jobs = [
        (int(r), int(g), int(d), 1)
        for r, g, d in zip(
            np.sort(rng.integers(0, 80, 60)),
            rng.choice([1, 2, 3, 5, 8], 60),
            np.exp(rng.uniform(0, 3, 60)).astype(int),
            strict=True,
        )
    ]
    bounds = ladder(instance_of((8, 8), jobs))
    slack = ROUNDING * bounds["B4"]
    assert bounds["B0"] <= bounds["B3"] + slack <= bounds["B4"] + 2 * slack
    assert bounds["B2"] <= bounds["B3"] + slack
    assert Fraction(999, 1000) * bounds["B4"] <= bounds["B5"] <= bounds["B4"] + slack
