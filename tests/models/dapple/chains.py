"""Small instances for tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from gadgetopt.models.dapple.instance import DappleInstance
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import Layer, PipelineOptions
from gadgetopt.pieces.pipeline.plan import Plan

PAIRS = TwoLevelCluster(gpus_per_machine=(2, 2), intra_bytes_per_s=20.0, inter_bytes_per_s=2.0)


def instance_of(
    fwd: Any,
    bwd: Any,
    params: Any,
    act: Any,
    microbatches: int,
    cluster: TwoLevelCluster = PAIRS,
    **more: Any,
) -> DappleInstance:
    """Return an instance of these layers."""
    rows = zip(fwd, bwd, params, act, strict=True)
    layers = tuple(
        Layer(fwd_time_s=float(f), bwd_time_s=float(b), param_bytes=float(p), act_bytes=float(d))
        for f, b, p, d in rows
    )
    return DappleInstance(layers=layers, num_microbatches=microbatches, cluster=cluster, **more)


D1 = instance_of([3, 3, 3, 1], [6, 6, 6, 2], [2, 2, 2, 60], [8, 4, 2, 0], 4)
D1_PLAN = Plan(stage_layers=((0, 2), (2, 4)), stage_devices=((0, 1), (2, 3)))
D2 = instance_of([4, 2, 2, 4], [8, 4, 4, 8], [20] * 4, [2, 2, 2, 0], 4)
D2_PLANNED = Plan(stage_layers=((0, 1), (1, 2), (2, 4)), stage_devices=((0,), (1,), (2, 3)))
D2_BEST = Plan(stage_layers=((0, 2), (2, 4)), stage_devices=((0, 1), (2, 3)))


def drawn(seed: int, **more: Any) -> DappleInstance:
    """Return a random instance of three layers on three GPUs, M = 2."""
    rng = np.random.default_rng(seed)
    sizes = ((2, 1), (1, 1, 1), (1, 2), (3,))[int(rng.integers(4))]
    cluster = TwoLevelCluster(
        gpus_per_machine=sizes,
        intra_bytes_per_s=float(rng.integers(4, 12)),
        inter_bytes_per_s=float(rng.integers(1, 5)),
        allreduce_intra_bytes_per_s=float(rng.integers(8, 20)),
        allreduce_inter_bytes_per_s=float(rng.integers(2, 9)),
        multi_inter_bytes_per_s=float(rng.integers(1, 5)),
    )
    columns = [rng.integers(0, high, 3) for high in (9, 15, 20, 12)]
    given: dict[str, Any] = {
        "comm_model": ("planner_code", "simple")[int(rng.integers(2))],
        "duplex": ("half", "full")[int(rng.integers(4) == 0)],
        "options": PipelineOptions(
            use_all_gpus=bool(rng.integers(2)),
            max_in_flight=(None, 1, 2)[int(rng.integers(3))],
        ),
    }
    microbatches = more.pop("num_microbatches", 2)
    return instance_of(*columns, microbatches, cluster, **given | more)
