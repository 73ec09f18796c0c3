"""All exact routes find the optimum, and relaxations bound it, on 200 random instances."""

import numpy as np
import pytest

from ..brute_force import optimum, run, small_instance

EXACT = (
    "assignment@highs",
    "assignment@cpsat",
    "ordered_assignment@highs",
    "arc_flow@highs",
    "patterns@highs",
    "patterns@cpsat",
    "cp_cumulative",
    "bin_search",
)
INSTANCES = [small_instance(np.random.default_rng(seed)) for seed in range(200)]


@pytest.mark.parametrize("method", EXACT)
def test_every_exact_route_agrees_with_brute_force(method):
    for instance in INSTANCES:
        found = run(instance, method)
        assert found.status == "optimal", (instance, found.reason)
        assert found.objective == found.bound == OPTIMA[instance], instance


@pytest.mark.parametrize("method", ["assignment_lp@highs", "arc_flow_lp@highs"])
def test_relaxations_are_certified_bounds(method):
    for instance in INSTANCES[:60]:
        found = run(instance, method)
        assert found.bound_voucher == "verified"
        assert instance.mean_load_s <= found.bound <= OPTIMA[instance], instance


OPTIMA = {instance: optimum(instance) for instance in INSTANCES}
