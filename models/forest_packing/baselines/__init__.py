"""Plans that forest packing is compared with, all written as tree pairs with rates.

- rings_and_servers: rings, parameter servers, double binary tree, recursive halving and doubling.
- ring_order: the best ring, by CP-SAT.
- blueconnect: rings along the axes of a grid of workers.
- trees: a widest spanning tree, and greedy peeling of widest trees.
- forestcoll: ForestColl's allgather trees and its allreduce.
- blink: trees from one GPU, reduced to a few.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "forestcoll",
        kind="baseline",
        summary="ForestColl: edge splitting and trees in batches; optimal for uniform allgather",
        reference="A6",
        run=part("forestcoll:forestcoll"),
        parameters={"trees_per_root": 0},
    ),
    Method(
        "ring",
        kind="baseline",
        summary="one ring in the order of the workers",
        reference="ring",
        run=part("rings_and_servers:ring"),
        parameters={"order": ""},
    ),
    Method(
        "best_ring",
        kind="baseline",
        summary="the ring whose slowest step is fastest",
        reference="ring, best",
        run=part("ring_order:best_ring"),
        parameters={"bidirectional": False},
        formulation="ring_order",
        backend="cpsat",
    ),
    Method(
        "ring_bidirectional",
        kind="baseline",
        summary="one ring, half of the data in each direction",
        reference="ring, both ways",
        run=part("rings_and_servers:ring_bidirectional"),
        parameters={"order": ""},
    ),
    Method(
        "ps_single",
        kind="baseline",
        summary="the best single parameter server",
        reference="PS",
        run=part("rings_and_servers:ps_single"),
    ),
    Method(
        "ps_multi",
        kind="baseline",
        summary="every worker is the parameter server of an equal part",
        reference="multi-PS",
        run=part("rings_and_servers:ps_multi"),
    ),
    Method(
        "ps_multi_opt",
        kind="baseline",
        summary="every worker is a parameter server, with the best parts",
        reference="multi-PS, optimized",
        run=part("rings_and_servers:ps_multi_opt"),
    ),
    Method(
        "double_binary_tree",
        kind="baseline",
        summary="two binary trees, half of the data each",
        reference="double binary tree (reconstructed)",
        run=part("rings_and_servers:double_binary_tree"),
    ),
    Method(
        "recursive_halving_doubling",
        kind="baseline",
        summary="exchanges at distances N/2, ..., 1 and back",
        reference="recursive halving and doubling",
        run=part("rings_and_servers:recursive_halving_doubling"),
    ),
    Method(
        "blueconnect",
        kind="baseline",
        summary="rings along the axes of a grid: hierarchical ring, 2-D ring",
        reference="BlueConnect",
        run=part("blueconnect:blueconnect"),
        parameters={"factors": ()},
    ),
    Method(
        "single_tree",
        kind="baseline",
        summary="one spanning tree whose narrowest link is widest",
        reference="single tree",
        run=part("trees:single_tree"),
    ),
    Method(
        "greedy_peel",
        kind="baseline",
        summary="widest spanning trees, peeled off one after the other",
        reference="greedy peeling",
        run=part("trees:greedy_peel"),
    ),
    Method(
        "blink",
        kind="baseline",
        summary="trees from one GPU, reduced to a few (reconstructed)",
        reference="Blink; A1, F8e",
        run=part("blink:blink"),
        parameters={"eps": 0.1, "eta": 0.05, "unit_trees": False, "selection_s": 5.0},
    ),
)
