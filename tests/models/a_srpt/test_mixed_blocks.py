"""Tensor parallelism in which the stages of a job have blocks of different sizes."""

import dataclasses
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.a_srpt import PROBLEM
from gadgetopt.models.a_srpt.algorithms import plain
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.baselines.policies import fifo, wcs_duration
from gadgetopt.models.a_srpt.baselines.scattered import scattered
from gadgetopt.models.a_srpt.data.generate.presets import tensor_parallel
from gadgetopt.models.a_srpt.evaluate import evaluate, iteration_time
from gadgetopt.models.a_srpt.exporters import sbatch, timelines
from gadgetopt.models.a_srpt.guarantees.guide import guide_of
from gadgetopt.models.a_srpt.guarantees.ratios import theorem_1_ratio
from gadgetopt.models.a_srpt.heuristics.easy import _Easy, easy
from gadgetopt.models.a_srpt.instance import (
    ASrptInstance,
    ASrptSolution,
    Job,
    JobType,
    ScheduledJob,
)
from gadgetopt.models.a_srpt.mapping import fastest_mapping, sparse
from gadgetopt.models.a_srpt.pictures.gantt import gantt
from gadgetopt.models.a_srpt.subproblems.cluster import Cluster
from gadgetopt.models.a_srpt.subproblems.configurations import Configurations
from gadgetopt.models.a_srpt.subproblems.mapper import MAPPINGS, Mapper, floor_among
from gadgetopt.pieces.knapsack.bins import blocks_of, fit
from gadgetopt.solvers import solve_model
from gadgetopt.system.files import Document, read
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve
from gadgetopt.trust.theorems import promises

from .brute_force import best_mapping, fastest_by_row, mappings, optimum, tiny_with_blocks
from .formulations import mapping_milp
from .formulations.mapping_cp import MappingModel
from .hand_checked import alpha_max_s
from .plain_policies import estimated_ticks, plain_policy
from .test_blocks import one_job

TINY = Path(__file__).parents[3] / "instances/a_srpt/tiny"


def mixed_job(**changes):
    """Stages of two blocks of two GPUs and of two single ones, on which it takes 0.1 s each."""
    fields = {
        "replicas": (2, 2),
        "stage_time_s": (Fraction(1, 10), Fraction(1, 10)),
        "activation_gbytes": (Fraction(2, 5),),
        "gradient_gbytes": (Fraction(2, 5), Fraction(1, 5)),
        "tp_blocks": (2, 1),
        "tp_gbytes": (Fraction(1), Fraction(0)),
    }
    return JobType(**{**fields, **changes})


def two_servers(job_type):
    """10 GB/s within the servers of six GPUs, 1 GB/s between them for each GPU."""
    return one_job(job_type, (6, 6), intra=Fraction(10), nic=Fraction(6))


def drawn_of_all_sizes(rng, jobs, servers, gpus):
    """Draw jobs of up to three stages with blocks of one to four GPUs."""
    types = []
    while len(types) < jobs:
        n = int(rng.integers(1, 4))
        k = tuple(int(x) for x in rng.integers(1, 3, n))
        sizes = tuple(int(x) for x in rng.choice([1, 2, 3, 4], n))
        if not fit(blocks_of(sizes, k), (gpus,) * servers):
            continue
        p, h, a, v = (rng.integers(low, 9, n).tolist() for low in (1, 0, 0, 0))
        sent = tuple(
            Fraction(x, 10) if t > 1 else Fraction(0) for x, t in zip(v, sizes, strict=True)
        )
        types.append(
            JobType(
                replicas=k,
                stage_time_s=tuple(Fraction(x, 10) for x in p),
                activation_gbytes=tuple(Fraction(x, 10) for x in a[1:]),
                gradient_gbytes=tuple(Fraction(x, 10) for x in h),
                tp_blocks=sizes,
                tp_gbytes=sent if max(sizes) > 1 else (),
            )
        )
    return ASrptInstance(
        gpus_per_server=(gpus,) * servers,
        intra_bandwidth_gbytes_per_s=Fraction(10),
        nic_bandwidth_gbytes_per_s=Fraction(gpus),
        job_types=tuple(types),
        jobs=tuple(
            Job(
                job_type=j,
                release_tick=int(rng.integers(0, 12)),
                num_iterations=int(rng.integers(1, 30)),
            )
            for j in range(jobs)
        ),
    )


# -- times -----------------------------------------------------------------------------------------


def test_an_iteration_by_hand():
    """Of 2 (1/2) 0.4 GB each of two GPUs sends 0.2, of 0.2 GB the single GPU all.

    On one server: a block takes 0.1 + 1/10 + (0.4/4)/10 = 0.21 s, a single GPU 0.1 + (0.4/2)/10 =
    0.12; rings 0.2/10 = 0.02: 0.23. A stage on each server: 0.2 + 0.1 = 0.3 and 0.1 + 0.2 = 0.3,
    rings 0.02: 0.32. Half of each on every server: 0.2 + 0.1 (0.5/10 + 0.5) = 0.255, rings 0.2:
    0.455. All apart: 0.3 + 0.2 = 0.5.
    """
    job_type = mixed_job()
    instance = two_servers(job_type)
    for stages, seconds in (
        (({0: 2}, {0: 2}), "0.23"),
        (({0: 2}, {1: 2}), "0.32"),
        (({0: 1, 1: 1}, {0: 1, 1: 1}), "0.455"),
    ):
        assert iteration_time(instance, job_type, stages) == Fraction(seconds)
    assert job_type.num_gpus == 6
    assert instance.alpha_min_s == (Fraction("0.23"),)
    assert alpha_max_s(instance) == (Fraction(1, 2),)


@pytest.mark.parametrize("seed", range(200))
def test_the_fastest_mapping_is_that_of_enumeration(seed):
    """Also onto free GPUs that no empty cluster has, where blocks may not fit though GPUs do."""
    rng = np.random.default_rng(seed)
    instance = tiny_with_blocks(rng, mixed=True)
    intra, inter = instance.intra_bandwidth_gbytes_per_s, instance.inter_bandwidth_gbytes_per_s
    for times, job_type, shortest in zip(
        instance.times, instance.job_types, instance.alpha_min_s, strict=True
    ):
        unit = job_type.block_unit
        assert (
            shortest
            == best_mapping(instance, job_type, [c // unit for c in instance.gpus_per_server])[0]
        )
        free = tuple(int(f) for f in rng.integers(0, 6, 3))
        room = tuple(f // unit for f in free)
        tables = list(mappings(job_type.replicas, room, times.sizes))
        assert fit(job_type.blocks, free) == bool(tables)
        if tables:
            found = fastest_mapping(times, room)
            stages = tuple(dict(pairs) for pairs in sparse(found.counts))
            seconds = literal_time_of_stages(job_type, stages, intra, inter)
            assert found.proven
            assert times.seconds(found.units) == seconds
            assert iteration_time(instance, job_type, stages) == seconds
            assert seconds == best_mapping(instance, job_type, room)[0]


@pytest.mark.parametrize("seed", range(60))
def test_a_search_of_few_nodes_has_a_mapping_and_a_bound(seed):
    rng = np.random.default_rng(seed)
    instance = tiny_with_blocks(rng, mixed=True)
    for times, job_type in zip(instance.times, instance.job_types, strict=True):
        room = [c // job_type.block_unit for c in instance.gpus_per_server]
        units = fastest_mapping(times, room).units
        for nodes in (1, 2, 5, 20):
            found = fastest_mapping(times, room, nodes)
            assert found.bound <= units <= found.units == times.units(sparse(found.counts))
            assert tuple(map(sum, found.counts)) == job_type.replicas
            for m, free in enumerate(room):
                held = (t * row[m] for t, row in zip(times.sizes, found.counts, strict=True))
                assert sum(held) <= free


@pytest.mark.parametrize("nodes", [1, 20_000])
def test_servers_that_a_job_fills_are_mapped_at_once(nodes):
    """Blocks of three fill sixteen servers but for what single GPUs take: it is the only way.

    Of the ways to place the single GPUs there are billions.
    """
    gpus = tuple(4 + m % 5 for m in range(16))
    singles, threes = sum(c % 3 for c in gpus), sum(c // 3 for c in gpus)
    job_type = mixed_job(
        replicas=(singles, threes), tp_blocks=(1, 3), tp_gbytes=(Fraction(0), Fraction(1))
    )
    instance = one_job(job_type, gpus, intra=Fraction(10), nic=Fraction(8))
    found = fastest_mapping(instance.times[0], gpus, nodes)
    assert found.counts == (tuple(c % 3 for c in gpus), tuple(c // 3 for c in gpus))
    assert found.proven or nodes == 1
    assert instance.shortest_units == (found.units,)


def literal_time_of_stages(job_type, stages, intra, inter):
    """Equations (1) to (3) in fractions, with the size of each stage's blocks."""
    k, t = job_type.replicas, job_type.block_of_stage
    block = job_type.tp_gbytes or [Fraction(0)] * len(k)
    slowest = ring = Fraction(0)
    for s, servers in enumerate(stages):
        for m in servers:
            theta = job_type.stage_time_s[s] + block[s] / intra
            for u in (s - 1, s + 1):
                if 0 <= u < len(k):
                    near = Fraction(stages[u].get(m, 0), k[u])
                    sent = job_type.activation_gbytes[min(s, u)] / (k[s] * t[s])
                    theta += sent * (near / intra + (1 - near) / inter)
            slowest = max(slowest, theta)
        volume = Fraction(2 * (k[s] - 1), k[s]) * job_type.gradient_gbytes[s] / t[s]
        ring = max(ring, volume / (intra if len(servers) == 1 else inter))
    return job_type.pipeline_factor * slowest + ring


@pytest.mark.parametrize("seed", range(24))
def test_programs_of_the_mapping_agree(seed):
    instance = tiny_with_blocks(np.random.default_rng(seed), mixed=True)
    for times, job_type in zip(instance.times, instance.job_types, strict=True):
        room = [c // job_type.block_unit for c in instance.gpus_per_server]
        units = fastest_mapping(times, room).units
        model = mapping_milp.build(times, room)
        assert solve_model(model, "highs", Limits()).status is Status.OPTIMAL
        assert times.units(sparse(mapping_milp.decode(model))) == units
        program = MappingModel(job_type.replicas, room, times.sizes)
        program.takes_the_iteration(times)
        assert program.solve(Limits())[0].objective == units


# -- what fits -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_configurations_are_the_rows_of_all_mappings(seed):
    instance = tiny_with_blocks(np.random.default_rng(seed), mixed=True)
    configurations = Configurations(instance)
    for j, job in enumerate(instance.jobs):
        times, job_type = instance.times[job.job_type], instance.job_types[job.job_type]
        rows = {c.gpus: c.ticks for c in configurations.of(j)}
        assert rows == {
            row: instance.ticks(j, int(seconds * times.units_per_s))
            for row, seconds in fastest_by_row(instance, job_type).items()
        }


def test_free_gpus_of_different_servers_make_no_block():
    """The tiny instance says how: three free GPUs on each of two servers hold no block of four."""
    instance = read(TINY / "h6_blocks_of_two_sizes.json").data

    def schedule(of_j2, of_block, of_single, tick):
        placed = ((0, (0,)), (0, (of_j2,)), (8 * tick, (of_block, of_single)))
        return ASrptSolution(
            jobs=tuple(
                ScheduledJob(
                    job=j, start_microtick=start, placement=tuple(((m, 1),) for m in servers)
                )
                for j, (start, servers) in enumerate(placed)
            )
        )

    assert evaluate(instance, schedule(1, 1, 0, 3)).objective == 12
    (violation,) = evaluate(instance, schedule(1, 1, 0, 1)).violations
    assert (violation.constraint, violation.amount) == ("capacity", 1)
    assert evaluate(instance, schedule(0, 1, 0, 1)).objective == optimum(instance) == 10
    # The single GPU beside the block is one too many.
    (violation,) = evaluate(instance, schedule(0, 1, 1, 1)).violations
    assert (violation.constraint, violation.amount) == ("capacity", 1)


@pytest.mark.parametrize("seed", range(40))
def test_the_evaluator_refuses_plans_that_are_changed(seed):
    """A block is on one server: a part elsewhere is one replica too many; all on one do not fit."""
    rng = np.random.default_rng(seed)
    instance = tensor_parallel(rng, jobs=10, servers=3, gpus_per_server=6, mixed=True)
    solution = fifo(instance, Limits(), rng).solution
    assert evaluate(instance, solution).feasible
    for at, scheduled in enumerate(solution.jobs):
        sizes = instance.job_types[instance.jobs[scheduled.job].job_type].block_of_stage
        for s, pairs in enumerate(scheduled.placement):
            if sizes[s] == 1:
                continue
            elsewhere = set(range(3)) - {m for m, _ in pairs}
            for m in elsewhere:
                plan = changed(solution, at, s, (*pairs, (m, 1)))
                assert {v.constraint for v in evaluate(instance, plan).violations} == {"replicas"}
    # All jobs at once, on one server: it holds the sum of all blocks.
    together = ASrptSolution(
        jobs=tuple(
            scheduled.model_copy(
                update={
                    "start_microtick": instance.total_gpus * 10**6,
                    "placement": tuple(((0, sum(x for _, x in p)),) for p in scheduled.placement),
                }
            )
            for scheduled in solution.jobs
        )
    )
    (violation,) = evaluate(instance, together).violations
    assert violation.amount == int(instance.gpus.sum()) - 6


def changed(solution, at, stage, pairs):
    """Return the solution with another placement of one stage of one job."""
    jobs = list(solution.jobs)
    placement = list(jobs[at].placement)
    placement[stage] = pairs
    jobs[at] = jobs[at].model_copy(update={"placement": tuple(placement)})
    return solution.model_copy(update={"jobs": tuple(jobs)})


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(80))
def test_the_fast_algorithm_takes_the_same_schedule_as_the_printed_one(seed):
    rng = np.random.default_rng(seed)
    if seed % 2:
        instance = tensor_parallel(rng, jobs=12, servers=3, gpus_per_server=6, mixed=True)
    else:
        instance = drawn_of_all_sizes(rng, jobs=10, servers=3, gpus=5)
    delay, slack = (0, 1, 3)[seed % 3], (Fraction(0), Fraction(1, 10))[seed % 2]
    printed = plain.a_srpt(instance, delay_factor=Fraction(delay), consolidation_slack=slack)
    fast = a_srpt(
        instance, Limits(), rng, delay_factor=float(delay), consolidation_slack=float(slack)
    ).solution
    assert sorted(fast.jobs, key=lambda s: s.job) == list(printed.jobs)
    assert evaluate(instance, fast).feasible
    for policy, key, blocking in (
        (fifo, lambda cluster, j: 0, True),
        (wcs_duration, estimated_ticks, False),
    ):
        found = policy(instance, Limits(), rng).solution
        plainly = plain_policy(instance, key, blocking=blocking)
        assert sorted(found.jobs, key=lambda s: s.job) == sorted(plainly.jobs, key=lambda s: s.job)


@pytest.mark.parametrize(
    "method",
    ["easy", "spjf", "a_srpt_workload", "a_srpt_weighted", "order_search", "price_guided"],
)
def test_heuristics_make_schedules_that_hold(method):
    for seed in (3, 4):
        rng = np.random.default_rng(seed)
        instance = drawn_of_all_sizes(rng, jobs=20, servers=3, gpus=5)
        document = Document(PROBLEM, "instance", "drawn", instance)
        result = solve(document, method, Limits(time_s=5))
        assert result.status is Status.FEASIBLE, result.reason


@pytest.mark.parametrize("mixed", [False, True])
def test_easy_starts_the_head_of_the_queue_when_it_was_promised(mixed, monkeypatch):
    """Predictions are exact; GPUs that are free on several servers are no room for a block."""
    promised, reservation = {}, _Easy._reservation

    def noted(policy, now, blocks):
        found = reservation(policy, now, blocks)
        promised.setdefault(policy._arrived[policy._head().numbers[0]], found[0])
        return found

    monkeypatch.setattr(_Easy, "_reservation", noted)
    for seed in range(20):
        promised.clear()
        rng = np.random.default_rng(seed)
        instance = tensor_parallel(
            rng, jobs=40, servers=3, gpus_per_server=6, load=3.0, mixed=mixed
        )
        solution = easy(instance, Limits(), rng).solution
        assert evaluate(instance, solution).feasible
        assert promised
        for scheduled in solution.jobs:
            assert scheduled.start_microtick <= promised.get(scheduled.job, np.inf)


def test_the_default_solves_many_jobs_too():
    """Above its limit of jobs it takes the methods that scale."""
    instance = tensor_parallel(np.random.default_rng(0), jobs=420, mixed=True)
    result = solve(
        Document(PROBLEM, "instance", "drawn", instance), "decomposition", Limits(time_s=6)
    )
    assert result.status is Status.FEASIBLE, result.reason
    assert result.bound_voucher == "verified"
    assert result.bound <= result.objective


@pytest.mark.parametrize("mapping", sorted(MAPPINGS))
def test_every_rule_places_all_blocks_on_servers_that_have_room(mapping):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        instance = tiny_with_blocks(rng, mixed=True)
        mapper = Mapper(instance, mapping)
        cluster = Cluster(instance, mapper, Fraction(3, 2))
        for m, c in enumerate(instance.gpus_per_server):
            cluster.free.take([(m, int(rng.integers(0, 2)) * (c > 2))])
        for j, job in enumerate(instance.jobs):
            times, job_type = instance.times[job.job_type], instance.job_types[job.job_type]
            if not cluster.fits(j):
                assert not fit(job_type.blocks, cluster.free.free)
                continue
            offer = cluster.offer(j)
            assert tuple(map(sum, offer.placement)) == job_type.replicas
            for m, column in zip(offer.servers, zip(*offer.placement, strict=True), strict=True):
                held = sum(t * x for t, x in zip(job_type.block_of_stage, column, strict=True))
                assert held <= cluster.free.free[m]
            assert instance.shortest_units[job.job_type] <= offer.units <= times.longest
            most = max(cluster.free.free[m] for m in offer.servers)
            if most < job_type.num_gpus:
                assert floor_among(times, most // job_type.block_unit) <= offer.units
                assert mapper.split_floor(job.job_type) <= offer.units


# -- one size --------------------------------------------------------------------------------------


def of_each_stage(instance):
    """Return the instance in which every stage says its size, though they are the same."""
    types = tuple(
        job_type.model_copy(
            update={"tp_block": 1, "tp_blocks": (job_type.tp_block,) * len(job_type.replicas)}
        )
        for job_type in instance.job_types
    )
    return instance.model_copy(update={"job_types": types})


@pytest.mark.parametrize("seed", range(10))
def test_stages_of_one_size_are_the_blocks_of_the_job(seed):
    job_wide = tensor_parallel(np.random.default_rng(seed), jobs=12, servers=3, gpus_per_server=6)
    by_stage = of_each_stage(job_wide)
    assert by_stage.times == job_wide.times
    assert by_stage.shortest_units == job_wide.shortest_units
    for method in ("a_srpt", "a_srpt_workload", "wcs_duration", "easy", "price_guided"):
        one, other = (
            solve(Document(PROBLEM, "instance", "drawn", data), method, Limits())
            for data in (job_wide, by_stage)
        )
        assert one.solution == other.solution
        assert (one.objective, one.bound) == (other.objective, other.bound)
    parameters = find_method(PROBLEM, "a_srpt").all_parameters
    assert theorem_1_ratio(job_wide, parameters) == theorem_1_ratio(by_stage, parameters)


def test_the_block_of_the_job_is_that_of_stages_without_their_own():
    wide = mixed_job(tp_blocks=(), tp_block=2, tp_gbytes=(Fraction(1), Fraction(1)))
    assert wide.block_of_stage == (2, 2)
    assert mixed_job(tp_block=4).block_of_stage == (2, 1)
    assert "tp_blocks" not in wide.model_dump_json()
    assert 'tp_block"' not in mixed_job().model_dump_json()


# -- theorems, formats -----------------------------------------------------------------------------


def test_theorem_1_says_that_its_premise_does_not_hold():
    instance = two_servers(mixed_job())
    parameters = find_method(PROBLEM, "a_srpt").all_parameters
    assert guide_of(instance, [1], parameters).crowding is None
    assert theorem_1_ratio(instance, parameters) is None
    (promise,) = promises(PROBLEM, instance, find_method(PROBLEM, "a_srpt"))
    assert promise.failing == ("the blocks of a job have one size",)


def test_the_schedule_of_lemma_1_is_refused():
    with pytest.raises(ModelRefused, match="tp_blocks: 2, expected 1"):
        scattered(two_servers(mixed_job()), Limits())


def test_blocks_of_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match="tp_blocks: 1 entries, expected 2, one a stage, or none"):
        mixed_job(tp_blocks=(2,))
    with pytest.raises(ValueError, match="expected 2 for 2 stages and tp_blocks of up to 2"):
        mixed_job(tp_gbytes=())
    with pytest.raises(ValueError, match="expected 0 for a stage of single GPUs"):
        mixed_job(tp_gbytes=(Fraction(1), Fraction(1)))
    with pytest.raises(ValueError, match="needs a block of 2 GPUs, but no server has more than 1"):
        one_job(mixed_job(), (1,) * 8)
    with pytest.raises(
        ValueError, match="2 of 2 and 2 of 1, for which the servers together have no"
    ):
        one_job(mixed_job(), (3, 1, 1, 1))


def test_exported_schedules_come_back():
    rng = np.random.default_rng(1)
    instance = tensor_parallel(rng, jobs=10, servers=3, gpus_per_server=6, mixed=True)
    solution = fifo(instance, Limits(), rng).solution
    value = evaluate(instance, solution).objective
    for write, read_back in (
        (sbatch.write, sbatch.read_back),
        (timelines.gantt, timelines.read_gantt),
        (timelines.chrome_trace, timelines.read_chrome_trace),
    ):
        back = read_back(instance, write(instance, solution))
        assert evaluate(instance, back).objective == value
    spans = timelines.spans(instance, solution)
    by_tick = sum(s.count * (s.end - s.start) for s in spans) / instance.total_gpus
    ticks = {s.job: s.end - s.start for s in spans}
    assert by_tick * instance.total_gpus == sum(
        int(instance.gpus[int(job.split()[1])]) * length for job, length in ticks.items()
    )
    assert sum(gantt(instance, solution).data[0].width) == int(instance.gpus.sum())
    wide = next(k for k, s in enumerate(spans) if s.count == 4)
    split = [*spans[:wide], *halves(spans[wide]), *spans[wide + 1 :]]
    back = timelines.decision(instance, spans)
    assert evaluate(instance, back).objective == value
    with pytest.raises(InputError, match="expected blocks of"):
        timelines.decision(instance, split)


def halves(span):
    """Return a block's span as one GPU here and the others on the next server."""
    server = int(span.resource.split()[1])
    return (
        dataclasses.replace(span, count=1),
        dataclasses.replace(span, count=span.count - 1, resource=f"server {(server + 1) % 3}"),
    )


def test_a_chain_may_say_the_block_of_every_stage():
    jobs = [{"job_type": 0, "num_iterations": 5}]
    net = gadgetopt.Builder("a_srpt", servers=[4, 4], jobs=jobs)
    one = net.add_node("gpt", replicas=1, time_s=1, gradient_gbytes=1, tp_block=2, tp_gbytes=1)
    two = net.add_node(replicas=1, time_s=1, gradient_gbytes=1, tp_block=4, tp_gbytes=1)
    three = net.add_node(replicas=1, time_s=1, gradient_gbytes=1, tp_gbytes=1)
    net.add_edge(one, two, activation_gbytes=0)
    net.add_edge(two, three, activation_gbytes=0)
    (gpt,) = net.build().data.job_types
    assert (gpt.block_of_stage, gpt.num_gpus) == ((2, 4, 2), 8)
