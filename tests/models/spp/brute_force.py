"""The first witness: every plan with every order of blocks, and small random instances."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from functools import cache

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.spp.evaluate import evaluate, machines, max_load_s
from gadgetopt.models.spp.instance import SppInstance, SppSolution
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve


def instance_of(pf, pb, alpha, d, M, b, options=None, **more) -> SppInstance:
    """An instance from lists; b is a matrix of bandwidths, or a cluster."""
    sizes = zip(pf, pb, alpha, [*d, 0], strict=True)
    layers = [
        {
            "fwd_time_s": float(f),
            "bwd_time_s": float(g),
            "param_bytes": float(w),
            "act_bytes": float(a),
        }
        for f, g, w, a in sizes
    ]
    cluster = b if isinstance(b, dict) else {"type": "matrix", "bandwidth_bytes_per_s": b}
    data = {"layers": layers, "num_microbatches": M, "cluster": cluster, **more}
    return SppInstance.model_validate_json(json.dumps({**data, "options": options or {}}))


def e1() -> SppInstance:
    return instance_of([2, 4, 2], [4, 8, 4], [0, 0, 120], [6, 6], 2, [[0, 6], [6, 0]])


def e2() -> SppInstance:
    fast = ({0, 2}, {1, 3})
    b = [[0 if u == v else 12 if {u, v} in fast else 2 for v in range(4)] for u in range(4)]
    return instance_of([2, 3, 3, 1], [4, 6, 6, 2], [4, 4, 8, 64], [24, 12, 12], 4, b)


def plans(instance: SppInstance):
    """Every partition of the layers with every mapping of the GPUs."""
    L, V = instance.num_layers, instance.num_gpus
    everywhere = instance.options.use_all_gpus
    for S in range(1, instance.most_stages + 1):
        for cuts in itertools.combinations(range(1, L), S - 1):
            layers = tuple(itertools.pairwise((0, *cuts, L)))
            for owner in itertools.product(range(S if everywhere else S + 1), repeat=V):
                gpus = tuple(tuple(v for v in range(V) if owner[v] == n) for n in range(S))
                if all(gpus):
                    yield layers, gpus


@cache
def interleavings(M: int) -> tuple[tuple[int, ...], ...]:
    """Every order in which forward and backward blocks, each by index, can follow each other."""
    found = []
    for places in itertools.combinations(range(2 * M), M):
        forward, backward = itertools.count(1), itertools.count(1)
        order = [next(forward) if k in places else -next(backward) for k in range(2 * M)]
        if all(order.index(m) < order.index(-m) for m in range(1, M + 1)):
            found.append(tuple(order))
    return tuple(found)


def optimum(instance: SppInstance) -> Fraction | None:
    """The least makespan of all plans and orders, None without any; larger loads are left out.

    That microbatches can be served by index is Fact 1; the last stage runs a microbatch's two
    blocks one after the other, Fact 2.
    """
    M = instance.num_microbatches
    best: Fraction | None = None
    turn = tuple(code for m in range(1, M + 1) for code in (m, -m))
    for layers, gpus in plans(instance):
        S = len(layers)
        plan = SppSolution(stage_layers=layers, stage_devices=gpus, orders=())
        if best is not None and max_load_s(instance, machines(instance, plan)) >= best:
            continue
        for orders in itertools.product(interleavings(M), repeat=2 * S - 2):
            solution = plan.model_copy(update={"orders": (*orders, turn)})
            found = evaluate(instance, solution)
            if found.feasible and (best is None or found.objective < best):
                best = found.objective
    return best


def small_instance(
    rng: np.random.Generator, *, most_layers=4, most_gpus=3, most_m=2
) -> SppInstance:
    """A few layers, GPUs and microbatches; zero times, free boundaries and equal links occur."""
    L, V, M = (int(rng.integers(1, most + 1)) for most in (most_layers, most_gpus, most_m))
    b = rng.choice([1.0, 2.0, 4.0, 12.0], size=(V, V))
    b = np.minimum(b, b.T)
    np.fill_diagonal(b, 0)
    return instance_of(
        rng.integers(0, 7, size=L).tolist(),
        rng.integers(0, 12, size=L).tolist(),
        (rng.integers(0, 2, size=L) * rng.integers(0, 30, size=L)).tolist(),
        rng.integers(0, 20, size=L - 1).tolist(),
        M,
        b.tolist(),
        {"use_all_gpus": bool(rng.random() < 0.8)},
        duplex="half" if rng.random() < 0.7 else "full",
        comm_model="pair_slice" if rng.random() < 0.7 else "min_end",
    )


def varied(instance: SppInstance, rng: np.random.Generator) -> SppInstance:
    """The same with some of the variants that an instance can ask for."""
    cluster = instance.cluster
    owners = len(getattr(cluster, "gpus_per_machine", range(instance.num_gpus)))
    options = instance.options.model_copy(
        update={
            "recompute": bool(rng.random() < 0.3),
            "overlap_allreduce": bool(rng.random() < 0.3),
            "transfer_latency_s": float(rng.integers(0, 3)),
            "max_in_flight": int(rng.integers(1, 4)) if rng.random() < 0.3 else None,
            "max_stages": int(rng.integers(1, 4)) if rng.random() < 0.3 else None,
        }
    )
    speeds = tuple(float(s) for s in rng.choice([1.0, 2.0], size=owners))
    cluster = cluster.model_copy(update={"speeds": speeds if rng.random() < 0.4 else None})
    return instance.model_copy(update={"options": options, "cluster": cluster})


def with_memory(instance: SppInstance, rng: np.random.Generator) -> SppInstance:
    """The same with so little memory that some stages do not fit, or only with few in flight."""
    update = {"memory_bytes": float(rng.integers(20, 160)), "recompute": bool(rng.random() < 0.5)}
    options = instance.options.model_copy(update=update)
    return instance.model_copy(update={"options": options})


def two_level_instance(rng: np.random.Generator, L=5, sizes=(2, 1), M=2) -> SppInstance:
    """A small chain on machines."""
    cluster = {
        "type": "two_level",
        "gpus_per_machine": list(sizes),
        "intra_bytes_per_s": 12.0,
        "inter_bytes_per_s": float(rng.choice([1.0, 2.0, 6.0])),
    }
    return instance_of(
        rng.integers(1, 7, size=L).tolist(),
        rng.integers(1, 12, size=L).tolist(),
        (rng.integers(0, 2, size=L) * rng.integers(0, 30, size=L)).tolist(),
        rng.integers(0, 20, size=L - 1).tolist(),
        M,
        cluster,
    )


@st.composite
def small_instances(draw: st.DrawFn, **more) -> SppInstance:
    return small_instance(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), **more)


@st.composite
def varied_instances(draw: st.DrawFn, **more) -> SppInstance:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return varied(small_instance(rng, **more), rng)


def run(instance: SppInstance, method: str, time_s: float = 60) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("spp"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s))
