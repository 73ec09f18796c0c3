"""SJF-BCO against hand-checked instances, a plain implementation and the evaluator."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.sjf_bco.algorithms.sjf_bco import (
    best_over_limits,
    kappa_stages,
    sjf_bco,
    unbounded_run,
)
from gadgetopt.models.sjf_bco.energetic import (
    area,
    energetic_bound,
    longest_job,
)
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.subproblems.placement import Batch, run
from gadgetopt.system.result import Limits, MethodOutcome

from .. import hand_checked, plain_variants
from ..random_instances import small_instance, small_instances

SEARCHES = ["literal", "feasible", "sweep"]
READINGS = ["idle", "queue"]
PACKINGS = ["least_loaded", "opened_first"]


def solve(instance: SjfBcoInstance, **parameters: Any) -> MethodOutcome:
    options = {"theta_search": "literal", "availability": "idle", "packing": "least_loaded"}
    return best_over_limits(instance, Limits(), **{**options, **parameters})


def probes(outcome: MethodOutcome) -> list[tuple[int, int]]:
    return [(probe["theta"], probe["makespan"]) for probe in outcome.notes["probes"]]


@pytest.mark.parametrize("theta_search", SEARCHES)
@pytest.mark.parametrize("availability", READINGS)
@pytest.mark.parametrize(
    ("name", "makespan"),
    [
        # tau(1,0) = .01 + .01 + .01 + .07 = .10, so 10 iterations a slot and 2 slots; the second
        # job finds server 1 with less load than server 0 and stays on it.
        ("co_locate", 2),
        # tau(2,2) = .25, 4 a slot, 3 slots: placements (2,1,0) and (0,1,2) share server 1.
        ("contention_pays", 3),
        # Both at 0, one iteration a slot: job 1 needs 10 slots, then job 0 has 5 left at 2 a slot.
        ("staggered_start", 13),
        # The jobs of 1 slot go first, one on each GPU, then that of 2 slots: 1 + 2.
        ("theorem_5_fails_a", 3),
        # The jobs of 3 slots come first by index, one a GPU; then 2 2 on one and 2 on the other: 7.
        ("theorem_5_fails_b", 7),
        # kappa = 1: server 1 has no load when the gang of four comes; it stays there, 2 slots.
        ("kappa_matters", 2),
    ],
)
def test_hand_checked_makespans(
    name: str, makespan: int, availability: str, theta_search: str
) -> None:
    instance = getattr(hand_checked, name)()
    outcome = solve(instance, availability=availability, theta_search=theta_search)
    assert outcome.claimed_objective == makespan
    assert outcome.solution is not None
    assert evaluate(instance, outcome.solution).objective == makespan


def test_two_gangs_meet_on_the_middle_server() -> None:
    solution = solve(hand_checked.contention_pays()).solution
    assert solution is not None
    assert solution.placement == ({0: 2, 1: 1}, {1: 1, 2: 2})  # type: ignore[attr-defined]


def test_large_kappa_spreads_what_small_kappa_keeps_together() -> None:
    # kappa = 4: the single GPUs are (0,0), (0,1), so the gang takes (0,2), (0,3), (1,0), (1,1) and
    # tau(2,1) = .17, 5 a slot: 4 slots. kappa = 1: local, tau(1,0) = .0925, 10 a slot: 2 slots.
    batch = Batch(hand_checked.kappa_matters())
    makespan = {
        kappa: run(
            batch, kappa_stages(batch, kappa, "least_loaded"), batch.unlimited, "idle"
        ).makespan
        for kappa in (1, 4)
    }
    assert makespan == {1: 2, 4: 4}


def test_literal_bisection_crawls_right_after_its_first_success() -> None:
    # Nothing improves on the first makespan, so after theta = 5 the search only moves right.
    outcome = solve(hand_checked.co_locate())
    assert probes(outcome) == [(10, 2), (5, 2), (7, 2), (8, 2), (9, 2)]


def test_literal_bisection_counts_an_infeasible_run_as_the_horizon() -> None:
    # Total load 12 on two GPUs: theta = 5 is infeasible and stands for T = 20.
    outcome = solve(hand_checked.theorem_5_fails_b())
    assert probes(outcome) == [(10, 7), (5, 20), (7, 7), (8, 7), (9, 7)]


def test_no_schedule_before_the_horizon_is_said_with_the_remedy() -> None:
    instance = hand_checked.co_locate().model_copy(update={"horizon_slots": 2})
    outcome = solve(instance)  # the makespan 2 is not below 2
    assert outcome.solution is None
    assert "raise horizon_slots" in outcome.notes["no_schedule"]


@pytest.mark.parametrize(
    "parameters", [{"theta_search": "x"}, {"availability": "x"}, {"packing": "x"}]
)
def test_unknown_parameter_value_is_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="'x' is not"):
        solve(hand_checked.co_locate(), **parameters)


@pytest.mark.parametrize("availability", READINGS)
@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("seed", range(15))
def test_equals_the_plain_algorithm(seed: int, packing: str, availability: str) -> None:
    instance = small_instance(np.random.default_rng(seed), horizon=20)
    order = sorted(range(len(instance.jobs)), key=lambda j: (instance.jobs[j].gpus, j))
    fill = (
        plain_variants.fa_ffp if packing == "least_loaded" else plain_variants.fa_ffp_opened_first
    )

    @cache
    def plain_run(kappa: int, theta: int | None) -> tuple[int | None, bool]:
        def rule(j: int) -> plain_variants.Place:
            return fill if instance.jobs[j].gpus <= kappa else plain_variants.lbsgf

        return plain_variants.makespan_of_run(instance, order, rule, theta, availability)

    kappas = range(1, max(job.gpus for job in instance.jobs) + 1)
    for theta_search in ("literal", "feasible"):
        makespan, log = plain_variants.literal(
            instance, plain_run, kappas, to_feasible=theta_search == "feasible"
        )
        outcome = solve(
            instance, theta_search=theta_search, availability=availability, packing=packing
        )
        assert probes(outcome) == log
        assert (outcome.claimed_objective or instance.horizon_slots) == makespan

    # The sweep passes every theta, so it is at least as good as every integer one.
    swept = solve(instance, theta_search="sweep", availability=availability, packing=packing)
    every = [
        plain_run(kappa, theta)[0]
        for kappa in kappas
        for theta in [*range(1, instance.horizon_slots + 1), None]
    ]
    best = min((m for m in every if m is not None), default=instance.horizon_slots)
    assert (swept.claimed_objective or instance.horizon_slots) <= best


@settings(max_examples=150, deadline=None)
@given(
    small_instances(),
    st.sampled_from(list(product(SEARCHES, READINGS, PACKINGS, [False, True]))),
)
def test_claimed_makespan_is_the_evaluated_one(
    instance: SjfBcoInstance, options: tuple[str, str, str, bool]
) -> None:
    theta_search, availability, packing, seed_unbounded = options
    outcome = solve(
        instance,
        theta_search=theta_search,
        availability=availability,
        packing=packing,
        with_unbounded_run=seed_unbounded,
    )
    if outcome.solution is None:
        assert "no_schedule" in outcome.notes
        return
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible, evaluation.violations
    assert evaluation.objective == outcome.claimed_objective
    lower = max(area(instance), longest_job(instance), energetic_bound(instance))
    assert outcome.claimed_objective >= lower


@settings(max_examples=100, deadline=None)
@given(small_instances())
def test_seeding_never_makes_it_worse_than_the_unbounded_run(instance: SjfBcoInstance) -> None:
    unbounded = unbounded_run(Batch(instance)).makespan
    outcome = solve(instance, availability="queue", with_unbounded_run=True)
    if unbounded is not None and unbounded < instance.horizon_slots:
        assert outcome.claimed_objective <= unbounded


def test_starts_never_decrease_in_the_order_of_jobs_when_only_idle_gpus_count() -> None:
    instance = hand_checked.paper_experiment(0)
    solution = solve(instance).solution
    order = Batch(instance).smallest_first
    starts = [solution.start_slot[j] for j in order]  # type: ignore[union-attr]
    assert starts == sorted(starts)


@pytest.mark.parametrize("theta_search", SEARCHES)
@pytest.mark.parametrize(
    ("seed", "idle", "queue"), [(0, 458, 483), (1, 407, 416), (2, 470, 504), (3, 529, 546)]
)
def test_reference_figures_of_the_paper_experiment(
    seed: int, idle: int, queue: int, theta_search: str
) -> None:
    # Measured once with an independent implementation on the same draws.
    instance = hand_checked.paper_experiment(seed)
    found = [
        solve(instance, theta_search=theta_search, availability=a).claimed_objective
        for a in READINGS
    ]
    assert found == [idle, queue]


def test_time_limit_stops_the_search_and_is_named() -> None:
    instance = hand_checked.paper_experiment(0)
    outcome = sjf_bco(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
