"""The published values of DAPPLE's public planner, row by row from the published profiles.

No study holds rows against published values, or scores plans by the rules of another program.

Speedups over one GPU, for the profiles of `dapple/` in the folder `--data`; rows whose profile is
not there are left out and named.

- `public`: data parallelism, and the analytic score of the best plan of one pipeline;
- `recursive`: the recursive value of given plans of one pipeline;
- `several`: both values of the best plans of several pipelines.

The rules of the planner are those its source states; they are written anew here.

Run `python benchmarks/dapple_public.py --data DIR [public recursive several]`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.models.dapple.algorithms.public_planner import dapple_code
from gadgetopt.models.dapple.baselines.parallel import data_parallel
from gadgetopt.models.dapple.data.importers.profiles import dapple_profile
from gadgetopt.models.dapple.evaluate import plan_times
from gadgetopt.models.dapple.instance import Copy, DappleInstance
from gadgetopt.models.dapple.subproblems.copies import solution_of_copies
from gadgetopt.pieces.pipeline.communication import allreduce_factor
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.result import Limits

RNG = np.random.default_rng(0)

#: Profile, global batch, microbatch, profiled batch, cluster; published speedups of data
#: parallelism and of the analytic score of the best plan (None: it is several pipelines).
PUBLIC: tuple[tuple[str, int, int, int, str, float, float | None], ...] = (
    ("vgg-19-pbs-32", 1024, 32, 32, "8,8", 7.3139, 9.8039),
    ("bert-24-pbs-6", 128, 1, 6, "8,8", 7.2094, None),
    ("xlnet-36-pbs-1", 128, 1, 1, "8,8", 10.5237, None),
    ("amoeba-36-pbs-1", 128, 1, 1, "8,8", 5.8510, None),
    ("bert-48-pbs-2", 64, 2, 2, "8,8", 4.8222, None),
    ("gnmt-32-pbs-64-simplified", 1024, 64, 64, "8,8", 4.4778, None),
    ("vgg-19-pbs-32", 2048, 32, 32, ",".join(["1"] * 16), 10.0389, 10.3058),
    ("vgg-19-pbs-32", 256, 32, 32, "2,2", 2.0512, 2.5418),
    ("bert-24-pbs-6", 128, 1, 6, "2,2", 3.2158, 3.8953),
)

#: Row of PUBLIC, stages as (first layer, end, GPUs) of our chain, with the first layer of the next
#: stage in all but the last, and the published recursive speedup. GPUs are taken in order, machine
#: by machine, but for the stages of `ALTERNATING`.
RECURSIVE: tuple[tuple[int, str, tuple[tuple[int, int, int], ...], float], ...] = (
    (0, "DAPPLE: (0,16)x14 (16,24)x2", ((0, 17, 14), (16, 25, 2)), 9.6354),
    (
        0,
        "PipeDream: (0,11)x8 (11,17)x6 (11,19)x1 (19,24)x1",
        ((0, 12, 8), (11, 18, 6), (11, 20, 1), (19, 25, 1)),
        3.1069,
    ),
    (1, "DAPPLE: (0,13)x8 (13,30)x8", ((0, 11, 8), (10, 28, 8)), 11.0728),
    (
        1,
        "PipeDream: (0,4)x2 (4,13)x6 (13,16)x2 (16,19)x2 (19,22)x2 (22,30)x2",
        ((0, 3, 2), (2, 11, 6), (10, 14, 2), (13, 17, 2), (16, 20, 2), (19, 28, 2)),
        5.8595,
    ),
    (2, "DAPPLE: (0,22)x8 (22,40)x8", ((0, 23, 8), (22, 41, 8)), 14.9290),
    (6, "(0,16)x14 (16,24)x2", ((0, 17, 14), (16, 25, 2)), 11.8164),
    (7, "(0,13)x3 (13,24)x1", ((0, 14, 3), (13, 25, 1)), 2.0394),
    (
        8,
        "(0,12) (12,18) (18,24) (24,30), one GPU each, on machines 0, 1, 0, 1",
        ((0, 10, 1), (9, 16, 1), (15, 22, 1), (21, 28, 1)),
        3.3610,
    ),
)

#: Row of PUBLIC and GPUs whose stages alternate between machines.
ALTERNATING: dict[int, tuple[int, ...]] = {8: (0, 2, 1, 3)}

#: Row of PUBLIC with several pipelines of two stages, one GPU each; our first layer of the second
#: stage, layers after it that the first stage counts too, published analytic and recursive values.
#: In the graph of GNMT the first of these two layers has only another source before it: the planner
#: counts it with the layer that reads it.
SEVERAL: tuple[tuple[int, int, int, int, float, float], ...] = (
    (1, 8, 15, 1, 14.4105, 13.1027),
    (2, 8, 22, 1, 14.8162, 13.6549),
    (4, 8, 27, 1, 12.3371, 10.8213),
    (5, 8, 17, 2, 9.6424, 7.8536),
)

#: Row of PUBLIC with the best plan of four stages, first layers of ours, published analytic value.
STRAIGHT = (8, (0, 9, 15, 21), 3.8953)


def main() -> None:
    """Print the tables asked for."""
    tables: dict[str, Callable[[Path], None]] = {
        "public": public,
        "recursive": recursive,
        "several": several,
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=", ".join(tables))
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    for name in given.tables or tables:
        if name not in tables:
            parser.error(f"{name!r}, expected one of {', '.join(tables)}")
        tables[name](given.data)


def header(title: str, *columns: str) -> None:
    """Print the head of a table."""
    print(f"\n### {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def row(*cells: Any) -> None:
    """Print a row."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def apart(ours: float, published: float) -> str:
    """Return the relative difference in words."""
    difference = ours / published - 1
    return "same" if abs(difference) < 1e-5 else f"{difference:+.3%}"


def there(path: Path) -> bool:
    """Return True if a file is there; name it otherwise."""
    if not path.exists():
        row(f"{path.name}: not among the profiles, left out")
    return path.exists()


def instance_of(data: Path, which: int, *, rings: bool) -> DappleInstance | None:
    """Return the instance of a row, with the public planner's bandwidths; None without profile."""
    name, total, micro, profiled, cluster, _, _ = PUBLIC[which]
    path = data / "dapple" / f"{name}.txt"
    if not there(path):
        return None
    outcome = dapple_profile(
        [path],
        RNG,
        global_batch=total,
        microbatch=micro,
        profile_batch=profiled,
        cluster=cluster,
        allreduce_intra_gbyte_per_s=25.0 if rings else 100.0,
    )
    ((_, instance),) = outcome.instances
    options = instance.options.model_copy(update={"nvlink_rings": rings})
    return instance.model_copy(update={"options": options})


def one_gpu_s(instance: DappleInstance) -> float:
    """Return the iteration time on one GPU."""
    return instance.num_microbatches * sum(x.fwd_time_s + x.bwd_time_s for x in instance.layers)


def public(data: Path) -> None:
    """Print data parallelism, analytic scores and recursive values beside the published ones."""
    header(
        "DAPPLE's public planner: speedups over one GPU",
        *("profile; global batch; GPUs", "data parallel: published", "ours"),
        *("analytic, one pipeline: published", "ours", "our plan"),
    )
    for which, (name, total, _, _, cluster, parallel, analytic) in enumerate(PUBLIC):
        instance = instance_of(data, which, rings=True)
        if instance is None:
            continue
        one = one_gpu_s(instance)
        alone = one / float(data_parallel(instance).claimed_objective or 1)
        found = dapple_code(instance, Limits())
        plan = found.solution.plan if found.solution else None  # type: ignore[attr-defined]
        score = one / found.notes["score_s"]
        label = "16 x 1" if cluster.count(",") == 15 else cluster
        row(
            f"{name}; {total}; {label}",
            parallel,
            f"{alone:.4f}",
            analytic or "several pipelines",
            f"{score:.4f}",
            "" if plan is None else stages_of(plan),
        )


def recursive(data: Path) -> None:
    """Print recursive values of given plans beside the published ones."""
    header(
        "Recursive values of given plans",
        *("profile; global batch", "plan as printed", "published", "ours", "difference"),
    )
    for which, label, stages, published in RECURSIVE:
        name, total, *_ = PUBLIC[which]
        instance = instance_of(data, which, rings=True)
        if instance is not None:
            gpus = ALTERNATING.get(which, tuple(range(instance.num_gpus)))
            value = recursive_value(instance, stages, gpus)
            row(f"{name}; {total}", label, published, f"{value:.4f}", apart(value, published))


def stages_of(plan: Plan) -> str:
    """Return a plan in short: layers and numbers of GPUs."""
    pairs = zip(plan.stage_layers, plan.replicas, strict=True)
    return " ".join(f"({a},{b})x{r}" for (a, b), r in pairs)


def recursive_value(
    instance: DappleInstance, stages: Sequence[tuple[int, int, int]], order: Sequence[int]
) -> float:
    """Return the speedup of stages that overlap, by the public code's recursion.

    The public code evaluates a plan with forward and backward blocks of one length, half of both,
    and counts the first layer of the next stage in every stage before the last. The stages are
    evaluated one by one as parts of plans that have them, on GPUs taken in order.
    """
    L, first = instance.num_layers, 0
    chain = instance.chain
    layers = tuple(
        x.model_copy(update={"fwd_time_s": t / 2, "bwd_time_s": t / 2})
        for x in instance.layers
        for t in (x.fwd_time_s + x.bwd_time_s,)
    )
    halves = instance.model_copy(
        update={
            "layers": layers,
            "options": instance.options.model_copy(update={"use_all_gpus": False}),
        }
    )
    gpus = []
    for _, _, r in stages:
        gpus.append(tuple(order[first : first + r]))
        first += r
    f: list[float] = []
    b: list[float] = []
    a: list[float] = []
    for n, (start, end, _) in enumerate(stages):
        alone = shop_of(halves, _around(start, end, L, gpus[n], halves.num_gpus))
        own = 0 if start == 0 else 2
        if n:
            cut = stages[n - 1][1] - 1  # the stage before counts one layer too many
            pair = Plan(stage_layers=((0, cut), (cut, L)), stage_devices=(gpus[n - 1], gpus[n]))
            link = shop_of(halves, pair)
            f.append(float(link.seconds(link.fwd[1])))
            b.append(float(link.seconds(link.bwd[1])))
            a.append(0.0)
        f.append(float(alone.seconds(alone.fwd[own])))
        b.append(float(alone.seconds(alone.bwd[own])))
        a.append(float(alone.seconds(alone.allreduce[own])))
    makespan = _recursion_s(f, b, a, instance.num_microbatches)
    total = float(chain.fwd_sum_s[-1] + chain.bwd_sum_s[-1]) * instance.num_microbatches
    return total / makespan


def _around(start: int, end: int, layers: int, gpus: tuple[int, ...], count: int) -> Plan:
    """Return a plan that has a stage; other GPUs stand in for its neighbours."""
    others = [v for v in range(count) if v not in gpus]
    ranges = [(0, start), (start, end), (end, layers)]
    devices = [(others[0],), gpus, (others[-1],)]
    kept = [k for k in range(3) if ranges[k][0] < ranges[k][1]]
    return Plan(
        stage_layers=tuple(ranges[k] for k in kept), stage_devices=tuple(devices[k] for k in kept)
    )


def _recursion_s(f: list[float], b: list[float], a: list[float], microbatches: int) -> float:
    """Return the length of an iteration by the public code's recursion.

    With S machines, forward i on machine x waits for forward i - 1 there, for forward i on machine
    x - 1, and for backward i - S + x there; backward i for backward i on machine x + 1 and for
    forward i + S - x - 1 there. What has no such number is not waited for: of the last forward on,
    the backwards of a machine do not wait for each other.
    """
    M, S = microbatches, len(f)

    @cache
    def forward(i: int, x: int) -> float:
        if not (0 <= i < M and 0 <= x < S):
            return 0.0
        return max(backward(i - S + x, x), forward(i - 1, x), forward(i, x - 1)) + f[x]

    @cache
    def backward(i: int, x: int) -> float:
        if not (0 <= i < M and 0 <= x < S):
            return 0.0
        return max(backward(i, x + 1), forward(i + S - x - 1, x)) + b[x]

    for i in range(M):  # in order, so that the recursion is not deep
        forward(i, S - 1)
        backward(i - S, 0)
    return max(backward(M - 1, x) + a[x] for x in range(S))


def several(data: Path) -> None:
    """Print the values of plans of several copies, and of many stages, beside the published."""
    header(
        "Several pipelines of two stages, and one of four",
        *("profile; global batch", "plan", "analytic: published", "ours"),
        *("recursive: published", "ours"),
    )
    for which, pipelines, cut, slip, analytic, recursion in SEVERAL:
        name, total, *_ = PUBLIC[which]
        instance = instance_of(data, which, rings=True)
        if instance is not None:
            ours = values_of_pipelines(instance, total, pipelines, cut, slip)
            plan = f"{pipelines} x [(0,{cut}),({cut},{instance.num_layers})]"
            values = analytic, f"{ours[0]:.4f}", recursion, f"{ours[1]:.4f}"
            row(f"{name}; {total}", plan, *values)
    which, firsts, published = STRAIGHT
    instance = instance_of(data, which, rings=True)
    if instance is not None:
        value = straight_value(instance, firsts)
        label = f"{PUBLIC[which][0]}; {PUBLIC[which][1]}; {PUBLIC[which][4]}"
        row(label, f"one GPU a stage, first layers {firsts}", published, f"{value:.4f}", "", "")


def layer_times_s(instance: DappleInstance) -> list[float]:
    """Return forward and backward time of every layer."""
    return [x.fwd_time_s + x.bwd_time_s for x in instance.layers]


def values_of_pipelines(
    instance: DappleInstance, total: int, pipelines: int, cut: int, slip: int
) -> tuple[float, float]:
    """Return the analytic and the recursive speedup of several pipelines of two stages.

    All first stages lie on one machine and all second stages on the other. A microbatch of a
    pipeline takes a stage's time on one GPU; the largest block counts a transfer both ways. The
    transfer of the recursive value is the evaluator's, of copies that share the network.
    """
    whole = instance.num_microbatches
    M = whole // pipelines
    times, act = layer_times_s(instance), instance.chain.act_bytes
    one = whole * sum(times)
    stages = [whole * sum(times[:cut]), whole * sum(times[cut:])]
    transfer = whole * act[cut - 1] / instance.cluster.inter_bytes_per_s
    block = max(*(s / pipelines for s in stages), 2 * transfer) / M
    params = [x.param_bytes for x in instance.layers]
    half = instance.num_gpus // 2
    reduce_s = (
        float(allreduce_factor(instance, range(half))) * sum(params[: cut + slip]),
        float(allreduce_factor(instance, range(half, 2 * half))) * sum(params[cut:]),
    )
    late = max(0.0, *(r - n * block for n, r in enumerate(reduce_s)))
    length = block * (M - 1) + (one + transfer) / pipelines / M + late
    counted = whole * sum(times[: cut + slip])
    copies = [Copy(stage_devices=((c,), (half + c,)), warmup=(1, 1)) for c in range(pipelines)]
    several = solution_of_copies(((0, cut), (cut, instance.num_layers)), copies)
    link = float(plan_times(instance, several).forward[1])
    f = [counted / pipelines / M / 2, link, stages[1] / pipelines / M / 2]
    return one / length, one / _recursion_s(f, f, [reduce_s[0], 0.0, reduce_s[1]], M)


def straight_value(instance: DappleInstance, firsts: Sequence[int]) -> float:
    """Return the analytic speedup of stages of one GPU whose transfers all cross machines."""
    times, M = layer_times_s(instance), instance.num_microbatches
    ends = (*firsts[1:], instance.num_layers)
    stages = [sum(times[a:b]) for a, b in zip(firsts, ends, strict=True)]
    bandwidth = instance.cluster.inter_bytes_per_s
    transfers = [instance.chain.act_bytes[a - 1] / bandwidth for a in firsts[1:]]
    block = max(*stages, *(2 * x for x in transfers))
    return M * sum(times) / (block * (M - 1) + sum(times) + sum(transfers))


if __name__ == "__main__":
    main()
