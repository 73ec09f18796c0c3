"""Published tables of pipeline planners, row by row from the published profiles.

The profiles are not part of the project; `--data DIR` names the folder that holds `pipedream/`,
`dapple/` and `dnn_partitioning/`. Rows whose profile is not there are left out and named.

- `pipedream`: slowest stages of PipeDream's optimiser;
- `public`: data parallelism, analytic scores and recursive values of DAPPLE's public planner;
- `exact`: least bounds over all plans, makespans of simple orders, and optima by CP-SAT;
- `partitioning`: largest loads of dnn-partitioning, for parts contiguous in one order.

Run `python benchmarks/dapple_tables.py --data DIR [pipedream public exact partitioning]`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from gadgetopt.models.dapple.algorithms.public_planner import dapple_code
from gadgetopt.models.dapple.algorithms.schedules import record
from gadgetopt.models.dapple.baselines.parallel import data_parallel
from gadgetopt.models.dapple.importers.profiles import dapple_profile
from gadgetopt.models.dapple.instance import DappleInstance

from gadgetopt.pieces.pipeline.all_plans.label_search import PlanSpace, plan_bound_s
from gadgetopt.pieces.pipeline.chain_conversion import chain_of
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.orders import warmup_orders
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.profiles import read_partitioning_graph, read_profile
from gadgetopt.pieces.pipeline.shop import shop_of, shop_of_times
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.pieces.pipeline.slowest_stage import Level, plan_slowest_stage
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

RNG = np.random.default_rng(0)
FLAT_4, FLAT_16 = (Level(4, 1e9),), (Level(16, 1.25e9),)
NESTED = (Level(4, 12e9), Level(4, 1.25e9))

#: Profile, network, flags, published seconds of the slowest stage.
PIPEDREAM: tuple[tuple[str, tuple[Level, ...], dict[str, bool], float], ...] = (
    ("vgg16", FLAT_4, {"transfers": True}, 0.205520896),
    ("vgg16", FLAT_4, {"transfers": False}, 0.175732624),
    ("vgg16", FLAT_16, {"transfers": True}, 0.0547948908308),
    ("vgg16", FLAT_4, {"transfers": True, "straight": True}, 0.411041792),
    ("vgg16", NESTED, {"transfers": True}, 0.0668887521),
    ("alexnet", FLAT_4, {"transfers": True}, 0.0342171413),
    ("alexnet", FLAT_4, {"transfers": False}, 0.023165752),
    ("alexnet", FLAT_16, {"transfers": True}, 0.0150994944),
    ("alexnet", NESTED, {"transfers": True}, 0.0150994944),
    ("gnmt", FLAT_4, {"transfers": True}, 0.025868),
    ("gnmt", FLAT_4, {"transfers": False}, 0.025868),
    ("gnmt", FLAT_16, {"transfers": True}, 0.017125),
    ("gnmt", NESTED, {"transfers": True}, 0.011081),
    ("resnet50", FLAT_4, {"transfers": True}, 0.162880924),
    ("resnet50", FLAT_4, {"transfers": False}, 0.111497),
    ("resnet50", FLAT_16, {"transfers": True}, 0.0438477900444),
)

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
#: stage in all but the last, and the published recursive speedup.
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
        "(0,12) (12,18) (18,24) (24,30), one GPU each",
        ((0, 10, 1), (9, 16, 1), (15, 22, 1), (21, 28, 1)),
        3.3610,
    ),
)

#: Row of PUBLIC; speedups by the least bound with at most two stages and over all plans, and by
#: policy A, B, rounds and GPipe on the two stages, of the prototype.
EXACT: tuple[tuple[int, float, float | None, tuple[float, ...]], ...] = (
    (0, 13.348, 13.348, (7.82, 9.79, 10.05, 11.12)),
    (1, 15.210, 15.276, (10.39, 15.10, 15.10, 13.67)),
    (2, 15.551, 15.707, (10.67, 15.55, 15.55, 14.58)),
    (3, 12.352, None, (8.80, 12.19, 12.30, 10.71)),
)

#: Input of dnn-partitioning and the published largest load of its exact contiguous algorithm.
PARTITIONING = (
    ("bert24_inference", 17.7899),
    ("bert24_training", 41.7458),
    ("gnmt_inference", 32.9107),
    ("gnmt_training", 107.004),
    ("resnet50_inference", 33.7747),
    ("resnet50_training", 78.6318),
)


def main() -> None:
    """Print the tables asked for."""
    tables: dict[str, Callable[[Path], None]] = {
        "pipedream": pipedream,
        "public": public,
        "exact": exact,
        "partitioning": partitioning,
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


# -- PipeDream's optimiser ---------------------------------------------------------------------


def pipedream(data: Path) -> None:
    """Print slowest stages beside the published ones."""
    header(
        "PipeDream's optimiser",
        *("profile", "network", "flags", "published, s", "ours, s", "difference", "stages"),
    )
    for name, levels, flags, published in PIPEDREAM:
        path = data / "pipedream" / f"{name}.graph.txt"
        if not there(path):
            continue
        chain = chain_of(read_profile(path))
        times = [f + b for f, b in zip(chain.fwd_time_s, chain.bwd_time_s, strict=True)]
        found = plan_slowest_stage(times, chain.param_bytes, chain.act_bytes, levels, **flags)
        assert found is not None
        row(
            name,
            " x ".join(f"{x.units} at {x.bandwidth_bytes_per_s / 1e9:g} GB/s" for x in levels),
            ", ".join(key for key, on in flags.items() if on) or "no transfers",
            f"{published:.10g}",
            f"{found.slowest_s:.10g}",
            apart(found.slowest_s, published),
            " ".join(f"({a},{b}):{r}" for a, b, r in found.stages),
        )


# -- DAPPLE's public planner -------------------------------------------------------------------


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
        alone = one / float(data_parallel(instance, Limits(), RNG).claimed_objective or 1)
        found = dapple_code(instance, Limits(), RNG)
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
    header(
        "The same: recursive values of given plans",
        *("profile; global batch", "plan as printed", "published", "ours", "difference"),
    )
    for which, label, stages, published in RECURSIVE:
        name, total, *_ = PUBLIC[which]
        instance = instance_of(data, which, rings=True)
        if instance is not None:
            value = recursive(instance, stages)
            row(f"{name}; {total}", label, published, f"{value:.4f}", apart(value, published))


def stages_of(plan: Plan) -> str:
    """Return a plan in short: layers and numbers of GPUs."""
    pairs = zip(plan.stage_layers, plan.replicas, strict=True)
    return " ".join(f"({a},{b})x{r}" for (a, b), r in pairs)


def recursive(instance: DappleInstance, stages: Sequence[tuple[int, int, int]]) -> float:
    """Return the speedup of stages that overlap, by policy B with halves of each block.

    The public code evaluates a plan with forward and backward blocks of one length, half of both,
    and counts the first layer of the next stage in every stage before the last. The stages are
    evaluated one by one as parts of plans that have them.
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
        gpus.append(tuple(range(first, first + r)))
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
    makespan = _policy_b_s(f, b, a, instance.num_microbatches)
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


def _policy_b_s(f: list[float], b: list[float], a: list[float], microbatches: int) -> float:
    """Return the makespan of policy B on stages and links."""
    rows = ([Fraction(round(x * 10**13), 10**13) for x in row] for row in (f, b, a))
    shop = shop_of_times(*rows, microbatches)
    count = shop.num_machines
    return float(simulate(shop, warmup_orders(shop, [count - q for q in range(count)])).makespan_s)


# -- exact -------------------------------------------------------------------------------------


def exact(data: Path) -> None:
    """Print least bounds, simple schedules and optima beside the prototype's."""
    header(
        "Least bounds over all plans: speedups over one GPU (prototype / ours)",
        *("profile, M", "at most 2 stages", "its plan", "all plans", "plan", "s", "labels"),
        *("A / B / rounds / GPipe on the 2 stages", "prototype", "CP-SAT on the 2 stages"),
    )
    for which, two, everything, simple in EXACT:
        instance = instance_of(data, which, rings=False)
        if instance is None:
            continue
        one = one_gpu_s(instance)
        limited = instance.model_copy(
            update={"options": instance.options.model_copy(update={"max_stages": 2})}
        )
        plan = PlanSpace(limited).least_bound(Clock()).plans[0].plan
        bound = float(plan_bound_s(instance, plan))
        begin = time.perf_counter()
        space = PlanSpace(instance)
        known = plan_by_latency(instance, Clock(), max_stages=2, pivot="max").plan
        assert known is not None
        cutoff = space.ticks_above(plan_bound_s(instance, known)) + 1
        least = space.least_bound(Clock(Limits(time_s=300)), cutoff)
        seconds = time.perf_counter() - begin
        best = least.plans[0].plan
        makespans = record(instance, plan).makespan_s
        solved = cp_schedule(shop_of(instance, plan), Limits(time_s=60), 0)
        assert solved.schedule is not None
        optimum = one / float(solved.schedule.makespan_s)
        row(
            f"{PUBLIC[which][0]}, {instance.num_microbatches}",
            f"{two} / {one / bound:.3f}",
            stages_of(plan),
            f"{everything} / {one / float(plan_bound_s(instance, best)):.3f}",
            stages_of(best),
            f"{seconds:.1f}",
            least.labels,
            " / ".join(f"{one / float(makespans[k]):.2f}" for k in ("A", "B", "PE", "GPipe")),
            " / ".join(f"{x:.2f}" for x in simple),
            f"{optimum:.3f}{', optimal' if solved.closed else ''}",
        )


# -- dnn-partitioning --------------------------------------------------------------------------


def partitioning(data: Path) -> None:
    """Print the largest load of parts contiguous in our order beside the published optimum."""
    header(
        "dnn-partitioning: largest load, parts contiguous in one order of the nodes",
        *("input", "accelerators", "published (all orders)", "ours (one order)", "difference"),
    )
    for name, published in PARTITIONING:
        path = data / "dnn_partitioning" / "throughput" / f"{name}.json"
        if there(path):
            graph = json.loads(path.read_text())
            chain = chain_of(read_partitioning_graph(path))
            order = [id_ for ids in chain.node_ids for id_ in ids]
            load = least_largest_load(graph, [int(id_.removeprefix("node")) for id_ in order])
            row(name, graph["maxFPGAs"], published, f"{load:.4f}", apart(load, published))


def least_largest_load(graph: dict[str, Any], order: list[int]) -> float:
    """Return the least largest load of consecutive parts of an order on the accelerators.

    A part's load is the latency of its nodes, and for each tensor that it receives or sends the
    transfer once. Backward nodes are where the forward nodes of their colour are.
    """
    colour = {n["id"]: n["colorClass"] for n in graph["nodes"]}
    position_of_colour = {colour[id_]: p for p, id_ in enumerate(order)}
    place = {n["id"]: position_of_colour.get(n["colorClass"]) for n in graph["nodes"]}
    count = len(order)
    work = np.zeros(count)
    size = np.zeros(count)
    for n in graph["nodes"]:
        if place[n["id"]] is not None:
            work[place[n["id"]]] += n["fpgaLatency"]
            size[place[n["id"]]] += n["size"] if not n["isBackwardNode"] else 0.0
    readers: dict[int, set[int]] = {}
    cost: dict[int, float] = {}
    for e in graph["edges"]:
        if place[e["sourceId"]] is not None and place[e["destId"]] is not None:
            readers.setdefault(e["sourceId"], set()).add(place[e["destId"]])
            cost[e["sourceId"]] = max(cost.get(e["sourceId"], 0.0), e["cost"])
    work_sum, size_sum = (np.concatenate([[0.0], np.cumsum(x)]) for x in (work, size))
    load = np.full((count + 1, count + 1), np.inf)
    for i in range(count):
        for j in range(i + 1, count + 1):
            if size_sum[j] - size_sum[i] > graph["maxSizePerFPGA"]:
                break
            moved = 0.0
            for source, places in readers.items():
                inside = i <= place[source] < j
                reads_inside = any(i <= p < j for p in places)
                reads_outside = any(not i <= p < j for p in places)
                moved += cost[source] * (reads_outside if inside else reads_inside)
            load[i, j] = work_sum[j] - work_sum[i] + moved
    best = load[0].copy()
    for _ in range(graph["maxFPGAs"] - 1):
        best = np.minimum(best, np.min(np.maximum(best[:, None], load), axis=0))
    return float(best[count])


if __name__ == "__main__":
    main()
