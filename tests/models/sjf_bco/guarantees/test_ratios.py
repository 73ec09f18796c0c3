"""The claimed and the corrected guarantee, compared with optima."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.algorithms.sjf_bco import sjf_bco, unbounded_run
from gadgetopt.models.sjf_bco.guarantees.ratios import (
    corrected_ratio,
    execution_spread,
    smallest_first_unbounded_compared,
    theorem_5_ratio,
    unbounded_run_compared,
)
from gadgetopt.models.sjf_bco.subproblems.placement import Batch
from gadgetopt.system.result import Limits

from .. import hand_checked
from ..brute_force import optimal_makespan
from ..random_instances import small_instance


@pytest.mark.parametrize(
    ("name", "optimum"),
    [("co_locate", 2), ("contention_pays", 3), ("theorem_5_fails_a", 2), ("kappa_matters", 2)],
)
def test_hand_checked_optima(name: str, optimum: int) -> None:
    assert optimal_makespan(getattr(hand_checked, name)(), 4) == optimum


def test_staggered_start_is_optimal_between_events() -> None:
    assert optimal_makespan(hand_checked.staggered_start(), 12) == 11


@pytest.mark.parametrize(("name", "optimum"), [("theorem_5_fails_a", 2), ("theorem_5_fails_b", 6)])
def test_theorem_5_claims_optimality_where_sjf_bco_is_not_optimal(name: str, optimum: int) -> None:
    # One GPU a job, one duration a job, exact estimates: n_g = phi = u = l = 1.
    instance = getattr(hand_checked, name)()
    assert theorem_5_ratio(instance) == 1
    makespan = sjf_bco(instance, Limits()).claimed_objective
    assert makespan is not None
    assert makespan > optimum


def test_ratios_by_hand() -> None:
    # Durations 2 (local) to 7 (spread at level 2): phi = 7/2. N = 4 and both gangs of two, half of
    # it, are small: 7/2 (1 + 4/3). The estimate is 2, so l = 2/7, and the
    # claim is 2 * 7/2 * 7/2.
    instance = hand_checked.co_locate()
    assert execution_spread(instance) == Fraction(7, 2)
    assert theorem_5_ratio(instance) == Fraction(49, 2)
    assert corrected_ratio(instance) == Fraction(7, 2) * Fraction(7, 3)


def test_estimates_on_both_sides_enter_the_claim() -> None:
    # Durations 1 and 2 with estimates 3 and 1: u = 3/1, l = 1/2, so the claim is 1 * 1 * 6.
    jobs = [hand_checked.job(1, 10, est_slots=3.0), hand_checked.job(1, 20, est_slots=1.0)]
    assert theorem_5_ratio(hand_checked.instance([2], jobs)) == 6


def test_no_finite_ratio_when_a_job_can_stall() -> None:
    # tau(2,1) = 8/20 + ..., tau(2,2) > 1.
    instance = hand_checked.instance([2, 2], [hand_checked.job(2, 5, 12.0)] * 2)
    assert execution_spread(instance) is None
    assert theorem_5_ratio(instance) is None
    assert corrected_ratio(instance) is None


@pytest.mark.parametrize("seed", range(60))
def test_corrected_guarantee_holds_against_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = small_instance(
        rng, most_jobs=3, most_servers=3, largest_server=2, most_work=15, horizon=60
    )
    ratio, makespan = corrected_ratio(instance), unbounded_run(Batch(instance)).makespan
    if ratio is not None:
        assert makespan is not None
        assert ratio <= 4 * execution_spread(instance)  # type: ignore[operator]
        assert makespan <= ratio * optimal_makespan(instance, makespan)


def test_which_parameters_bring_the_guarantee() -> None:
    instance = hand_checked.theorem_5_fails_b()  # largest load 7, first theta 10
    assert unbounded_run_compared(instance, {})
    assert unbounded_run_compared(instance, {"theta_search": "sweep"})
    assert not unbounded_run_compared(instance, {"availability": "queue"})
    tight = instance.model_copy(update={"horizon_slots": 12})  # first theta 6
    assert not unbounded_run_compared(tight, {})
    assert smallest_first_unbounded_compared(instance, {"job_order": "smallest_first"})
    assert not smallest_first_unbounded_compared(instance, {})


@pytest.mark.parametrize("seed", range(40))
def test_predicate_implies_no_worse_than_the_unbounded_run(seed: int) -> None:
    rng = np.random.default_rng(seed)
    instance = small_instance(rng, horizon=int(rng.integers(5, 40)))
    if unbounded_run_compared(instance, {}):
        found = sjf_bco(instance, Limits()).claimed_objective
        unbounded = unbounded_run(Batch(instance)).makespan
        if found is not None and unbounded is not None:
            assert found <= unbounded
