"""Features: how deep a pipeline can be, and what transfers and AllReduce cost beside compute."""

from __future__ import annotations

import math

from gadgetopt.system.features import variation

from .instance import DappleInstance


def features(instance: DappleInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `microbatches_per_gpu`: bubbles of a straight pipeline are short above 4 or so.
    - `activation_over_compute`: both transfers of a mean boundary across machines over the
      compute of a microbatch on all GPUs; from 1 on, links are the bottleneck (policy B).
    - `allreduce_over_compute`: AllReduce of all parameters on all GPUs over the compute of an
      iteration; small values favour data parallelism.
    - `bandwidth_ratio`: bandwidth inside a machine over that between machines.
    - `compute_variation`: coefficient of variation of the layers' times.
    - `largest_layer_share`: the largest layer's part of the time; limits straight pipelines.
    - `late_parameters`: share of the parameters in the second half of the time; near 1 the last
      stages should end early.
    """
    cluster, layers = instance.cluster, instance.layers
    times = [x.fwd_time_s + x.bwd_time_s for x in layers]
    compute = math.fsum(times)
    shared = compute / instance.num_gpus
    params = math.fsum(x.param_bytes for x in layers)
    mean_act = math.fsum(x.act_bytes for x in layers[:-1]) / max(1, len(layers) - 1)
    late, passed = 0.0, 0.0
    for x, time in zip(layers, times, strict=True):
        if 2 * passed >= compute:
            late += x.param_bytes
        passed += time
    r = instance.num_gpus
    across = cluster.allreduce_inter_bytes_per_s or cluster.inter_bytes_per_s
    reduce = 2 * (r - 1) / r * params / across
    iteration = instance.num_microbatches * shared
    return {
        "microbatches_per_gpu": instance.num_microbatches / r,
        "activation_over_compute": 2 * mean_act / cluster.inter_bytes_per_s / shared
        if shared
        else 0.0,
        "allreduce_over_compute": reduce / iteration if iteration else 0.0,
        "bandwidth_ratio": cluster.intra_bytes_per_s / cluster.inter_bytes_per_s,
        "compute_variation": variation(times),
        "largest_layer_share": max(times) / compute if compute else 0.0,
        "late_parameters": late / params if params else 0.0,
    }
