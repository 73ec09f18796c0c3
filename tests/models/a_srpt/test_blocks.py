"""Tensor parallelism: replicas that are blocks of GPUs of one server."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.a_srpt import PROBLEM
from gadgetopt.models.a_srpt.algorithms import plain
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.baselines.policies import fifo, wcs_duration
from gadgetopt.models.a_srpt.baselines.scattered import scattered
from gadgetopt.models.a_srpt.data.generate.presets import tensor_parallel
from gadgetopt.models.a_srpt.data.generate.transformers import tp_gbytes
from gadgetopt.models.a_srpt.evaluate import evaluate, iteration_time
from gadgetopt.models.a_srpt.exporters import sbatch, timelines
from gadgetopt.models.a_srpt.guarantees.guide import guide_of
from gadgetopt.models.a_srpt.guarantees.ratios import theorem_1_ratio
from gadgetopt.models.a_srpt.instance import (
    ASrptInstance,
    ASrptSolution,
    Job,
    JobType,
    ScheduledJob,
)
from gadgetopt.models.a_srpt.iteration_time import mapping_times
from gadgetopt.models.a_srpt.mapping import fastest_mapping, sparse
from gadgetopt.models.a_srpt.proving.certificate.cluster_exhaustion import none_cheaper
from gadgetopt.models.a_srpt.subproblems.mapper import Mapper
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from .brute_force import best_mapping, optimum, tiny_with_blocks
from .hand_checked import alpha_max_s
from .plain_policies import estimated_ticks, plain_policy

EXACT = (
    "decomposition",
    "cp_configurations",
    "cp_demands",
    "time_indexed@highs",
    "time_indexed@cpsat",
)
BOUNDS = (
    "release_bound",
    "busy_time_bound",
    "transportation_bound",
    "time_indexed_bound",
    "price_bound",
    "server_price_bound",
)


def one_job(job_type, gpus_per_server, intra=Fraction(75, 2), nic=Fraction(25, 2)):
    return ASrptInstance(
        gpus_per_server=gpus_per_server,
        intra_bandwidth_gbytes_per_s=intra,
        nic_bandwidth_gbytes_per_s=nic,
        job_types=(job_type,),
        jobs=(Job(job_type=0, num_iterations=1),),
    )


def pair_of_blocks(**changes):
    """Two replicas of two GPUs each, 0.1 s, 0.4 GB of gradients, 1 GB within a block."""
    fields = {
        "replicas": (2,),
        "stage_time_s": (Fraction(1, 10),),
        "gradient_gbytes": (Fraction(2, 5),),
        "tp_block": 2,
        "tp_gbytes": (Fraction(1),),
    }
    return JobType(**{**fields, **changes})


def literal_time(job_type, stages, intra, inter):
    """Equations (1) to (3) with blocks, in fractions, as the page has them."""
    k, t = job_type.replicas, job_type.tp_block
    block = job_type.tp_gbytes or [Fraction(0)] * len(k)
    slowest = ring = Fraction(0)
    for s, servers in enumerate(stages):
        for m in servers:
            theta = job_type.stage_time_s[s] + block[s] / intra
            for u in (s - 1, s + 1):
                if 0 <= u < len(k):
                    near = Fraction(stages[u].get(m, 0), k[u])
                    sent = job_type.activation_gbytes[min(s, u)] / (k[s] * t)
                    theta += sent * (near / intra + (1 - near) / inter)
            slowest = max(slowest, theta)
        volume = Fraction(2 * (k[s] - 1), k[s]) * job_type.gradient_gbytes[s] / t
        ring = max(ring, volume / (intra if len(servers) == 1 else inter))
    return job_type.pipeline_factor * slowest + ring


def test_the_volume_of_a_block_by_hand():
    """12 layers, 4 sequences of 512, hidden 1024, 2 bytes: 201,326,592 bytes a GPU, at 37.5 GB/s
    0.00536870912 s (Narayanan et al., SC'21)."""
    volume = tp_gbytes(layers=12, micro_batch=4, sequence=512, hidden=1024, bytes_each=2, block=2)
    assert volume * 10**9 == 201_326_592
    assert volume / Fraction(75, 2) == Fraction("0.00536870912")
    assert (
        tp_gbytes(layers=12, micro_batch=4, sequence=512, hidden=1024, bytes_each=2, block=1) == 0
    )
    job_type = pair_of_blocks(replicas=(1,), stage_time_s=(Fraction(0),), tp_gbytes=(volume,))
    instance = one_job(job_type, (2,))
    assert iteration_time(instance, job_type, ({0: 1},)) == Fraction("0.00536870912")


def test_an_iteration_by_hand():
    """10 and 1 GB/s: 0.1 + 1/10 s in the block; of 2 (1/2) 0.4/2 = 0.2 GB each GPU sends, 0.02 s
    on one server and 0.2 s on two."""
    job_type = pair_of_blocks()
    instance = one_job(job_type, (4, 4), intra=Fraction(10), nic=Fraction(4))
    assert iteration_time(instance, job_type, ({0: 2},)) == Fraction(22, 100)
    assert iteration_time(instance, job_type, ({0: 1, 1: 1},)) == Fraction(4, 10)
    assert (instance.alpha_min_s, alpha_max_s(instance)) == (
        (Fraction(22, 100),),
        (Fraction(2, 5),),
    )
    assert job_type.num_gpus == 4


@pytest.mark.parametrize("seed", range(60))
def test_the_evaluator_and_the_table_are_the_equations(seed):
    instance = tiny_with_blocks(np.random.default_rng(seed))
    intra, inter = instance.intra_bandwidth_gbytes_per_s, instance.inter_bandwidth_gbytes_per_s
    for job_type in instance.job_types:
        room = tuple(c // job_type.tp_block for c in instance.gpus_per_server)
        times = mapping_times(job_type, intra, inter)
        found = fastest_mapping(times, room)
        stages = tuple(dict(pairs) for pairs in sparse(found.counts))
        seconds = literal_time(job_type, stages, intra, inter)
        assert iteration_time(instance, job_type, stages) == times.seconds(found.units) == seconds
        assert found.proven
        assert seconds == best_mapping(instance, job_type, room)[0]


def test_free_gpus_of_different_servers_make_no_block():
    """Jobs of 5 and 3 ticks and one GPU on each of two servers: until 3 no block of two is free.

    The total is then 5 + 3 + 4 = 12; both on one server, 5 + 3 + 2 = 10, the optimum.
    """
    wide = pair_of_blocks(replicas=(1,), stage_time_s=(Fraction(1),), tp_gbytes=(Fraction(0),))
    with pytest.raises(ValueError, match="1 blocks of 2 GPUs, but the servers have room for 0"):
        one_job(wide, (1, 1))
    single = JobType(replicas=(1,), stage_time_s=(Fraction(1),), gradient_gbytes=(Fraction(0),))
    jobs = (
        Job(job_type=0, num_iterations=5),
        Job(job_type=0, num_iterations=3),
        Job(job_type=1, num_iterations=1, release_tick=1),
    )
    instance = one_job(wide, (2, 2)).model_copy(update={"job_types": (single, wide), "jobs": jobs})

    def schedule(second, last, tick):
        placed = ((0, 0), (second, 0), (last, 4 * tick))
        return ASrptSolution(
            jobs=tuple(
                ScheduledJob(job=j, start_microtick=start, placement=(((m, 1),),))
                for j, (m, start) in enumerate(placed)
            )
        )

    assert evaluate(instance, schedule(1, 1, 3)).objective == 12
    (violation,) = evaluate(instance, schedule(1, 1, 1)).violations
    assert (violation.constraint, violation.amount) == ("capacity", 1)
    assert evaluate(instance, schedule(0, 1, 1)).objective == optimum(instance) == 10


def test_blocks_larger_than_every_server_and_lists_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="blocks of 4 GPUs"):
        one_job(pair_of_blocks(replicas=(1,), tp_block=4), (3, 3))
    with pytest.raises(
        ValueError, match="tp_gbytes: 0 entries, expected 1 for 1 stages and a tp_block of 2"
    ):
        pair_of_blocks(tp_gbytes=())
    with pytest.raises(ValueError, match="tp_gbytes: 1 entries, expected 0"):
        pair_of_blocks(tp_block=1)


def test_files_without_blocks_stay_the_same():
    job_type = JobType(replicas=(2,), stage_time_s=(Fraction(1),), gradient_gbytes=(Fraction(0),))
    assert "tp_" not in job_type.model_dump_json()
    assert "tp_block" in pair_of_blocks().model_dump_json()


@pytest.mark.parametrize(
    "first", [0, 20, *(pytest.param(k, marks=pytest.mark.slow) for k in range(40, 200, 20))]
)
@pytest.mark.parametrize("mixed", [False, True])
def test_all_routes_agree_on_random_tiny_instances(first, mixed):
    for seed in range(first, first + 20):
        instance = tiny_with_blocks(np.random.default_rng(seed), mixed=mixed)
        value = optimum(instance)
        document = Document(PROBLEM, "instance", "drawn", instance)
        for method in EXACT:
            result = solve(document, method, Limits(time_s=60))
            assert result.status is Status.OPTIMAL, (seed, method, result.reason)
            assert result.objective == value, (seed, method)
        for method in BOUNDS:
            result = solve(document, method, Limits(time_s=60))
            assert result.bound <= value, (seed, method)
            assert result.bound_voucher == "verified"
        least = int(value * instance.weight_scale)
        assert none_cheaper(instance, [], 1, least)
        assert not none_cheaper(instance, [], 1, least + 1)


@pytest.mark.parametrize("seed", range(120))
def test_the_fast_algorithm_takes_the_same_schedule_as_the_printed_one(seed):
    rng = np.random.default_rng(seed)
    instance = tensor_parallel(rng, jobs=12, servers=3, gpus_per_server=6)
    delay = (0, 1, 3)[seed % 3]
    slack = (Fraction(0), Fraction(1, 10))[seed % 2]
    printed = plain.a_srpt(instance, delay_factor=Fraction(delay), consolidation_slack=slack)
    fast = a_srpt(
        instance, Limits(), rng, delay_factor=float(delay), consolidation_slack=float(slack)
    ).solution
    assert sorted(fast.jobs, key=lambda s: s.job) == list(printed.jobs)
    if seed < 40:
        for policy, key, blocking in (
            (fifo, lambda cluster, j: 0, True),
            (wcs_duration, estimated_ticks, False),
        ):
            found = policy(instance, Limits(), rng).solution
            plainly = plain_policy(instance, key, blocking=blocking)
            assert sorted(found.jobs, key=lambda s: s.job) == sorted(
                plainly.jobs, key=lambda s: s.job
            )


@pytest.mark.parametrize(
    "method", ["easy", "a_srpt_workload", "a_srpt_weighted", "order_search", "price_guided"]
)
def test_heuristics_make_schedules_that_hold(method):
    instance = tensor_parallel(np.random.default_rng(3), jobs=20, servers=3, gpus_per_server=6)
    document = Document(PROBLEM, "instance", "drawn", instance)
    result = solve(document, method, Limits(time_s=20))
    assert result.status is Status.FEASIBLE, result.reason


@pytest.mark.parametrize(
    "mapping", ["heavy_edge", "heavy_edge_contract", "best_of", "local_search"]
)
def test_no_rule_is_faster_than_the_fastest_mapping(mapping):
    for seed in range(20):
        instance = tiny_with_blocks(np.random.default_rng(seed))
        for k, times in enumerate(instance.times):
            _, units = Mapper(instance, mapping).mapped_on_empty_cluster(k)
            assert instance.shortest_units[k] <= units <= times.longest


def test_every_job_starts_as_lemma_3_promises():
    parameters = find_method(PROBLEM, "a_srpt").all_parameters
    promised = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        instance = tensor_parallel(rng, jobs=12, servers=2, gpus_per_server=12)
        known = [job.num_iterations for job in instance.jobs]
        guide = guide_of(instance, known, parameters)
        if guide.stretch is None:
            continue
        promised += 1
        for job in a_srpt(instance, Limits(), rng).solution.jobs:
            latest = (guide.completion[job.job] + guide.delay[job.job]) * guide.stretch
            assert job.start_microtick <= latest
    assert promised


def test_where_all_gpus_may_be_idle_nothing_is_promised():
    """Blocks of four on servers of four, two servers: six GPUs may be free though none fits."""
    job_type = pair_of_blocks(replicas=(2,), tp_block=4)
    instance = one_job(job_type, (4, 4))
    guide = guide_of(instance, [1], find_method(PROBLEM, "a_srpt").all_parameters)
    assert guide.crowding is None
    assert theorem_1_ratio(instance, find_method(PROBLEM, "a_srpt").all_parameters) is None


def test_the_schedule_of_lemma_1_is_refused():
    with pytest.raises(ModelRefused, match="tp_block: 2, expected 1"):
        scattered(one_job(pair_of_blocks(), (4,)), Limits())


def test_exported_schedules_come_back():
    rng = np.random.default_rng(1)
    instance = tensor_parallel(rng, jobs=10, servers=3, gpus_per_server=6)
    # Whole ticks, as Slurm's lines need them.
    solution = fifo(instance, Limits(), rng).solution
    value = evaluate(instance, solution).objective
    for write, read in (
        (sbatch.write, sbatch.read_back),
        (timelines.gantt, timelines.read_gantt),
        (timelines.chrome_trace, timelines.read_chrome_trace),
    ):
        back = read(instance, write(instance, solution))
        assert evaluate(instance, back).objective == value
    spans = timelines.spans(instance, solution)
    of_job = [instance.job_types[instance.jobs[int(s.job.split()[1])].job_type] for s in spans]
    wide = next(k for k, job_type in enumerate(of_job) if job_type.tp_block > 1)
    spans[wide] = replace(spans[wide], count=1)
    with pytest.raises(InputError, match="expected blocks of"):
        timelines.decision(instance, spans)
