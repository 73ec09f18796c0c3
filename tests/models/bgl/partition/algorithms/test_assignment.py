"""The product score (4): by hand, at the start, and how soft it is."""

import numpy as np

from gadgetopt.models.bgl.partition.algorithms.assignment import assign_blocks, block_order
from gadgetopt.models.bgl.partition.graph import Graph

from ..brute_force import instance_of, run

CHAIN = Graph.of(8, [(v, v + 1) for v in range(7)])
PAIRS = np.repeat(np.arange(4), 2)


def test_blocks_are_visited_by_size_or_breadth_first():
    block = np.array([0, 1, 1, 2, 3, 3, 3, 4])
    assert block_order(CHAIN, block, "size").tolist() == [3, 1, 0, 2, 4]
    assert block_order(CHAIN, block, "bfs").tolist() == [3, 2, 4, 1, 0]


def test_blocks_of_a_path_by_hand():
    # Parts of at most four nodes. Block 0 finds both parts empty and takes part 0. Block 1 has two
    # nodes of part 0 within two hops, 2 (1 - 2/4) (1 - 1/2) = 1/2 against 0.001 in part 1. Part 0
    # is then full, so blocks 2 and 3 take part 1.
    trained = np.array([True, False] * 4)
    part = assign_blocks(CHAIN, PAIRS, trained, 2, 2, "bfs")
    assert part.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_an_empty_start_prefers_the_emptier_part():
    # Trap 6: without neighbours all scores would be 0; the offset leaves the room to decide.
    apart = Graph.of(6, [])
    part = assign_blocks(apart, np.array([0, 0, 0, 1, 2, 2]), np.ones(6, bool), 2, 2, "size")
    assert part.tolist() == [0, 0, 0, 1, 1, 1]


def test_more_hops_see_more():
    # Blocks 0, 1, 2 of a path, one node between them: node 4 is two hops from node 2.
    trained = np.ones(8, dtype=bool)
    block = np.array([0, 0, 0, 1, 2, 2, 3, 3])
    one = assign_blocks(CHAIN, block, trained, 4, 1, "size")
    two = assign_blocks(CHAIN, block, trained, 4, 2, "size")
    assert one.tolist() != two.tolist() or (one == two).all()
    assert set(one.tolist()) <= set(range(4))


def test_the_score_is_soft_and_the_caps_are_checked():
    # Trap 5: blocks are not divided, so a part may hold more than its cap. Without repair the
    # evaluator says so, and a cost below the optimum means nothing.
    violated = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        edges = tuple((u, v) for u in range(12) for v in range(u + 1, 12) if rng.random() < 0.3)
        instance = instance_of(12, edges, (0, 1, 2, 3, 4, 5, 6, 7), parts=4, fanouts=(3, 3))
        soft = run(instance, "bgl_order:order=bfs:repair=false", seed)
        hard = run(instance, "bgl", seed)
        assert hard.status == "feasible"
        violated += soft.status != "feasible"
    assert violated > 5
