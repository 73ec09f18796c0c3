"""Recomputation, copies, fused backwards, pairs, links and shared weights: brute force agrees."""

import os

import numpy as np
import pytest

from gadgetopt.models.pipeline_schedules.instance import Overlap
from gadgetopt.system.result import Status

from .brute_force import optimum_with_options
from .conftest import changed, solved
from .random_cases import random_instance, two_ways

#: Random instances of each kind; GADGETOPT_PIPELINES=300 draws more.
COUNT = max(1, int(os.environ.get("GADGETOPT_PIPELINES", "10")) // 10)
METHODS = ("cp", "disjunctive@highs", "close_gap")


def drawn(kind, seed):
    """Return a tiny instance with an option."""
    rng = np.random.default_rng(seed)
    links = ("full", "half") if kind in ("links", "ways") else ("lag",)
    sizes = {"pair": ((1, 2),), "offload": ((1, 2),), "allreduce": ((1, 1),), "ways": ((2, 1),)}
    sizes = sizes.get(kind, ((2, 2),))
    chunks = (2,) if kind == "allreduce" else (1,)
    instance = random_instance(rng, sizes=sizes, chunks=chunks, links=links)
    s = int(rng.integers(len(instance.stages)))
    a, f = instance.stages[s].act_bytes, int(rng.integers(1, 4))
    if kind == "recompute":
        memory = tuple(m - 1 for m in instance.memory_bytes or (3, 3))
        instance = changed(instance, s, recompute_act_bytes=a / 2)
        instance = instance.model_copy(update={"memory_bytes": memory})
    elif kind == "offload":
        memory = (instance.stages[s].act_bytes * 3 / 2,)
        instance = changed(instance, s, offload_s=f)
        instance = instance.model_copy(update={"memory_bytes": memory})
    elif kind == "fused":
        backward = instance.stages[s].input_grad_s + instance.stages[s].weight_grad_s
        instance = changed(instance, s, fused_saving_s=backward / 3)
    elif kind == "pair":
        pair = Overlap(forward_stage=s, backward_stage=s, duration_s=f + 2)
        instance = instance.model_copy(update={"overlaps": (pair,)})
    elif kind == "allreduce":
        instance = changed(instance, 0, allreduce_s=f)
        instance = changed(instance, 1, allreduce_s=2)
        instance = instance.model_copy(update={"allreduce_overlap": False})
    elif kind == "ways":
        instance = two_ways(instance)
    elif kind == "shared":
        instance = changed(instance, 0, weight_group=1, allreduce_s=1)
        instance = changed(instance, 1, weight_group=1, allreduce_s=1)
    return instance


@pytest.mark.parametrize("seed", range(COUNT))
@pytest.mark.parametrize(
    "kind", ["recompute", "offload", "fused", "pair", "links", "allreduce", "shared", "ways"]
)
def test_all_exact_routes_agree_with_brute_force(kind, seed):
    instance = drawn(kind, seed)
    best = optimum_with_options(instance)
    for method in METHODS:
        result = solved(instance, method=method, time_s=600)
        expected = Status.INFEASIBLE if best is None else Status.OPTIMAL
        assert result.status is expected, (method, result.reason)
        assert result.objective == pytest.approx(best) if best else result.objective is None
