"""Trees of the whole rate for rational loads, by integers and by columns."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from gadgetopt.models.forest_packing.subproblems.arc_loads import exact_decomposition
from gadgetopt.models.forest_packing.subproblems.arc_loads.exact_decomposition import (
    exact_pairs_of,
    exact_trees_of,
)

from ...networks import (
    asked,
    known,
)

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@pytest.fixture(params=["integers", "columns"])
def route(request, monkeypatch):
    if request.param == "columns":
        monkeypatch.setattr(exact_decomposition, "pack_stage_exactly", lambda *_: None)


@pytest.mark.usefixtures("route")
@pytest.mark.parametrize("unit", [Fraction(1), THIRD, Fraction(10**9, 7)])
def test_a_directed_cycle_holds_three_chains(unit):
    # H5, 0 -> 1 -> 2 -> 0: every worker is entered by 1 and roots 1/2 itself, 3/2 in all.
    instance = asked(known("H5"), "allgather", "free")
    loads = [unit] * len(instance.network.arcs)
    trees = exact_trees_of(instance, "broadcast", loads, [unit / 2] * 3)
    assert trees is not None
    assert sum(tree.rate for tree in trees) == unit * 3 / 2
    used: Counter[tuple[int, int]] = Counter()
    for tree in trees:
        for tail, head in (arc for way in tree.routes for arc in pairwise(way)):
            used[tail, head] += tree.rate
    assert all(used[arc] <= unit for arc in instance.network.arcs)


@pytest.mark.usefixtures("route")
def test_loads_that_are_too_small_hold_no_trees_of_the_whole_rate():
    instance = asked(known("H5"), "allgather", "free")
    assert exact_trees_of(instance, "broadcast", [Fraction(9, 10)] * 3, [HALF] * 3) is None


@pytest.mark.usefixtures("route")
def test_both_stages_are_paired_at_their_roots():
    instance = known("H5")  # 3/4 together: each stage has half of every arc
    loads = {stage: [HALF] * 3 for stage in instance.stages}
    pairs = exact_pairs_of(instance, loads, [Fraction(1, 4)] * 3)
    assert pairs is not None
    assert sum(pair.rate for pair in pairs) == Fraction(3, 4)


def test_numbers_beyond_64_bits_are_left_to_columns():
    instance = asked(known("H5"), "allgather", "free")
    unit = Fraction(10**30 + 1, 10**30)
    trees = exact_trees_of(instance, "broadcast", [unit] * 3, [unit / 2] * 3)
    assert trees is not None
    assert sum(tree.rate for tree in trees) == unit * 3 / 2
