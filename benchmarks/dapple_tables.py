"""Published tables of pipeline planners, row by row from the published profiles.

No study holds rows against published values.

The profiles are not part of the project; `--data DIR` names the folder that holds `pipedream/`,
`dapple/` and `dnn_partitioning/`. Rows whose profile is not there are left out and named.

- `pipedream`: slowest stages of PipeDream's optimiser;
- `exact`: least bounds over all plans, makespans of simple orders, and optima by CP-SAT;
- `partitioning`: largest loads of dnn-partitioning, for parts contiguous in one order.

`benchmarks/dapple_public.py` has the values of DAPPLE's public planner.

Run `python benchmarks/dapple_tables.py --data DIR [pipedream exact partitioning]`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from dapple_public import PUBLIC, apart, header, instance_of, one_gpu_s, row, stages_of, there

from gadgetopt.models.dapple.algorithms.schedules import record
from gadgetopt.pieces.pipeline.all_plans.label_search import PlanSpace, plan_bound_s
from gadgetopt.pieces.pipeline.chain_conversion import chain_of
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.latency_planner import plan_by_latency
from gadgetopt.pieces.pipeline.profiles import read_partitioning_graph, read_profile
from gadgetopt.pieces.pipeline.shop import shop_of
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

#: Layer of a chain that joins the next. The optimiser's states grow from the first source of the
#: graph: a layer that only another source leads to is counted with the layer that reads it.
JOINED = {"gnmt": 8}

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
        layers = [
            [f + b, params, act]
            for f, b, params, act in zip(
                chain.fwd_time_s, chain.bwd_time_s, chain.param_bytes, chain.act_bytes, strict=True
            )
        ]
        if name in JOINED:
            seconds, params, _ = layers.pop(JOINED[name])
            layers[JOINED[name]][0] += seconds
            layers[JOINED[name]][1] += params
        times, weights, outputs = zip(*layers, strict=True)
        found = plan_slowest_stage(times, weights, outputs, levels, **flags)
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
