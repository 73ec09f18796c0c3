"""All exact routes find the optimum, and bounds bound it, on 300 random instances."""

import pytest

from gadgetopt.system.files import find_instances, library, read_instance

from ..brute_force import INSTANCES, optimum, run

EXACT = ("elimination", "cp_clauses", "difference@highs", "both@highs")
BOUNDS = (
    "stars",
    "isolating_cuts",
    "elimination_bound",
    "difference_lp@highs",
    "both_lp@highs",
)
HEURISTICS = (
    "bgl",
    "random",
    "hash",
    "ldg",
    "fennel",
    "metis_like",
    "pagraph",
    "multi_start:starts=2",
)
TINY = {
    p.stem: read_instance(p).data for p in find_instances([library() / "bgl_partition" / "tiny"])
}
#: MILPs take a hundredth of a second each, so they see a part of the instances.
SHARE = {"elimination": 1, "cp_clauses": 1, "difference@highs": 3, "both@highs": 5}


def solved(instances):
    """Yield each instance with its optimum."""
    return ((instance, optimum(instance)) for instance in instances)


@pytest.mark.parametrize("method", EXACT)
def test_every_exact_route_agrees_with_brute_force(method):
    for instance, best in solved(INSTANCES[:: SHARE[method]]):
        found = run(instance, method)
        assert found.status == "optimal", (instance, found.reason)
        assert found.objective == best, instance


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", TINY)
def test_hand_checked_instances_come_out_to_the_digit(method, name):
    found = run(TINY[name], method)
    assert found.status == "optimal"
    assert found.objective == optimum(TINY[name])


@pytest.mark.parametrize("method", BOUNDS)
def test_bounds_are_certified(method):
    for instance, best in solved(INSTANCES[:20] if "@" in method else INSTANCES[:80]):
        found = run(instance, method)
        assert found.bound_voucher == "verified", (instance, found.reason)
        assert found.bound <= best


@pytest.mark.parametrize("method", HEURISTICS)
def test_heuristics_keep_the_caps_and_cost_no_less(method):
    for instance, best in solved(INSTANCES[:60]):
        found = run(instance, method)
        assert found.status == "feasible", (instance, found.reason)
        assert found.objective >= best


def test_most_optima_of_the_default_method_are_certified():
    found = [run(instance, "elimination") for instance in INSTANCES[:100]]
    assert sum(result.bound_voucher == "verified" for result in found) >= 80
