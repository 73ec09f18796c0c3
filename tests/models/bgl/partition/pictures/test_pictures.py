"""Pictures show every node, what is cut, and the loads."""

import numpy as np

from gadgetopt.models.bgl.partition.data.generate.presets import (
    planted,
    quickstart,
)
from gadgetopt.models.bgl.partition.pictures import layout, loads

from ..brute_force import run


def test_the_layout_shows_every_node_once_and_the_cost():
    instance = quickstart(np.random.default_rng(0))
    found = run(instance, "multi_start:starts=1")
    figure = layout.draw(instance, found.solution)
    markers = [trace for trace in figure.data if trace.mode == "markers"]
    assert sum(len(trace.x) for trace in markers) == instance.num_nodes
    assert len(markers) == instance.num_parts
    assert figure.layout.title.text.startswith(f"{float(found.objective):.4g} requests")


def test_a_large_graph_is_drawn_in_part():
    instance = planted(np.random.default_rng(0), nodes=600)
    figure = layout.draw(instance, run(instance, "random").solution)
    markers = [trace for trace in figure.data if trace.mode == "markers"]
    assert sum(len(trace.x) for trace in markers) == layout.MOST_NODES


def test_loads_are_shares_of_the_caps():
    instance = quickstart(np.random.default_rng(0))
    figure = loads.draw(instance, run(instance, "random").solution)
    assert [list(bar.y) for bar in figure.data] == [[1.0] * 4, [1.0] * 4]
