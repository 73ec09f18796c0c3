"""A-SRPT: H3 and H4 to the digit, a second implementation, and that it is online."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import InputError
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.algorithms.virtual_machine import virtual_completions
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.heuristics.a_srpt_weighted import a_srpt_weighted
from gadgetopt.models.a_srpt.heuristics.a_srpt_workload import a_srpt_workload
from gadgetopt.models.a_srpt.subproblems.mapper import Mapper
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..hand_checked import H3, H4, small


def rng(seed=0):
    return np.random.default_rng(seed)


def run(instance, method=a_srpt, **parameters):
    return called(method, instance, Limits(), rng(), **parameters).solution


def total(instance, solution):
    evaluation = evaluate(instance, solution)
    assert evaluation.feasible
    return evaluation.objective


def test_h3_waits_for_the_virtual_machine():
    """Starts at 1.5, 2.5 and 5.5: completions 3.5, 4.5 and 9.5."""
    solution = run(H3)
    assert {job.job: job.start_microtick for job in solution.jobs} == {1: 6, 2: 10, 0: 22}
    assert total(H3, solution) == Fraction("17.5")


def test_h4_a_delay_for_consolidation_pays():
    """With delay J4 waits until server 0 is empty at 11.5; without, it is split at 7.5."""
    assert total(H4, run(H4, delay_factor=0.0)) == Fraction("52.5")
    assert total(H4, run(H4, delay_factor=1.0)) == Fraction("48.5")
    waiting = {job.job: job.start_microtick for job in run(H4).jobs}
    assert waiting == {0: 6, 1: 14, 2: 24, 3: 46}
    # D = floor(10 * 0.81 * 4) = 32 microticks, counted from 28: a fifth of the patience ends at 34.
    split = {job.job: job.start_microtick for job in run(H4, delay_factor=0.2).jobs}
    assert split[3] == 34


@pytest.mark.parametrize("method", [a_srpt, a_srpt_workload])
@pytest.mark.parametrize("seed", range(15))
def test_decisions_do_not_change_when_later_jobs_do(method, seed):
    """Replace all jobs released after a time: what starts before it starts as it did."""
    draw = rng(seed)
    instance = small(draw, jobs=14)
    moment = sorted(instance.release_ticks.tolist())[8]
    jobs = [
        job.model_copy(
            update={
                "release_tick": job.release_tick + int(draw.integers(0, 9)),
                "num_iterations": int(draw.integers(1, 500)),
                "job_type": int(draw.integers(len(instance.job_types))),
            }
        )
        if job.release_tick > moment
        else job
        for job in instance.jobs
    ]
    changed = instance.model_copy(update={"jobs": tuple(jobs)})

    def before(given):
        return [
            job
            for job in run(given, method).jobs
            if job.start_microtick <= moment * instance.total_gpus
        ]

    assert before(changed) == before(instance)


@pytest.mark.parametrize("guide", ["srpt", "wspt", "wsrpt"])
@pytest.mark.parametrize("seed", range(10))
def test_no_job_starts_before_it_ends_on_the_virtual_machine(guide, seed):
    instance = small(rng(seed))
    mapper, step = Mapper(instance, "heavy_edge"), instance.total_gpus
    work = [
        int(g) * instance.ticks(j, mapper.on_empty_cluster(instance.jobs[j].job_type))
        for j, g in enumerate(instance.gpus)
    ]
    virtual = virtual_completions(
        [int(r) * step for r in instance.release_ticks],
        work,
        [job.weight for job in instance.jobs],
        guide,
    )
    solution = run(instance) if guide == "srpt" else run(instance, a_srpt_weighted, guide=guide)
    for job in solution.jobs:
        assert job.start_microtick >= virtual[job.job]


GUIDED = [m for m in problem("a_srpt").methods if m.name.startswith("a_srpt")]


@pytest.mark.parametrize("method", GUIDED, ids=lambda m: m.name)
@pytest.mark.parametrize("mapping", ["heavy_edge", "heavy_edge_contract", "best_of", "exact"])
def test_every_mapping_and_predictor_gives_the_same_feasible_schedule_again(method, mapping):
    instance = small(rng(4), jobs=20)
    for predictor in ("oracle", "noisy_oracle", "group_median", "forest"):
        parameters = {"mapping": mapping, "predictor": predictor, "noise_sd": 0.5}
        if predictor != "noisy_oracle":
            del parameters["noise_sd"]
        first = run(instance, method.run, **parameters)
        total(instance, first)
        assert run(instance, method.run, **parameters) == first
        assert first.predictor.startswith(predictor)


@pytest.mark.parametrize("seed", range(8))
def test_heavier_jobs_come_sooner(seed):
    """Weights change the order of both queues, and the weighted total is better for it."""
    draw = rng(seed)
    plain = small(draw, jobs=40, load=3.0)
    weighted = plain.model_copy(
        update={
            "jobs": tuple(
                job.model_copy(update={"weight": Fraction(int(draw.choice([1, 10])), 3)})
                for job in plain.jobs
            )
        }
    )
    ignoring = run(plain, a_srpt_workload)
    heeding = run(weighted, a_srpt_workload, guide="wspt")
    assert total(weighted, heeding) < total(weighted, ignoring)


def test_the_order_of_jobs_in_the_file_does_not_matter_but_for_ties():
    drawn = small(rng(8), jobs=12, load=0.5)
    spread = (
        job.model_copy(update={"release_tick": 20 * job.release_tick + j})
        for j, job in enumerate(drawn.jobs)
    )
    instance = drawn.model_copy(update={"jobs": tuple(spread)})
    turned = instance.model_copy(update={"jobs": instance.jobs[::-1]})
    assert len(set(instance.release_ticks.tolist())) == 12
    assert total(turned, run(turned)) == total(instance, run(instance))


@pytest.mark.parametrize(
    "parameters",
    [{"delay_factor": -1.0}, {"comm_threshold": 0.5}, {"virtual_speed": 0.0}, {"noise_sd": -0.1}],
)
def test_parameters_out_of_range_are_named(parameters):
    with pytest.raises(InputError, match=next(iter(parameters))):
        run(H3, a_srpt_workload, **parameters)


def test_without_time_there_is_no_schedule():
    instance = small(rng(1), jobs=400)
    outcome = a_srpt(instance, Limits(time_s=0.0), rng())
    assert outcome.solution is None
    assert outcome.limit_hit == "time_s"


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("a_srpt:guide=wspt", "a_srpt_weighted"),
        ("a_srpt:delay_factor=2:queue_order=workload", "a_srpt_workload"),
        ("a_srpt:virtual_speed=1.5", "a_srpt_workload"),
        ("a_srpt:virtual_alpha=min", "a_srpt_workload"),
    ],
)
def test_a_former_parameter_is_refused_with_the_method_that_has_it(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("a_srpt"), former)
    key, _, value = former.rpartition(":")[2].partition("=")
    assert find_method(problem("a_srpt"), f"{now}:{key}={value}").all_parameters[key] is not None


def test_without_its_own_parameters_the_variant_is_a_srpt():
    instance = small(rng(3), jobs=20)
    same = {
        "mapping": "heavy_edge",
        "virtual_speed": 1.0,
        "queue_order": "virtual_completion",
        "delay_factor": 1.0,
        "comm_threshold": 1.5,
        "consolidation_slack": 0.0,
    }
    assert run(instance, a_srpt_workload, **same) == run(instance)
