"""Features: how dense the graph is, how clustered, and how much a sampler sends."""

from __future__ import annotations

import numpy as np

from gadgetopt.system.features import variation

from .instance import BglPartitionInstance


def features(instance: BglPartitionInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `mean_degree`: neighbours of a node, on average.
    - `degree_variation`: coefficient of variation of the degrees; large in power-law graphs.
    - `train_share`: training nodes over nodes.
    - `isolated_share`: share of the nodes without a neighbour, which fit anywhere.
    - `full_expansion_share`: share of the training nodes whose neighbours are all sampled in the
      first hop.
    - `expanded_hops`: hops whose nodes are expanded, L - 1.
    - `node_slack`: free places over all, given the node cap; 0 where parts have to be full.
    - `train_slack`: the same of training nodes.
    """
    degree = instance.graph.degree
    n, k, t = instance.num_nodes, instance.num_parts, len(instance.train_nodes)
    full = int((degree[list(instance.train_nodes)] <= instance.fanouts[0]).sum())
    return {
        "mean_degree": float(degree.mean()),
        "degree_variation": variation(degree.astype(np.float64).tolist()),
        "train_share": t / n,
        "isolated_share": float((degree == 0).mean()),
        "full_expansion_share": full / t,
        "expanded_hops": float(len(instance.fanouts) - 1),
        "node_slack": 1 - n / (k * instance.node_cap),
        "train_slack": 1 - t / (k * instance.train_cap),
    }
