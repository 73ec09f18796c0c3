"""Enumeration of all allocations and every method agree.

GADGETOPT_BGL=300 in the environment tries more random instances (default 25).
"""

import os
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.run import solve

from .brute_force import optimum, run, small_instance

TRIES = int(os.environ.get("GADGETOPT_BGL", "25"))
EXACT = ("parametric", "brute_force", "tables@highs", "cp_elements", "products@scip")
OTHERS = ("even_split", "proportional", "continuous", "tables_lp@highs")

#: Optima derived by hand in the files' notes; None where there is no allocation.
TINY = {
    "gpu_bound": 3,
    "h3_cache": Fraction("1.95"),
    "no_floor": Fraction("1.75"),
    "one_core_short": None,
    "store_bound": 10,
}


def tiny():
    paths = find_instances([library() / "bgl_resources/tiny"])
    return {d.name: d for d in map(read_instance, paths)}


def test_every_tiny_instance_has_an_optimum_by_hand():
    assert set(tiny()) == set(TINY)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", TINY)
def test_every_route_has_the_optimum_computed_by_hand(name, method):
    document = tiny()[name]
    assert optimum(document.data) == TINY[name]
    result = solve(document, method, Limits(time_s=60))
    if TINY[name] is None:
        assert result.refused or result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL, result.reason
        assert result.objective == TINY[name]


@pytest.mark.parametrize("seed", range(TRIES))
def test_all_routes_agree_on_random_instances(seed):
    instance = small_instance(np.random.default_rng(seed))
    best = optimum(instance)
    for method in EXACT if seed % 5 == 0 else EXACT[:-1]:
        result = run(instance, method)
        if result.refused:
            assert best is None or method not in ("parametric", "brute_force", "cp_elements")
        elif best is None:
            assert result.status is Status.INFEASIBLE
        else:
            assert result.status is Status.OPTIMAL, (method, result.reason)
            assert result.objective == best, method
    for method in OTHERS:
        result = run(instance, method)
        if best is not None and not result.refused:
            assert result.status is not Status.ERROR, result.reason
            assert result.objective is None or result.objective >= best
            assert result.bound is None or result.bound <= best


def test_the_default_method_certifies_its_optimum():
    assert solve(tiny()["h3_cache"], "parametric").bound_voucher is Voucher.VERIFIED
