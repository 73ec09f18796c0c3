"""Balanced blocks of consecutive layers on consecutive GPUs: the slowest is as fast as can be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from gadgetopt.pieces.pipeline.plan import Plan

from ..instance import DappleInstance


def balanced_plan(instance: DappleInstance, stages: int) -> Plan:
    """Return a plan of so many stages, GPUs shared out evenly, whose slowest block is fastest.

    The first stages have one GPU more if the number of GPUs is no multiple.
    """
    few, more = divmod(instance.num_gpus, stages)
    replicas = [few + (n < more) for n in range(stages)]
    times = [x.fwd_time_s + x.bwd_time_s for x in instance.layers]
    ends = balanced_ends(times, replicas)
    devices = (range(a, b) for a, b in pairwise((0, *accumulate(replicas))))
    return Plan(
        stage_layers=tuple(pairwise((0, *ends))), stage_devices=tuple(tuple(d) for d in devices)
    )


def balanced_ends(times: Sequence[float], replicas: Sequence[int]) -> list[int]:
    """Return the ends of consecutive, non-empty blocks whose largest time per replica is least.

    By dynamic programming over (layers, blocks), O(S L^2); of equal cuts the first.
    """
    sums = np.concatenate([[0.0], np.cumsum(times)])
    layers, blocks = len(times), len(replicas)
    best = sums / replicas[0]
    best[0] = np.inf
    cuts = []
    for r in replicas[1:]:
        block = (sums[:, None] - sums[None, :]) / r  # of layers [column, row)
        block[np.triu_indices(layers + 1)] = np.inf
        slowest = np.maximum(best[None, :], block)
        cuts.append(np.argmin(slowest, axis=1))
        best = slowest[np.arange(layers + 1), cuts[-1]]
    ends = [layers]
    for k in range(blocks - 2, -1, -1):
        ends.append(int(cuts[k][ends[-1]]))
    return ends[::-1]
