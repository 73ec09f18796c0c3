"""Theorems: their ratios on instances, and that no measured ratio exceeds a proven one."""

import math

import numpy as np
import pytest
from calling import called
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.algorithms.outer import enumerated_sets
from gadgetopt.models.smd.algorithms.smd import algorithm_3, smd
from gadgetopt.models.smd.algorithms.theorem_values import (
    Variant,
    rounding_log_ratio,
    theorem_3_ratio,
    theorem_5_factor,
    theorem_6_log_ratio,
    theorem_6_probability,
    theorem_9_counts,
)
from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    paper,
    planted,
)
from gadgetopt.models.smd.guarantees.ratios import (
    rounding_down_ratio,
    rounding_exact_ratio,
    rounding_ratio,
    theorem_6_exact_ratio,
    theorem_6_ratio,
)
from gadgetopt.models.smd.heuristics.variants import smd_exact, smd_floor
from gadgetopt.models.smd.proving.exact.optimum import exact
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.theorems import promises

from ..brute_force import optimum, small_instances

SMD = dict(find_method(problem("smd"), "smd").method.parameters)


def rng(seed=0):
    return np.random.default_rng(seed)


@settings(max_examples=30)
@given(instance=small_instances(charging="reserved"))
def test_proven_ratios_hold_on_every_small_instance(instance):
    best = optimum(instance)
    for k in (1, 2):
        found = algorithm_3(instance, Limits(), k=k).claimed_objective
        assert best <= found * theorem_3_ratio(instance, {"k": k, "eps_outer": None}) + 1e-6
    for method, ratio_of, changes in (
        (smd_floor, rounding_down_ratio, {}),
        (smd, rounding_ratio, {"shrink": 0.4}),
        (smd_exact, rounding_exact_ratio, {"delta": 0.5}),
    ):
        ratio = ratio_of(instance, {**SMD, **changes})
        if ratio is not None:
            found = called(method, instance, Limits(), rng(), **changes).claimed_objective
            assert best <= found * ratio * (1 + 1e-9) + 1e-6


@pytest.mark.parametrize("preset", [independent_limits, planted])
def test_proven_ratios_hold_on_the_presets(preset):
    instance = preset(rng(4), jobs=20)
    best = exact(instance, Limits()).claimed_objective
    found = algorithm_3(instance, Limits(), k=2).claimed_objective
    assert best <= found * theorem_3_ratio(instance, {"k": 2, "eps_outer": None})


def test_a_single_virtual_instance_makes_one_row_of_all():
    assert theorem_3_ratio(paper(rng(), jobs=20), {"k": 2, "eps_outer": None}) == 1.5
    assert theorem_3_ratio(independent_limits(rng(), jobs=20), {"k": 2, "eps_outer": None}) == 3
    assert theorem_3_ratio(independent_limits(rng(), jobs=20), {"k": 0, "eps_outer": None}) is None
    assert theorem_3_ratio(independent_limits(rng(), jobs=20), {"k": 20, "eps_outer": None}) == 1


def test_epsilon_2_of_the_paper_means_all_subsets():
    instance = independent_limits(rng(), jobs=50)
    for eps, k in ((0.01, 50), (0.5, 4), (0.2, 16)):
        assert enumerated_sets(instance, 2, eps) == k
    assert enumerated_sets(instance, 2, None) == 2
    assert theorem_3_ratio(instance, {"k": 2, "eps_outer": 0.5}) == 2
    for nonsense in (0.0, 1.0, "half"):
        with pytest.raises(ModelRefused, match="between 0 and 1"):
            enumerated_sets(instance, 2, nonsense)


def test_a_run_of_smd_tells_what_its_theorems_say():
    instance = planted(rng(), jobs=5)
    notes = smd(instance, Limits(), rng(), delta=0.5).notes
    parameters = {**SMD, "delta": 0.5}
    assert notes["theorem_6_log_ratio"] == theorem_6_log_ratio(instance, parameters) > 0
    assert notes["theorem_6_probability_as_printed"] > notes["theorem_6_probability_of_all_rows"]
    assert notes["theorem_9_outer_programs"] == 1 + 5 + 10


def test_a_rounding_costs_at_least_28_by_theorem_5():
    assert theorem_5_factor(1.0, 1.0) == 28
    assert theorem_5_factor(0.5, 0.1) == pytest.approx(520)


def test_theorem_6_is_vacuous_and_said_in_logarithms():
    # gamma_2 = 5, gamma_3 = 8, tau* = 5: mu' is about e^-667 even at the factor 28 and eps_1 = 0.
    instance = read_instance(library() / "smd" / "tiny" / "e2_sync.json").data
    job = instance.jobs[0]
    # Scaled so that tau* = 5 of its units.
    steep = job.utility.model_copy(
        update={"gamma1": 1.0, "gamma2": 5.0, "gamma3": 8.0, "time_unit_s": 36 / 5}
    )
    instance = instance.model_copy(update={"jobs": (job.model_copy(update={"utility": steep}),)})
    parameters = {**SMD, "delta": 1.0}
    log_ratio = theorem_6_log_ratio(instance, parameters, Variant(admission="exact"))
    # M_1 = 0.530354 at W_b = 5, so that the factor is 49.25 and not 28.
    assert log_ratio == pytest.approx(5 * (5 * 1.01 * (24 / 0.530354 + 4) - 8), rel=1e-5)
    assert log_ratio > 667
    assert theorem_6_exact_ratio(instance, parameters) is None
    assert theorem_6_ratio(instance, parameters) is None


def test_the_probability_of_theorem_6_as_printed_is_too_high():
    instance = planted(rng(), jobs=10)
    parameters = {**SMD, "delta": 1.0, "attempts": 1}
    assert theorem_6_probability(instance, parameters) == pytest.approx((7 / 8) ** 10)
    corrected = theorem_6_probability(instance, parameters, as_printed=False)
    assert corrected == pytest.approx(0.5**10)


def test_theorem_9_counts_the_linear_programs_of_the_paper():
    instance = paper(rng(), jobs=50)
    counts = theorem_9_counts(instance, {**SMD, "eps_inner": 0.01})
    assert counts["inner_programs"] > 10**8
    assert counts["outer_programs"] == 1 + 50 + math.comb(50, 2)
    assert counts["roundings"] <= 20 * 50


def test_theorems_name_the_assumption_that_fails():
    instance = planted(rng(), jobs=3, charging="used")
    call = find_method(problem("smd"), "smd")
    by_name = {p.theorem: p for p in promises(problem("smd"), instance, call)}
    assert by_name["Rounding, job by job"].failing == ("reservations are charged",)
    assert "M is M_delta" in by_name["Theorem 6"].failing
    assert not by_name["Rounding, job by job"].applies


def test_variants_that_may_drop_jobs_have_no_promise_job_by_job():
    instance = planted(rng(), jobs=3)
    for method in ("smd_as_printed", "smd_greedy"):
        call = find_method(problem("smd"), method)
        promised = {p.theorem for p in promises(problem("smd"), instance, call)}
        assert "Rounding, job by job" not in promised


def test_b2_promises_something_finite_where_utilities_fall_slowly():
    document = read_instance(library() / "smd" / "tiny" / "e2_sync.json")
    down, exactly = Variant(rounds_down=True), Variant(rounds_down=True, admission="exact")
    ratio = math.exp(rounding_log_ratio(document.data, SMD, exactly))
    # 36 against 2 * 1.01 * 36 seconds.
    expected = (1 + math.exp(0.2 * (72.72 - 40))) / (1 + math.exp(0.2 * (36 - 40)))
    assert ratio == pytest.approx(expected)
    # k = 2 is as many as there are jobs, so that Algorithm 3 loses nothing.
    assert rounding_down_ratio(document.data, SMD) == pytest.approx(expected)
    assert rounding_log_ratio(document.data, SMD, down) == pytest.approx(math.log(expected))
