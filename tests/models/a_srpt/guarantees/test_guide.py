"""Lemmas 2 and 3 and the first inequality of Theorem 1, on runs of A-SRPT."""

import heapq
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.generate.random_jobs import random_instance
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.guarantees.guide import (
    Guide,
    durations_of,
    guide_of,
)
from gadgetopt.models.a_srpt.heuristics.a_srpt_workload import a_srpt_workload
from gadgetopt.models.a_srpt.instance import ASrptInstance, ASrptSolution
from gadgetopt.models.a_srpt.relaxations import pool_of, srpt_bound
from gadgetopt.models.a_srpt.subproblems.arrivals import arrival_of
from gadgetopt.models.a_srpt.subproblems.predictors import make_predictor
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..rigid_jobs import H3, pool_optimum


def late_starts(
    instance: ASrptInstance, solution: ASrptSolution, guide: Guide
) -> Iterator[tuple[int, Fraction]]:
    """Yield the jobs that start later than Lemma 3 allows, and by how many microticks."""
    for job in solution.jobs:
        latest = (guide.completion[job.job] + guide.delay[job.job]) * guide.stretch
        if job.start_microtick > latest:
            yield job.job, job.start_microtick - latest


def early_starts(solution: ASrptSolution, guide: Guide) -> list[int]:
    """Return the jobs that start before they have completed on the virtual machine."""
    return [job.job for job in solution.jobs if job.start_microtick < guide.completion[job.job]]


def a_posteriori_bound(instance: ASrptInstance, solution: ASrptSolution, guide: Guide) -> Fraction:
    r"""Return :math:`(1 + \sigma G') \sum w_j (\tilde C_j + D_j) + \sum w_j d_j`, in ticks."""
    G = instance.total_gpus
    durations = durations_of(instance, solution)
    guided = sum(
        job.weight * (c + d)
        for job, c, d in zip(instance.jobs, guide.completion, guide.delay, strict=True)
    )
    run = sum(job.weight * d for job, d in zip(instance.jobs, durations, strict=True))
    return guide.stretch * guided / G + run


def replayed_predictions(
    instance: ASrptInstance,
    solution: ASrptSolution,
    predictor: str,
    noise_sd: float,
    rng: np.random.Generator,
) -> list[int]:
    """Return what a predictor said of each job, given when the jobs of a schedule completed.

    `rng` is in the state in which the run began.
    """
    G = instance.total_gpus
    guess = make_predictor(predictor, instance, noise_sd, rng)
    durations = durations_of(instance, solution)
    ends = [(job.start_microtick + G * durations[job.job], job.job) for job in solution.jobs]
    heapq.heapify(ends)
    predicted = [0] * len(instance.jobs)
    releases = instance.release_ticks.tolist()
    for j in sorted(range(len(releases)), key=lambda j: (releases[j], j)):
        while ends and ends[0][0] <= G * releases[j]:
            _, done = heapq.heappop(ends)
            guess.observe(arrival_of(instance, done), instance.jobs[done].num_iterations)
        predicted[j] = guess.predict(arrival_of(instance, j))
    return predicted


DEFAULTS = {
    "mapping": "heavy_edge",
    "virtual_alpha": "heuristic",
    "virtual_speed": 1.0,
    "guide": "srpt",
    "delay_factor": 1.0,
    "comm_threshold": 1.5,
}


def drawn(rng):
    return random_instance(
        rng,
        jobs=int(rng.integers(6, 16)),
        servers=int(rng.integers(2, 5)),
        gpus_per_server=int(rng.choice([2, 4])),
        load=float(rng.choice([0.5, 1.2, 3.0])),
        largest_job_gpus=4,
        fewest_iterations=20,
        most_iterations=400,
        tick_s=10.0,
    )


def assert_lemmas_hold(instance, solution, guide):
    assert not early_starts(solution, guide)
    assert not list(late_starts(instance, solution, guide))
    evaluation = evaluate(instance, solution)
    assert evaluation.feasible
    assert evaluation.objective <= a_posteriori_bound(instance, solution, guide)


def run_and_check(seed):
    rng = np.random.default_rng(seed)
    instance = drawn(rng)
    predictor = str(rng.choice(["oracle", "noisy_oracle", "group_mean", "last", "global_mean"]))
    noise = float(rng.choice([0.2, 1.0])) if predictor == "noisy_oracle" else 0.0
    parameters = DEFAULTS | {
        "delay_factor": float(rng.choice([0.0, 0.5, 1.0, 2.0])),
        "virtual_alpha": str(rng.choice(["heuristic", "min", "max"])),
        "virtual_speed": float(rng.choice([1.0, 1.0, 2.5])),
        "guide": str(rng.choice(["srpt", "wspt", "wsrpt"])),
        "mapping": str(rng.choice(["heavy_edge", "best_of"])),
    }
    outcome = a_srpt_workload(
        instance,
        Limits(),
        np.random.default_rng(seed),
        predictor=predictor,
        noise_sd=noise,
        queue_order="virtual_completion",
        consolidation_slack=0.0,
        **parameters,
    )
    predicted = replayed_predictions(
        instance, outcome.solution, predictor, noise, np.random.default_rng(seed)
    )
    assert_lemmas_hold(instance, outcome.solution, guide_of(instance, predicted, parameters))


@pytest.mark.parametrize("part", range(4))
def test_lemma_3_holds_in_random_runs(part):
    for seed in range(30 * part, 30 * (part + 1)):
        run_and_check(seed)


@pytest.mark.slow
def test_lemma_3_holds_in_a_thousand_random_runs():
    for seed in range(1000, 2000):
        run_and_check(seed)


def test_h3_has_the_guide_checked_by_hand():
    # J2 runs 4-6, J3 6-10 and J1 0-4, 10-22 on the virtual machine; A-SRPT starts them then.
    guide = guide_of(H3, [job.num_iterations for job in H3.jobs], DEFAULTS)
    assert guide.completion == (22, 6, 10)
    assert guide.delay == (0, 0, 0)
    assert (guide.sigma, guide.eta, guide.rho, guide.crowding) == (1, 1, 1, 4)
    solution = a_srpt(H3, Limits(), np.random.default_rng(0)).solution
    assert_lemmas_hold(H3, solution, guide)
    assert durations_of(H3, solution) == [4, 2, 2]


def test_lemma_2_is_b1():
    predicted = [job.num_iterations for job in H3.jobs]
    guide = guide_of(H3, predicted, DEFAULTS)
    assert Fraction(sum(guide.completion), 4) == srpt_bound(pool_of(H3)) == Fraction(19, 2)
    doubled = guide_of(H3, [2 * n for n in predicted], DEFAULTS)
    assert doubled.eta == 2
    assert Fraction(sum(doubled.completion), 4) <= doubled.eta * pool_optimum(H3)


def test_a_late_start_is_found():
    solution = a_srpt(H3, Limits(), np.random.default_rng(0)).solution
    late = tuple(
        job.model_copy(update={"start_microtick": job.start_microtick + 1000})
        for job in solution.jobs
    )
    guide = guide_of(H3, [job.num_iterations for job in H3.jobs], DEFAULTS)
    changed = solution.model_copy(update={"jobs": late})
    assert [job for job, _ in late_starts(H3, changed, guide)] == [0, 1, 2]
    early = tuple(job.model_copy(update={"start_microtick": 0}) for job in solution.jobs)
    assert early_starts(solution.model_copy(update={"jobs": early}), guide) == [0, 1, 2]


def test_the_parameters_of_the_guide_are_those_of_the_method():
    of = {m.name: dict(m.parameters) for m in problem("a_srpt").methods}
    shared = {key: value for key, value in DEFAULTS.items() if key in of["a_srpt"]}
    assert shared.items() <= of["a_srpt"].items()
    assert DEFAULTS.keys() <= of["a_srpt_workload"].keys()
    predicted = [job.num_iterations for job in H3.jobs]
    assert guide_of(H3, predicted, of["a_srpt"]) == guide_of(H3, predicted, DEFAULTS)
