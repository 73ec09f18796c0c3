"""A hundred random plans of each system: what is written is read back with the same evaluation.

Plans need not be feasible: the evaluator's objective and violations have to come back. Forest
packing, whose rates become whole chunks, is in tests/models/forest_packing/exporters.
"""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.orders import one_forward_one_backward
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaration import resolved
from gadgetopt.system.files import library, read_instance

#: Plans of each format. Those that a format refuses are drawn again.
PLANS = 100
#: Tries for them.
MOST_TRIES = 2_000


def split(rng, total, parts):
    """Return random counts of some of the parts, which sum up to the total."""
    found = {}
    for _ in range(total):
        part = int(rng.integers(parts))
        found[part] = found.get(part, 0) + 1
    return found


# -- jobs --------------------------------------------------------------------------------------


def parallel_machines(instance, rng):
    return {
        "machine": tuple(map(int, rng.integers(0, instance.machines, len(instance.processing_s))))
    }


def sjf_bco(instance, rng):
    """Starts and servers at random; in half of the plans the GPUs' numbers and completions, too."""
    placement = [split(rng, job.gpus, len(instance.server_gpus)) for job in instance.jobs]
    plan = {
        "start_slot": tuple(map(int, rng.integers(0, 60, len(instance.jobs)))),
        "placement": placement,
    }
    if rng.random() < 0.5:
        plan["gpu_ids"] = [{s: tuple(range(n)) for s, n in on.items()} for on in placement]
    if rng.random() < 0.5:
        plan["completion_slot"] = tuple(map(int, rng.integers(2_000, 3_000, len(instance.jobs))))
    return plan


def a_srpt(instance, rng):
    jobs = []
    for j in map(int, rng.permutation(len(instance.jobs))):
        replicas = instance.job_types[instance.jobs[j].job_type].replicas
        placement = [tuple(split(rng, k, instance.num_servers).items()) for k in replicas]
        start = int(rng.integers(0, 50)) * instance.total_gpus
        jobs.append({"job": j, "start_microtick": start, "placement": placement})
    return {"jobs": jobs, "predictor": str(rng.choice(["", "forest"])) or None}


def gadget(instance, rng):
    substrate = instance.substrate
    if substrate.kind == "two_tier":
        servers = range(len(substrate.servers))
    else:
        servers = [v for v, node in enumerate(substrate.nodes) if node.capacity is not None]
    rings = []
    for i, job in enumerate(instance.jobs):
        ring = [int(rng.choice(servers)) for _ in range(rng.integers(1, job.max_workers + 1))]
        for slot in range(job.arrival_slot, instance.horizon_slots + 1):
            if rng.random() < 0.3:
                ring = [int(rng.choice(servers)) for _ in ring]
            if rng.random() < 0.6:
                routes = None
                if substrate.kind != "two_tier":
                    routes = [
                        (v, int(rng.integers(9)), w)
                        for v, w in zip(ring, ring[1:] + ring[:1], strict=True)
                    ]
                rings.append({"slot": slot, "job": i, "servers": ring, "routes": routes})
    return {"rings": rings}


def pd_ors(instance, rng):
    schedules = []
    for job in instance.jobs:
        plans, placements = [], []
        for slot in range(job.arrival_slot, instance.horizon_slots + 1):
            if rng.random() < 0.5:
                machines = rng.permutation(len(instance.machines))[: rng.integers(1, 4)]
                placements = [
                    {
                        "machine": int(h),
                        "workers": int(rng.integers(1, 4)),
                        "servers": int(rng.integers(3)),
                    }
                    for h in machines
                ]
            if placements and rng.random() < 0.7:
                plans.append({"slot": slot, "placements": placements})
        schedules.append(plans if plans and rng.random() < 0.8 else None)
    return {"schedules": schedules}


def marl_queueing(instance, rng):
    """In each slot jobs in random order, on random servers that have room.

    With boards half of the plans name random GPUs that are free.
    """
    slots = []
    named = bool(instance.boards) and rng.random() < 0.5
    for slot in range(instance.num_slots):
        free = [[server.gpus, server.cpus] for server in instance.servers]
        seats = [list(map(int, rng.permutation(server.gpus))) for server in instance.servers]
        running = []
        for j in map(int, rng.permutation(len(instance.jobs))):
            job, tasks = instance.jobs[j], {}
            for _ in range(job.num_tasks if slot >= instance.first_slots[j] else 0):
                fit = [
                    s
                    for s, (gpus, cpus) in enumerate(free)
                    if gpus >= job.gpus_per_task and cpus >= job.cpus_per_task
                ]
                if not fit:
                    break
                s = int(rng.choice(fit))
                free[s][0] -= job.gpus_per_task
                free[s][1] -= job.cpus_per_task
                tasks[s] = tasks.get(s, 0) + 1
            if tasks and sum(tasks.values()) == job.num_tasks and rng.random() < 0.9:
                running.append({"job": j, "tasks": list(tasks.items())})
                if named:
                    need = {s: n * job.gpus_per_task for s, n in tasks.items()}
                    running[-1]["gpus"] = [
                        [seats[s].pop() for _ in range(gpus)] for s, gpus in need.items()
                    ]
        slots.append(running)
    return {"slots": slots}


def marl_placement(instance, rng):
    servers = len(instance.servers)
    return {"tasks": [list(split(rng, job.num_tasks, servers).items()) for job in instance.jobs]}


def smd(instance, rng):
    admitted = [rng.random() < 0.7 for _ in instance.jobs]
    return {
        "jobs": [
            {
                "admit": admit,
                "num_workers": int(rng.integers(1, 20)),
                "num_ps": int(rng.integers(1, 20)),
            }
            for admit in admitted
        ]
    }


# -- pipelines ---------------------------------------------------------------------------------


def pipeline_plan(instance, rng):
    """Return a random plan and orders of its stages and channels."""
    layers, gpus = instance.num_layers, instance.num_gpus
    stages = int(rng.integers(1, min(layers, gpus) + 1))
    cuts = [0, *sorted(map(int, rng.choice(range(1, layers), stages - 1, replace=False))), layers]
    shared = np.array_split(
        rng.permutation(gpus), [*sorted(rng.choice(range(1, gpus), stages - 1, replace=False))]
    )
    plan = Plan(
        stage_layers=tuple(itertools.pairwise(cuts)),
        stage_devices=tuple(tuple(map(int, part)) for part in shared),
    )
    M = instance.num_microbatches
    warmup = sorted((int(rng.integers(1, M + 1)) for _ in range(stages)), reverse=True)
    orders = [one_forward_one_backward(M, k) for k in warmup]
    return plan, warmup, dispatch(shop_of(instance, plan), channels_first_come(orders)).orders


def spp(instance, rng):
    plan, _, orders = pipeline_plan(instance, rng)
    swapped(orders, rng)
    return {**plan.model_dump(), "orders": orders}


def dapple(instance, rng):
    plan, warmup, orders = pipeline_plan(instance, rng)
    if rng.random() < 0.5:
        return {**plan.model_dump(), "warmup": warmup}
    swapped(orders, rng)
    return {**plan.model_dump(), "orders": orders}


def swapped(orders, rng):
    """Exchange a few neighbours: some plans wait for ever then, and are drawn again."""
    for _ in range(rng.integers(3)):
        order = orders[int(rng.integers(len(orders)))]
        k = int(rng.integers(len(order) - 1))
        order[k], order[k + 1] = order[k + 1], order[k]


def pipeline_schedules(instance, rng):
    """Orders in which every operation comes after those that it needs on its device."""
    orders = []
    for stages in instance.stages_of_device:
        left = [
            [f"{s}{kind}{j}" for kind in (("F", "B") if rng.random() < 0.5 else ("F", "I", "W"))]
            for j in range(max(instance.microbatches))
            for s in stages
            if j < instance.microbatches[s]
        ]
        order = []
        while left:
            k = min(int(rng.geometric(0.5)) - 1, len(left) - 1)
            order.append(left[k].pop(0))
            left = [cells for cells in left if cells]
        orders.append(order)
    return {"orders": orders}


def oneflow_sbp(instance, rng):
    return {"signature": [int(rng.integers(len(k))) for k in instance.tables.signatures]}


#: Systems whose plans have no schedule if too many microbatches are in flight.
PIPELINES = ("spp", "dapple")

DRAWS = {
    f.__name__: f
    for f in (
        parallel_machines,
        sjf_bco,
        a_srpt,
        gadget,
        pd_ors,
        marl_queueing,
        marl_placement,
        smd,
        spp,
        dapple,
        pipeline_schedules,
        oneflow_sbp,
    )
}
FORMATS = [
    pytest.param(name, exporter.format, id=f"{name}-{exporter.format}")
    for name in DRAWS
    for exporter in gadgetopt.problem(name).exporters
    if exporter.format in ("gantt", "chrome-trace", "sbatch", "chakra", "dtensor")
]


def instances_of(name):
    paths = [library() / "quickstart" / f"{name}.json"]
    paths += sorted((library() / name / "tiny").glob("*.json"))[:4]
    return [read_instance(path).data for path in paths]


@pytest.mark.parametrize(("name", "form"), FORMATS)
def test_random_plans_come_back(name, form):
    problem = gadgetopt.problem(name)
    exporter = next(e for e in problem.exporters if e.format == form)
    rng = np.random.default_rng(0)
    instances = instances_of(name)
    done = 0
    for _ in range(MOST_TRIES):
        instance = instances[int(rng.integers(len(instances)))]
        plan = resolved(problem.solution_type).model_validate_json(
            json.dumps(DRAWS[name](instance, rng))
        )
        evaluation = problem.evaluate(instance, plan)
        if evaluation.objective is None or (evaluation.violations and name in PIPELINES):
            continue
        try:
            kept = (
                plan
                if exporter.kept is None
                else exporter.kept(instance, plan, **exporter.parameters)
            )
            exported = exporter.write(instance, plan, **exporter.parameters)
        except InputError:
            continue
        expected = problem.evaluate(instance, kept)
        found = problem.evaluate(instance, exporter.read_back(instance, exported))
        assert agrees(found.objective, expected.objective)
        assert {v.constraint for v in found.violations} == {
            v.constraint for v in expected.violations
        }
        done += 1
        if done == PLANS:
            return
    raise AssertionError(f"{done} plans of {MOST_TRIES} tries")


#: Where a hundred random plans of the formats of runtimes and of rates are.
ELSEWHERE = {
    "spp": "spp/exporters/test_runtimes.py",
    "dapple": "dapple/exporters/test_runtimes.py",
    "pipeline_schedules": "pipeline_schedules/exporters/test_torch_csv.py",
    "forest_packing": "forest_packing/exporters/test_msccl.py",
}


def test_every_format_of_every_system_has_its_random_plans():
    here = {tuple(parameter.values) for parameter in FORMATS}
    declared = {(p.name, e.format) for p in gadgetopt.problems() for e in p.exporters}
    missing = declared - here
    assert missing <= {(p, form) for p, form in declared if p in ELSEWHERE}
    for system, _ in missing:
        assert (Path(__file__).parent / ELSEWHERE[system]).is_file()
