"""Features: communication against computation, unevenness of layers and links, bubbles."""

from __future__ import annotations

import math

from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.system.features import mean, variation

from .instance import SppInstance


def features(instance: SppInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `bandwidth_ratio`: largest over smallest bandwidth; at 1 the mapping does not matter.
    - `layer_variation`: coefficient of variation of the layers' forward and backward times.
    - `longest_layer_over_even_share`: the longest layer over the time of all layers spread evenly
      over the GPUs; from 1 on, it alone may be the slowest stage.
    - `transfer_over_compute`: a mean boundary, both ways over the slowest link, over the mean time
      of a layer; high ones allow few stages.
    - `allreduce_over_compute`: AllReduce of all parameters on all GPUs over the slowest link, over
      the time of all microbatches spread evenly; high ones punish replication.
    - `fill_share`: (S - 1) / (M + S - 1) for the largest number of stages S, the share of the time
      in which an even pipeline fills and drains.
    """
    layers, V, M = instance.layers, instance.num_gpus, instance.num_microbatches
    times = [x.fwd_time_s + x.bwd_time_s for x in layers]
    total = math.fsum(times)
    slowest, fastest = _bandwidths(instance)
    crossing = [
        x.act_bytes + (x.act_bytes if x.grad_bytes is None else x.grad_bytes) for x in layers[:-1]
    ]
    params = math.fsum(x.param_bytes for x in layers)
    stages = instance.most_stages
    reduce_s = 2 * (V - 1) / V * params / slowest

    def per_work(seconds: float) -> float:
        return seconds / total if total else 0.0

    return {
        "bandwidth_ratio": fastest / slowest,
        "layer_variation": variation(times),
        "longest_layer_over_even_share": per_work(max(times) * V),
        "transfer_over_compute": per_work(mean(crossing) / slowest * len(layers)),
        "allreduce_over_compute": per_work(reduce_s * V / M),
        "fill_share": (stages - 1) / (M + stages - 1),
    }


def _bandwidths(instance: SppInstance) -> tuple[float, float]:
    """Return the smallest and the largest bandwidth; 1 and 1 of a single GPU."""
    cluster = instance.cluster
    if isinstance(cluster, TwoLevelCluster):
        sizes = cluster.gpus_per_machine
        levels = [cluster.intra_bytes_per_s] if max(sizes) > 1 else []
        levels += [cluster.inter_bytes_per_s] if len(sizes) > 1 else []
    else:
        b = cluster.bandwidth_bytes_per_s
        levels = [x for u, row in enumerate(b) for x in row[:u]]
    return (min(levels), max(levels)) if levels else (1.0, 1.0)
