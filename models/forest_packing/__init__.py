"""Forest packing: the trees and rates that synchronise data fastest on a given network.

Each room (algorithms, baselines, formulations, proving.bounds, ...) declares its own parts.
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="forest_packing",
    title="Packing aggregation and broadcast trees into a network (AllReduce)",
    citation=Citation(
        authors="Zhe Zhang, Chuan Wu, Zongpeng Li",
        title="Near-Optimal Topology-adaptive Parameter Synchronization in Distributed DNN "
        "Training",
        venue="IEEE INFOCOM",
        year=2021,
        doi="10.1109/INFOCOM42981.2021.9488678",
    ),
    sense="max",
    objective="rate_gbyte_per_s",
    default_method="column_generation",
    default_methods=(
        "forest_packing",
        "ring",
        "best_ring",
        "ring_bidirectional",
        "ps_single",
        "ps_multi",
        "ps_multi_opt",
        "double_binary_tree",
        "recursive_halving_doubling",
        "blueconnect",
        "single_tree",
        "greedy_peel",
        "forestcoll",
        "blink",
        "column_generation",
        "cut_generation",
    ),
    renamed={
        "forest_packing:target_gap": "packing_to_gap",
        "forest_packing:scaling": "unpolished_packing",
        "forest_packing:polish": "unpolished_packing",
    },
)
