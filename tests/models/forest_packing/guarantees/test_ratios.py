"""The theorems hold on measured plans and small networks."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.algorithms.forest_packing import forest_packing
from gadgetopt.models.forest_packing.guarantees.ratios import (
    crossing_bound,
    packing_ratio,
    partitions,
    unpolished_ratio,
    unrestricted,
)
from gadgetopt.models.forest_packing.heuristics.packing_to_gap import packing_to_gap
from gadgetopt.models.forest_packing.heuristics.unpolished_packing import unpolished_packing
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.models.forest_packing.outcome import depth
from gadgetopt.models.forest_packing.packing import Pair
from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.system.result import Limits

from ..brute_force import optimal_rate
from ..networks import (
    BUILDERS,
    known,
    random_instance,
    symmetric,
)


def pipeline_factor(depth: int, chunks: int) -> Fraction:
    """Return 1 + (h-1)/m, the bound on T/T* without latency (T5)."""
    return 1 + Fraction(depth - 1, chunks)


def deepest(num_workers: int) -> int:
    """Return 2(N-1), the largest depth of a tree pair in hops (T5)."""
    return 2 * (num_workers - 1)


def chain_ratio(eps: Number, eta: Number, depth: int, chunks: int) -> Fraction:
    """Return the bound on T/T* of packing, pruning and pipeline together (T6, reconstructed)."""
    packed = 1 / (1 - decimal_rational(eps)) ** 2
    return packed / (1 - decimal_rational(eta)) * pipeline_factor(depth, chunks)


def smallest_crossing(instance: ForestPackingInstance) -> Fraction:
    """Return the least `crossing_bound` of all partitions; tau on symmetric networks (T1).

    By enumeration: for small networks, as a witness of faster algorithms.
    """
    return min(
        crossing_bound(instance, parts)
        for parts in partitions(instance.network.num_workers)
        if len(parts) > 1
    )


SEEDS = st.integers(0, 10**6)


def run(instance, **parameters):
    return forest_packing(instance, Limits(), **parameters)


def test_there_are_as_many_partitions_as_bell_says():
    assert [sum(1 for _ in partitions(n)) for n in range(6)] == [1, 1, 2, 5, 15, 52]


@given(SEEDS, st.integers(2, 4), st.sampled_from(["free", "uniform", "fixed"]))
@settings(max_examples=15, deadline=None)
def test_the_rate_of_a_symmetric_network_is_its_smallest_crossing(seed, workers, root_mode):
    instance = symmetric(np.random.default_rng(seed), workers)
    root = instance.workers[0] if root_mode == "fixed" else None
    instance = instance.model_copy(update={"root_mode": root_mode, "root": root})
    tau = smallest_crossing(instance)
    assert np.isclose(optimal_rate(instance), float(tau))
    assert run(instance).claimed_objective == tau


@given(SEEDS, st.integers(2, 4))
@settings(max_examples=15, deadline=None)
def test_no_plan_is_faster_than_a_partition_allows(seed, workers):
    rng = np.random.default_rng(seed)
    instance = BUILDERS[str(rng.choice(list(BUILDERS)))](rng, workers)
    assert optimal_rate(instance) <= float(smallest_crossing(instance)) * (1 + 1e-9)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_overlapping_saves_at_most_half(seed):
    instance = random_instance(seed, max_workers=3, max_switches=2)
    instance = instance.model_copy(update={"collective": "allreduce", "stage_mode": "overlap"})
    overlapped = optimal_rate(instance)
    sequential = optimal_rate(instance.model_copy(update={"stage_mode": "sequential"}))
    if overlapped < 1e-9:
        assert sequential < 1e-9
        return
    # The optima are those of floating-point LPs.
    overlapped *= 1 + 1e-9
    assert sequential <= overlapped
    assert overlapped <= 2 * sequential or np.isclose(sequential, overlapped / 2)


def test_a_star_with_a_worker_in_its_centre_comes_near_the_factor():
    # L leaves: T_seq / T_ov = 2 (L - 1) / L; here L = 3.
    overlapped = run(known("H6")).claimed_objective
    sequential = run(known("H6", stage_mode="sequential")).claimed_objective
    assert overlapped / sequential == Fraction(4, 3)


@given(SEEDS, st.sampled_from([0.1, 0.3]), st.sampled_from([0.0, 0.5]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_the_ratio_holds_for_every_choice_of_parameters(seed, eps, target_gap, polish):
    instance = random_instance(seed, max_workers=3, max_switches=1)
    if polish:
        parameters = {"eps": eps, "target_gap": target_gap, "prune": 0.05}
        method, ratio = packing_to_gap, packing_ratio(instance, parameters)
    else:
        parameters = {"eps": eps}
        method, ratio = unpolished_packing, unpolished_ratio(instance, parameters)
    outcome = called(method, instance, Limits(), np.random.default_rng(0), **parameters)
    rate = outcome.claimed_objective
    assert optimal_rate(instance) <= float(rate * ratio) * (1 + 1e-6) + 1e-9


def test_the_ratio_is_a_formula_of_the_parameters():
    instance = known("H2")
    assert packing_ratio(instance, {"eps": 0.5, "prune": 0.0}) == 4
    assert packing_ratio(instance, {"eps": 0.1, "target_gap": 0.5, "prune": 0.0}) == Fraction(3, 2)
    assert packing_ratio(instance, {"eps": 0.5, "prune": 0.5}) == 8
    assert unpolished_ratio(instance, {"eps": 0.5, "scaling": "theory"}) == 4
    assert packing_ratio(instance, {}) == Fraction(100, 81) / Fraction(999, 1000)


def test_the_ratio_does_not_cover_restricted_trees():
    assert unrestricted(known("H2"), {})
    assert not unrestricted(known("H2", max_depth=2), {})


def test_a_path_rooted_at_its_end_is_the_deepest_pair():
    path = tuple((v, v - 1) for v in range(1, 6))
    assert depth(Pair(0, path, None, Fraction(1)), 6) == 10 == deepest(6)
    assert pipeline_factor(10, 9) == 2


def test_the_chain_ratio_is_the_product_of_its_links():
    assert chain_ratio(0.5, 0.5, 3, 2) == 4 * 2 * 2
    assert chain_ratio(0.1, 0, 1, 1) == pytest.approx(1 / 0.81)
