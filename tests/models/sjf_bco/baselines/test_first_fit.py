"""First fit, list scheduling and random placement."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.sjf_bco.algorithms.sjf_bco import unbounded_run
from gadgetopt.models.sjf_bco.baselines.first_fit import (
    first_fit,
    list_scheduling,
    random_placement,
)
from gadgetopt.models.sjf_bco.energetic import energetic_bound
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.subproblems.placement import Batch
from gadgetopt.system.result import Limits, MethodOutcome

from .. import hand_checked, plain_variants
from ..random_instances import small_instance, small_instances

METHODS = [first_fit, list_scheduling, random_placement]
READINGS = ["idle", "queue"]


def solve(method: Any, instance: SjfBcoInstance, **parameters: Any) -> MethodOutcome:
    return called(method, instance, Limits(), np.random.default_rng(0), **parameters)


@pytest.mark.parametrize(
    ("name", "method", "availability", "makespan"),
    [
        # Least loaded GPUs: the second job goes to server 1, local, 2 slots.
        ("co_locate", list_scheduling, "idle", 2),
        ("co_locate", list_scheduling, "queue", 2),
        # Idle: server 0 is busy, so the second job goes to server 1. Queue: it lines up behind the
        # first on server 0, 2 + 2.
        ("co_locate", first_fit, "idle", 2),
        ("co_locate", first_fit, "queue", 4),
        # Idle: both at once, sharing server 1, 3 slots. Queue: both on the same GPUs, 2 + 2.
        ("contention_pays", first_fit, "idle", 3),
        ("contention_pays", first_fit, "queue", 4),
        ("staggered_start", first_fit, "idle", 13),
        ("staggered_start", list_scheduling, "idle", 13),
        # Queue at theta = 7: GPU 0 takes 3 + 3, GPU 1 takes 2 + 2 + 2.
        ("theorem_5_fails_b", first_fit, "queue", 6),
        ("theorem_5_fails_b", list_scheduling, "idle", 7),
        # theta = 10 puts all 4 slots on one GPU; theta = 2, which splits them, is never tried.
        ("theorem_5_fails_a", first_fit, "queue", 4),
        # The gang of four gets the last two GPUs of server 0 and two of server 1: 4 slots.
        ("kappa_matters", list_scheduling, "idle", 4),
        ("kappa_matters", first_fit, "idle", 4),
    ],
)
def test_hand_checked_makespans(name: str, method: Any, availability: str, makespan: int) -> None:
    outcome = solve(method, getattr(hand_checked, name)(), availability=availability)
    assert outcome.claimed_objective == makespan


@settings(max_examples=150)
@given(
    small_instances(),
    st.sampled_from(list(product(METHODS, READINGS, ["given", "smallest_first"]))),
)
def test_claimed_makespan_is_the_evaluated_one(
    instance: SjfBcoInstance, options: tuple[Any, str, str]
) -> None:
    method, availability, job_order = options
    outcome = solve(method, instance, availability=availability, job_order=job_order)
    if outcome.solution is None:
        assert "raise horizon_slots" in outcome.notes["no_schedule"]
        return
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert energetic_bound(instance) <= evaluation.objective == outcome.claimed_objective


@pytest.mark.parametrize("availability", READINGS)
@pytest.mark.parametrize("seed", range(40))
def test_first_fit_equals_the_plain_one(seed: int, availability: str) -> None:
    instance = small_instance(np.random.default_rng(seed), horizon=30)

    def plain_run(_: int, theta: int) -> tuple[int | None, bool]:
        order = range(len(instance.jobs))
        return plain_variants.makespan_of_run(
            instance, order, lambda j: plain_variants.first_fit, theta, availability
        )

    makespan, log = plain_variants.literal(instance, plain_run, [0])
    outcome = solve(first_fit, instance, availability=availability)
    assert [(p["theta"], p["makespan"]) for p in outcome.notes["probes"]] == log
    assert (outcome.claimed_objective or instance.horizon_slots) == makespan


@settings(max_examples=50)
@given(small_instances())
def test_list_scheduling_in_size_order_is_the_largest_kappa(instance: SjfBcoInstance) -> None:
    outcome = solve(list_scheduling, instance, theta_search="sweep", job_order="smallest_first")
    unbounded = unbounded_run(Batch(instance)).makespan
    if unbounded is not None and unbounded < instance.horizon_slots:
        assert outcome.claimed_objective <= unbounded


@pytest.mark.parametrize("rand_mode", ["gpu", "server"])
def test_random_placement_repeats_with_its_seed(rand_mode: str) -> None:
    instance = hand_checked.paper_experiment(0)
    a, b = (
        random_placement(instance, np.random.default_rng(7), rand_mode=rand_mode)  # type: ignore[arg-type]
        for _ in range(2)
    )
    assert a.solution == b.solution


def test_random_placement_beyond_the_horizon_still_tells_its_makespan() -> None:
    instance = hand_checked.co_locate().model_copy(update={"horizon_slots": 3})
    outcome = random_placement(
        instance, np.random.default_rng(0), availability="queue", rand_mode="server"
    )
    if outcome.solution is None:
        assert "makespan" in outcome.notes
