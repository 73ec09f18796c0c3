"""Undirected spanning tree packing gives the allreduce rate of symmetric networks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.evaluate import evaluate
from gadgetopt.models.forest_packing.formulations import cuts, spanning_trees
from gadgetopt.solvers import solve_model

from ..networks import (
    ROOT_MODES,
    asked,
    cables,
    eulerian,
    known,
    symmetric,
    with_nics,
)


def rate(model):
    return solve_model(model, "highs").objective


def partitions(nodes):
    """All partitions of a list into non-empty parts."""
    if not nodes:
        yield []
        return
    first, rest = nodes[0], nodes[1:]
    for parts in partitions(rest):
        yield [[first], *parts]
        for k, part in enumerate(parts):
            yield [*parts[:k], [first, *part], *parts[k + 1 :]]


def tree_packing_number(instance):
    """tau = min over partitions of the capacity between parts over their number less one."""
    network = instance.network
    best = None
    for parts in partitions(list(range(network.num_nodes))):
        if len(parts) < 2:
            continue
        part = {v: k for k, nodes in enumerate(parts) for v in nodes}
        crossing = sum(
            network.capacity[network.arc_index[u, v]]
            for u, v in network.edges
            if part[u] != part[v]
        )
        value = crossing / (len(parts) - 1)
        best = value if best is None else min(best, value)
    return best


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(2, 5))
def test_every_root_mode_has_the_tree_packing_number(seed, workers):
    """T1: R = tau = min cross(P)/(|P|-1), for fixed, uniform, given and free roots."""
    network = symmetric(np.random.default_rng(seed), workers)
    tau = tree_packing_number(network)
    assert rate(spanning_trees.build_trees(network)) == pytest.approx(float(tau))
    assert rate(spanning_trees.build_orientation(network)) == pytest.approx(float(tau))
    for root_mode in ROOT_MODES:
        instance = asked(network, "allreduce", root_mode)
        assert rate(cuts.build(instance)) == pytest.approx(float(tau))
        model = spanning_trees.build_trees(instance)
        solve_model(model, "highs")
        evaluation = evaluate(instance, spanning_trees.decode_trees(model, instance))
        assert evaluation.feasible
        assert evaluation.objective == tau


@settings(max_examples=6)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from(ROOT_MODES))
def test_half_duplex_allreduces_have_half_the_number_and_single_stages_all_of_it(
    seed, workers, root_mode
):
    network = symmetric(np.random.default_rng(seed), workers, duplex="half")
    tau = tree_packing_number(network)
    for collective, factor in (
        ("allreduce", Fraction(1, 2)),
        ("sequential", Fraction(1, 2)),
        ("allgather", 1),
        ("reduce_scatter", 1),
    ):
        instance = asked(network, collective, root_mode)
        assert rate(cuts.build(instance)) == pytest.approx(float(tau * factor))
        assert rate(spanning_trees.build_orientation(instance)) == pytest.approx(
            float(tau * factor)
        )
        model = spanning_trees.build_trees(instance)
        solve_model(model, "highs")
        evaluation = evaluate(instance, spanning_trees.decode_trees(model, instance))
        assert evaluation.feasible
        assert evaluation.objective == tau * factor


def test_free_trees_are_rooted_at_their_centres():
    path = ((0, 1), (1, 2), (2, 3), (3, 4))
    assert spanning_trees.centre(path) == 2
    assert spanning_trees.centre(path[:3]) == 1


def test_trees_are_counted_before_they_are_listed():
    n = 9
    complete = cables(*((u, v, 1) for u in range(n) for v in range(u)))
    instance = known("H2").model_copy(update={"workers": tuple(range(n)), "links": complete})
    with pytest.raises(ModelRefused, match=str(n ** (n - 2))):
        spanning_trees.build_trees(instance)


@pytest.mark.parametrize("build", [spanning_trees.build_trees, spanning_trees.build_orientation])
def test_networks_that_undirected_trees_do_not_describe_are_refused(build):
    rng = np.random.default_rng(1)
    for instance, reason in (
        (known("H4"), "switches"),
        (with_nics(rng, symmetric(rng, 4)), "NIC"),
        (eulerian(rng, 4), "symmetric"),
        (known("H2", collective="allgather"), "idle"),
        (known("H2", stage_mode="sequential"), "idle"),
    ):
        with pytest.raises(ModelRefused, match=reason):
            build(instance)
