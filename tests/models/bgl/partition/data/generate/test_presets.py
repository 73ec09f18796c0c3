"""Presets draw what they say."""

import networkx as nx
import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.partition.data.generate import presets


def drawn(name, seed=0, **parameters):
    return getattr(presets, name)(np.random.default_rng(seed), **parameters)


@pytest.mark.parametrize("name", ["quickstart", "planted", "caveman"])
def test_a_seed_draws_one_instance(name):
    assert drawn(name) == drawn(name)
    assert drawn(name) != drawn(name, 1)


def test_a_planted_partition_has_the_degrees_that_were_asked_for():
    instance = drawn("planted", nodes=600, inside=8.0, outside=2.0, parts=3)
    same = sum(u % 3 == v % 3 for u, v in instance.edges)
    assert 2 * same / 600 == pytest.approx(8, rel=0.1)
    assert 2 * (len(instance.edges) - same) / 600 == pytest.approx(2, rel=0.2)
    assert len(instance.train_nodes) == 120


def test_a_caveman_graph_is_a_ring_of_cliques():
    instance = drawn("caveman", cliques=5, clique_nodes=4)
    graph = nx.Graph(instance.edges)
    assert nx.is_connected(graph)
    assert (len(graph), graph.number_of_edges()) == (20, 30)


def test_geometric_and_power_law_graphs_differ_in_their_degrees():
    near = drawn("geometric", nodes=300, radius=0.1).graph.degree
    power = drawn("powerlaw_cluster", nodes=300).graph.degree
    assert power.max() / power.mean() > 2 * near.max() / near.mean()


def test_the_paper_preset_has_the_papers_fan_outs():
    instance = drawn("paper", nodes=200)
    assert instance.fanouts == (15, 10, 5)
    assert instance.graph.degree.mean() == pytest.approx(25, rel=0.1)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("planted", {"train_share": 0.0}, "train_share: 0.0, expected more than 0"),
        ("planted", {"fanouts": "5,x"}, "fanouts: '5,x', expected positive whole numbers"),
        ("planted", {"parts": 1}, "parts: 1, expected 2 to 120"),
        ("caveman", {"clique_nodes": 1}, "clique_nodes: 1, expected at least 2"),
    ],
)
def test_parameters_out_of_range_are_answered(name, parameters, message):
    with pytest.raises(InputError, match=message):
        drawn(name, **parameters)
