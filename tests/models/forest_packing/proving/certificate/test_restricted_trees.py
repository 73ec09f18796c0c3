"""Bounds of restricted trees: no certificate is beaten by brute force, and methods attain them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.formulations import tree_pairs
from gadgetopt.models.forest_packing.formulations.tree_budget import rate_bound, rate_certificate
from gadgetopt.models.forest_packing.instance import (
    Bottleneck,
    EqualTrees,
    ForestPackingCertificate,
    ShallowPrices,
)
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.models.forest_packing.proving.exact.bounded_depth import bounded_depth
from gadgetopt.models.forest_packing.proving.exact.equal_share import equal_share_partition
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ...brute_force import rows
from ...networks import (
    asked,
    cables,
    digraph,
    known,
    symmetric,
)
from ...restricted_brute_force import (
    best_equal,
    best_of,
    pairs,
)

LIMITS = Limits(time_s=30)


def bound(instance, proof):
    return check_bound(instance, ForestPackingCertificate(proof=proof))


def random_parts(rng, nodes):
    """The nodes in two parts or more."""
    groups = int(rng.integers(2, len(nodes) + 1))
    order = rng.permutation(nodes).tolist()
    parts = [[v] for v in order[:groups]]
    for v in order[groups:]:
        parts[int(rng.integers(groups))].append(v)
    return tuple(tuple(part) for part in parts)


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_no_partitions_prove_less_than_the_best_equal_pairs(seed):
    rng = np.random.default_rng(seed)
    network = symmetric(rng, workers=3, largest=4)
    most = int(rng.integers(1, 4))
    instance = network.model_copy(update={"equal_share": True, "tree_budget": most})
    best = best_equal(network, pairs(network), most)
    counts = len(range(most // 2 + 1, most + 1))
    for _ in range(10):
        chosen = tuple(random_parts(rng, instance.workers) for _ in range(counts))
        assert bound(instance, EqualTrees(partitions=chosen)) >= best


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_few_pairs_are_no_faster_than_a_bottleneck_allows(seed):
    rng = np.random.default_rng(seed)
    network = symmetric(rng, workers=3, largest=4)
    most = int(rng.integers(1, 3))
    instance = network.model_copy(update={"tree_budget": most})
    best = best_of(network, pairs(network), most)
    assert float(check_bound(instance, rate_certificate(instance, most))) >= best - 1e-6
    assert check_bound(instance, rate_certificate(instance, most)) == rate_bound(instance, most)
    for v in instance.workers:
        assert float(bound(instance, Bottleneck(nodes=(v,)))) >= best - 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_no_prices_prove_less_than_the_best_shallow_pairs(seed):
    rng = np.random.default_rng(seed)
    build = (symmetric, digraph)[seed % 2]
    network = build(rng, workers=3, switches=int(rng.integers(2)), largest=5)
    collective = ("allreduce", "allgather", "reduce_scatter")[seed % 3]
    instance = asked(network, collective, ("free", "uniform", "fixed", "weights")[seed % 4])
    for most in range(1, 2 * len(instance.stages) + 1):
        limited = instance.model_copy(update={"max_depth": most})
        best = solve_model(tree_pairs.build(limited), "highs").objective
        for _ in range(10):
            prices = {name: Fraction(int(rng.integers(5)), 3) for name, _, _ in rows(instance)}
            proved = bound(limited, ShallowPrices(prices=prices))
            assert proved is None or float(proved) >= best - 1e-6
        outcome = bounded_depth(limited, LIMITS)
        assert float(check_bound(limited, outcome.certificate)) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("most", [1, 2, 3, 4, 8, 9, 13])
@pytest.mark.parametrize("name", ["DGX-1V", "H2"])
def test_the_partitions_of_the_bisection_prove_its_rate(name, most):
    instance = known(name, tree_budget=most, equal_share=True)
    outcome = equal_share_partition(instance, LIMITS)
    assert check_bound(instance, outcome.certificate) == outcome.claimed_objective


@pytest.mark.parametrize("seed", range(20))
def test_a_bisection_without_time_proves_what_it_claims(seed):
    rng = np.random.default_rng(seed)
    instance = symmetric(rng, workers=5, largest=9, equal_share=True, tree_budget=7)
    outcome = equal_share_partition(instance, Limits(time_s=0))
    assert check_bound(instance, outcome.certificate) <= outcome.dual_bound


PATH = cables((0, 1, 1), (1, 2, 2))


@pytest.mark.parametrize(
    ("fields", "proof", "words"),
    [
        ({}, EqualTrees(partitions=()), "no number of equal trees"),
        (
            {"equal_share": True, "tree_budget": 2},
            EqualTrees(partitions=()),
            "partitions: 0, expected 1",
        ),
        (
            {"equal_share": True, "tree_budget": 1},
            EqualTrees(partitions=(((0, 1),),)),
            "node 2 is in no part",
        ),
        (
            {"equal_share": True, "tree_budget": 1},
            EqualTrees(partitions=(((0, 1), (1, 2)),)),
            "node 1 is in another part too",
        ),
        (
            {"equal_share": True, "tree_budget": 1},
            EqualTrees(partitions=(((0, 1, 2),),)),
            "one part bounds nothing",
        ),
        ({}, Bottleneck(nodes=(0,)), "no tree_budget"),
        ({"tree_budget": 1}, Bottleneck(nodes=(7,)), "7 is neither a worker nor a switch"),
        ({"tree_budget": 1}, Bottleneck(nodes=(0, 1, 2)), "all workers are on one side"),
        ({}, ShallowPrices(), "no max_depth"),
        ({"max_depth": 4, "stage_mode": "sequential"}, ShallowPrices(), "stages take turns"),
        ({"max_depth": 4}, ShallowPrices(prices={"a": Fraction(1)}), "no row 'a'"),
        ({"max_depth": 4}, ShallowPrices(prices={"0->1": Fraction(-1)}), "is negative"),
    ],
)
def test_what_does_not_fit_the_instance_is_refused(fields, proof, words):
    instance = known("H2").model_copy(update={"links": PATH, **fields})
    with pytest.raises(ValueError, match=words):
        bound(instance, proof)
