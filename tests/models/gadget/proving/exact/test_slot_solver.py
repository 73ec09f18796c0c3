"""Exact slot solver: equal to brute force, and certified."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gadgetopt
from gadgetopt.models.gadget.data.generate.presets import (
    rigid,
    slot,
    tiny,
)
from gadgetopt.models.gadget.proving.bounds.config_lp import config_lp
from gadgetopt.models.gadget.proving.bounds.tree_pricing import (
    Prices,
    TreePricing,
)
from gadgetopt.models.gadget.proving.certificate.bandwidth_tightening import tightened
from gadgetopt.models.gadget.proving.exact.slot_solver import solve_slot
from gadgetopt.models.gadget.proving.knapsack_bound import knapsack_bound
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping, slot_problem
from gadgetopt.system.result import Limits

from ...loads import total_loads
from ...subproblems.test_placement import (
    H5,
    slot_instance,
)

TINY = Path(__file__).parents[5] / "instances" / "gadget" / "tiny"


def problem_of(instance):
    return slot_problem(instance.terms, instance.horizon_slots, [0] * len(instance.jobs))


def all_mappings(x):
    """Return every way to place a ring of the job on the servers."""
    fits = [range(int(n) + 1) for n in x.job.per_server]
    for counts in itertools.product(*fits):
        if 1 <= sum(counts) <= x.most:
            yield Mapping(x.job.index, tuple((s, n) for s, n in enumerate(counts) if n))


def best_by_enumeration(problem):
    terms = problem.terms
    alone = [
        [m for m in all_mappings(x) if total_loads(terms, [m]).fit(terms)] for x in problem.jobs
    ]
    best = 0.0
    for chosen in itertools.product(*([None, *of_job] for of_job in alone)):
        rings = [m for m in chosen if m is not None]
        value = sum(
            float(x.gain[m.size])
            for x, m in zip(problem.jobs, chosen, strict=True)
            if m is not None
        )
        if value > best and total_loads(terms, rings).fit(terms):
            best = value
    return best


def test_h2_bounds_form_a_chain():
    # A ring of three spans two servers, and each link carries one such ring: the optimum is 30.
    problem = problem_of(
        slot_instance([(0, 2, 3000)] * 3, [0], [(2000, (0, 0, 0, 30)), (2000, (0, 0, 0, 20))])
    )
    assert knapsack_bound(problem).bound == 50
    assert config_lp(problem, Limits()).bound == pytest.approx(40)
    assert best_by_enumeration(problem) == 30


def test_h5_is_closed_by_sizes_alone():
    found = solve_slot(problem_of(H5), Limits(), np.random.default_rng(0))
    assert (found.value, found.bound, found.proof) == (47, 47, "sizes by capacity")


@pytest.mark.parametrize("jobs", [8, 24])
def test_rigid_rings_are_closed_where_bandwidth_binds(jobs):
    problem = problem_of(rigid(np.random.default_rng(1), jobs=jobs, servers=jobs))
    found = solve_slot(problem, Limits(), np.random.default_rng(0))
    assert found.closed
    assert knapsack_bound(problem).bound > 1.1 * found.value
    assert total_loads(problem.terms, found.mappings).fit(problem.terms)


@pytest.mark.parametrize("seed", range(25))
def test_value_optimum_and_bounds_are_in_order(seed):
    problem = problem_of(tiny(np.random.default_rng(seed)))
    optimum = best_by_enumeration(problem)
    found = solve_slot(problem, Limits(), np.random.default_rng(0))
    slack = 1e-9 * (1 + optimum)
    assert found.value <= optimum + slack
    assert found.bound >= optimum - slack
    assert config_lp(problem, Limits()).bound >= optimum - slack
    assert knapsack_bound(problem).bound >= optimum - slack
    assert total_loads(problem.terms, found.mappings).fit(problem.terms)


@pytest.mark.parametrize("seed", range(15))
def test_pricing_finds_the_ring_that_is_worth_most(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(tiny(rng, servers=4))
    terms, pricing = problem.terms, TreePricing(problem)
    tree = terms.tree
    prices = Prices(
        rng.uniform(0, 5, terms.capacity.shape) * rng.integers(0, 2, terms.capacity.shape),
        rng.uniform(0, 1e-3, len(tree.access)),
        rng.uniform(0, 1e-3, len(tree.uplink)),
    )

    def net(x, mapping):
        used = total_loads(terms, [mapping])
        links = np.concatenate([prices.access, prices.uplink])
        return float(
            x.gain[mapping.size] - (used.server * prices.unit).sum() - links @ used.link[::2]
        )

    values, mappings = pricing.best(prices)
    for x, value, mapping in zip(problem.jobs, values, mappings, strict=True):
        alone = [m for m in all_mappings(x) if total_loads(terms, [m]).fit(terms)]
        assert value == pytest.approx(max([0.0, *(net(x, m) for m in alone)]), abs=1e-9)
        if mapping is not None:
            assert net(x, mapping) == pytest.approx(value, abs=1e-9)


@given(st.lists(st.integers(0, 40), max_size=6), st.lists(st.integers(0, 90), max_size=3))
def test_tightened_capacities_are_the_largest_sums(bandwidths, capacities):
    sums = {sum(part) for n in range(7) for part in itertools.combinations(bandwidths, n)}
    expected = [max(x for x in sums if x <= capacity) for capacity in capacities]
    assert tightened(capacities, bandwidths) == expected


def test_slots_of_the_papers_size_are_certified():
    for scarce in (False, True):
        problem = problem_of(slot(np.random.default_rng(1), jobs=50, scarce=scarce))
        assert solve_slot(problem, Limits(), np.random.default_rng(0)).closed


@pytest.mark.parametrize("seed", range(10))
def test_search_closes_what_the_program_leaves(seed):
    problem = problem_of(tiny(np.random.default_rng(100 + seed)))
    found = solve_slot(problem, Limits(), np.random.default_rng(0))
    assert found.closed
    assert found.value == pytest.approx(best_by_enumeration(problem), abs=1e-9)


@pytest.mark.parametrize("name", ["h1", "h2", "h5", "h6", "h7"])
def test_hand_checked_slots_are_closed(name):
    optima = {"h1": 6, "h2": 30, "h5": 47, "h6": 3, "h7": 9}
    (path,) = (p for p in TINY.glob(f"{name}_*.json") if "narrow" not in p.name)
    result = gadgetopt.solve(gadgetopt.read(path), method="slot_exact")
    assert result.status == "optimal"
    assert result.objective == optima[name]
