"""Counts by the matrix-tree theorem equal the numbers of trees listed."""

from __future__ import annotations

import numpy as np

from gadgetopt.models.forest_packing.subproblems.enumeration import (
    arborescences,
    count_arborescences,
    routings,
    switch_routes,
)

from ..networks import digraph, known


def test_complete_graphs_have_cayleys_number_of_arborescences():
    for n in range(2, 7):
        arcs = {(u, v): 1 for u in range(n) for v in range(n) if u != v}
        assert count_arborescences(n, arcs, 0) == n ** (n - 2)
        assert len({tuple(p) for p in arborescences(list(arcs), n, 0)}) == n ** (n - 2)


def test_listed_arborescences_and_routings_are_as_many_as_counted():
    for seed in range(30):
        network = digraph(np.random.default_rng(seed), workers=4, switches=2).network
        routes = switch_routes(network)
        for root in range(4):
            listed = [
                routing
                for parent in arborescences(list(routes), 4, root)
                for routing in routings(parent, root, routes)
            ]
            assert len(set(listed)) == len(listed)
            number = {pair: len(found) for pair, found in routes.items()}
            assert len(listed) == count_arborescences(4, number, root)


def test_routes_run_through_switches_only():
    routes = switch_routes(known("H4").network)
    assert routes == {(u, v): [(u, 3, v)] for u in range(3) for v in range(3) if u != v}


def test_unreachable_nodes_leave_no_arborescence():
    assert list(arborescences([(0, 1), (2, 1)], 3, 0)) == []
    assert count_arborescences(3, {(0, 1): 1, (2, 1): 1}, 0) == 0
