"""RDO's minimum cuts against Stoer and Wagner's of networkx, with its ties."""

import networkx as nx
import numpy as np
import pytest

from gadgetopt.models.spp.algorithms.device_order import _least_cut, minimum_cut


def random_bandwidths(rng, V, kind):
    levels = rng.choice([1.5e9, 3e9, 6e9, 12e9], (V, V))
    machine = np.arange(V) // 4
    rack = machine // 2
    b = {
        "few values": rng.integers(1, 4, (V, V)).astype(float),
        "levels": levels,
        "reals": rng.uniform(1, 5, (V, V)),
        "machines": np.where(machine[:, None] == machine, 12e9, 1.25e9),
        "racks": np.where(
            machine[:, None] == machine, 1.2, np.where(rack[:, None] == rack, 0.3, 0.1)
        ),
    }[kind]
    upper = np.triu(b, 1)
    return upper + upper.T


@pytest.mark.parametrize("kind", ["few values", "levels", "reals", "machines", "racks"])
def test_a_minimum_cut_is_that_of_all_phases(kind):
    rng = np.random.default_rng(3)
    for V in [2, 3, 4, 5, 6, 8, 11, 14, 20, 26]:
        b = random_bandwidths(rng, V, kind)
        graph = nx.Graph()
        graph.add_nodes_from(range(V))
        graph.add_weighted_edges_from((u, v, b[u, v]) for u in range(V) for v in range(u + 1, V))
        weight, sides = nx.stoer_wagner(graph)
        assert minimum_cut(b, list(range(V))) == tuple(sorted(map(sorted, sides)))
        assert _least_cut(b) <= weight


def test_phases_are_left_out_only_where_sums_are_exact():
    assert _least_cut(random_bandwidths(np.random.default_rng(0), 9, "reals")) == 0
    # Of many GPUs on machines one is cut off: 3 fast links and the slow ones are the least.
    b = random_bandwidths(np.random.default_rng(0), 40, "machines")
    assert _least_cut(b) == 3 * 12e9 + 36 * 1.25e9
