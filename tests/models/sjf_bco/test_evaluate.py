"""Evaluator: equal to a slot-by-slot reading of (1)-(9); it reports every violation."""

import json
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gadgetopt.models.sjf_bco.evaluate import evaluate, simulate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution
from gadgetopt.system.files import read_instance


def slot_by_slot(instance, solution, last=2000):
    """Return completion instants, slot by slot, with floats read as decimals."""
    f = lambda x: Fraction(repr(float(x)))  # noqa: E731
    jobs = instance.jobs
    done, completion, t = [0] * len(jobs), [None] * len(jobs), 0
    while None in completion and t < last:
        active = [
            j for j in range(len(jobs)) if solution.start_slot[j] <= t and completion[j] is None
        ]
        spread = {
            (j, s) for j in active for s, y in solution.placement[j].items() if 0 < y < jobs[j].gpus
        }
        for j in active:
            job, used = jobs[j], [s for s, y in solution.placement[j].items() if y > 0]
            p = max(sum((i, s) in spread for i in active) if (j, s) in spread else 0 for s in used)
            k = f(instance.contention_coeff) * p
            k = max(k, 1) if instance.clamp_contention else k
            degradation = k + f(instance.degradation_alpha) * (k - 1)
            b = (
                f(instance.inter_bw_mb_per_slot) / degradation
                if p
                else f(instance.intra_bw_mb_per_slot)
            )
            gamma = f(instance.overhead_coeff) * f(instance.overhead_unit_slots) * len(used)
            if instance.overhead_free_local and len(used) == 1:
                gamma = 0
            m, w = f(job.grad_size_mb), job.gpus
            tau = (
                m / w * 2 * (w - 1) / b
                + m / w * (w - 1) / f(instance.gpu_reduce_mb_per_slot)
                + gamma
                + f(job.fwd_slots_per_sample) * f(job.minibatch_samples)
                + f(job.bwd_slots)
            )
            done[j] += int(1 / tau)
        t += 1
        for j in active:
            if done[j] >= jobs[j].iterations:
                completion[j] = t
    return completion


@st.composite
def scheduled(draw):
    """Draw a small instance and a schedule with complete gangs."""
    servers = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    total = sum(servers)
    jobs, placement = [], []
    for _ in range(draw(st.integers(1, 5))):
        gpus = draw(st.integers(1, min(total, 5)))
        jobs.append(
            {
                "gpus": gpus,
                "iterations": draw(st.integers(1, 60)),
                "grad_size_mb": draw(st.sampled_from([0.0, 0.3, 1.0, 2.5])),
                "minibatch_samples": draw(st.sampled_from([0.0, 32.0])),
                "fwd_slots_per_sample": draw(st.sampled_from([0.0, 0.001])),
                "bwd_slots": draw(st.sampled_from([0.01, 0.07, 0.09])),
            }
        )
        spots = [s for s, o in enumerate(servers) for _ in range(o)]
        chosen = draw(st.permutations(spots))[:gpus]
        placement.append({s: chosen.count(s) for s in set(chosen)})
    instance = {
        "server_gpus": servers,
        "horizon_slots": 2000,
        "inter_bw_mb_per_slot": draw(st.sampled_from([2.0, 10.0, 20.0])),
        "intra_bw_mb_per_slot": draw(st.sampled_from([5.0, 200.0])),
        "gpu_reduce_mb_per_slot": 100.0,
        "contention_coeff": draw(st.sampled_from([0.5, 0.7, 1.0])),
        "overhead_coeff": 1.0,
        "overhead_unit_slots": 0.01,
        "degradation_alpha": draw(st.sampled_from([0.0, 0.2])),
        "clamp_contention": draw(st.booleans()),
        "overhead_free_local": draw(st.booleans()),
        "jobs": jobs,
    }
    try:
        made = SjfBcoInstance.model_validate_json(json.dumps(instance))
    except ValueError:
        assume(False)
    starts = tuple(draw(st.integers(0, 12)) for _ in jobs)
    return made, SjfBcoSolution(start_slot=starts, placement=tuple(placement))


@given(scheduled())
def test_completions_are_those_of_a_walk_through_every_slot(case):
    instance, solution = case
    assert simulate(instance, solution).completion == slot_by_slot(instance, solution)


def over_capacity(instance, solution, completion):
    """Return the pairs (server, slot) in which a server exceeds its capacity."""
    horizon = instance.horizon_slots
    ends = [
        max(horizon, a + 1) if c is None else c
        for a, c in zip(solution.start_slot, completion, strict=True)
    ]
    runs = list(zip(solution.start_slot, ends, solution.placement, strict=True))
    return {
        (s, t)
        for s, capacity in enumerate(instance.server_gpus)
        for t in range(max(ends))
        if sum(y.get(s, 0) for a, c, y in runs if a <= t < c) > capacity
    }


def slots_of(violation):
    """Return the pairs (server, slot) of a violation such as `server 1, slots 3-7`."""
    server, slots = violation.where.removeprefix("server ").split(", slots ")
    first, last = map(int, slots.split("-"))
    return {(int(server), t) for t in range(first, last + 1)}


@given(scheduled())
def test_verdict_is_that_of_a_walk_through_every_slot(case):
    instance, solution = case
    completion = slot_by_slot(instance, solution)
    verdict = evaluate(instance, solution)
    told = [v for v in verdict.violations if v.constraint == "capacity"]
    assert set().union(*map(slots_of, told)) == over_capacity(instance, solution, completion)
    stalled = {f"job {j}" for j, c in enumerate(completion) if c is None}
    assert {v.where for v in verdict.violations if v.constraint == "stalled"} == stalled
    assert verdict.objective == (None if stalled else max(completion))


def test_drawn_schedules_stall_meet_and_part():
    """The random cases include stalls, unclamped rates and levels that change midway."""
    seen = set()

    @given(scheduled())
    @settings(max_examples=300)
    def look(case):
        instance, solution = case
        course = simulate(instance, solution)
        seen.update(["stall"] if None in course.completion else [])
        changes = any(len(phases) > 1 for phases in course.phases)
        seen.update([("change", instance.clamp_contention)] if changes else [])

    look()
    assert seen == {"stall", ("change", True), ("change", False)}


@given(scheduled())
def test_phases_tile_the_life_of_every_job(case):
    instance, solution = case
    course = simulate(instance, solution)
    for j, done in enumerate(course.completion):
        if done is not None:
            edges = [solution.start_slot[j], *(end for _, end, _ in course.phases[j])]
            assert [start for start, _, _ in course.phases[j]] == edges[:-1]
            assert edges[-1] == done


@pytest.fixture
def e3(tiny):
    return read_instance(tiny / "e3_staggered_start.json").data


def optimal(**changes):
    """Return the optimum of E3: job 1 at 0, job 0 at 3, both on servers (2, 1)."""
    fields = {"start_slot": (3, 0), "placement": ({0: 2, 1: 1}, {1: 1, 2: 2})}
    return SjfBcoSolution(**{**fields, **changes})


def broken(instance, solution):
    return {(v.constraint, v.amount) for v in evaluate(instance, solution).violations}


def test_e3_to_the_digit(e3):
    # By slot 3 job 1 has done 9 of 10; the shared slot gives both 1; job 0 does 14 more at 2.
    evaluation = evaluate(e3, optimal())
    assert evaluation.feasible
    assert evaluation.objective == 11
    assert evaluation.components["mean_completion_slots"] == Fraction(15, 2)
    assert evaluation.components["largest_level"] == 2
    assert evaluate(e3, optimal(start_slot=(0, 0))).objective == 13
    assert evaluate(e3, optimal(start_slot=(0, 7))).objective == 11


@pytest.mark.parametrize(
    ("change", "violation"),
    [
        ({"placement": ({0: 2}, {1: 1, 2: 2})}, ("gang", -1)),
        ({"placement": ({0: 2, 1: 2}, {1: 1, 2: 2})}, ("gang", 1)),
        ({"placement": ({0: 3}, {1: 1, 2: 2})}, ("capacity", 1)),
        ({"placement": ({0: 2, 1: 1}, {1: 2, 2: 1})}, ("capacity", 1)),
        ({"placement": ({0: 2, 7: 1}, {1: 1, 2: 2})}, ("unknown_server", 5)),
        ({"placement": ({0: 4, 1: -1}, {1: 1, 2: 2})}, ("negative", 1)),
        ({"placement": ({}, {1: 1, 2: 2})}, ("gang", 3)),
        ({"start_slot": (-1, 0)}, ("negative", 1)),
        ({"start_slot": (13, 0)}, ("horizon", 1)),
        ({"start_slot": (3,)}, ("missing_job", 1)),
        ({"placement": ({0: 2, 1: 1},)}, ("missing_job", 1)),
        # Job 0 needs slots 3 to 10: taken off at 10 it would be preempted one slot short.
        ({"completion_slot": (10, 4)}, ("preemption", 1)),
        ({"gpu_ids": ({0: (0, 1), 1: (0,)}, {1: (0,), 2: (0, 1)})}, ("gpu_ids", 1)),
        ({"gpu_ids": ({0: (0,), 1: (0,)}, {1: (1,), 2: (0, 1)})}, ("gpu_ids", -1)),
        ({"gpu_ids": ({0: (0, 2), 1: (0,)}, {1: (1,), 2: (0, 1)})}, ("gpu_ids", 1)),
    ],
)
def test_every_perturbation_is_rejected_for_its_own_reason(e3, change, violation):
    assert violation in broken(e3, optimal(**change))


def test_gpu_ids_that_are_right_and_a_late_release_are_accepted(e3):
    ids = ({0: (0, 1), 1: (0,)}, {1: (1,), 2: (0, 1)})
    assert not broken(e3, optimal(gpu_ids=ids, completion_slot=(12, 4)))


def test_gpus_are_released_before_new_jobs_start_in_the_same_slot(tiny):
    # E1: both jobs on server 0, 2 slots each, one right after the other.
    e1 = read_instance(tiny / "e1_co_locate.json").data
    schedule = SjfBcoSolution(start_slot=(0, 2), placement=({0: 2}, {0: 2}))
    assert evaluate(e1, schedule).feasible
    assert evaluate(e1, schedule).objective == 4
    early = SjfBcoSolution(start_slot=(0, 1), placement=({0: 2}, {0: 2}))
    assert broken(e1, early) == {("capacity", 2)}


def test_jobs_that_stall_each_other_for_ever_have_no_makespan(e3):
    # At level 2 an iteration of job 0 takes 0.6367 slots; with a link five times slower, over 3.
    slow = e3.model_copy(update={"inter_bw_mb_per_slot": 3.5})
    together = optimal(start_slot=(0, 0))
    evaluation = evaluate(slow, together)
    assert evaluation.objective is None
    assert {"stalled"} <= {v.constraint for v in evaluation.violations}
    apart = evaluate(slow, optimal(start_slot=(10, 0)))
    assert "stalled" not in {v.constraint for v in apart.violations}


@given(scheduled(), st.data())
def test_moving_a_gpu_onto_a_full_server_is_always_rejected(case, data):
    instance, solution = case
    j = data.draw(st.integers(0, len(instance.jobs) - 1))
    s = data.draw(st.integers(0, len(instance.server_gpus) - 1))
    overfull = dict(solution.placement[j]) | {s: instance.server_gpus[s] + 1}
    placement = (*solution.placement[:j], overfull, *solution.placement[j + 1 :])
    changed = solution.model_copy(update={"placement": placement})
    assert {"capacity"} <= {v.constraint for v in evaluate(instance, changed).violations}
