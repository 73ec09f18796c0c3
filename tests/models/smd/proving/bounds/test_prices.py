"""Bounds and their certificates: none is below the optimum, and bounds at good prices are tight."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.smd.data.generate.presets import (
    independent_limits,
    planted,
)
from gadgetopt.models.smd.instance import SmdInstance
from gadgetopt.models.smd.proving.bounds.prices import (
    continuous,
    lagrangian,
    utility_sum,
)
from gadgetopt.models.smd.proving.certificate.check import (
    SmdCertificate,
    check_bound,
)
from gadgetopt.models.smd.subproblems.inner import best_pair
from gadgetopt.pieces.utility import SigmoidUtility
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import (
    optimum,
    small_instances,
)

PRICES = st.lists(st.fractions(0, 50, max_denominator=7), min_size=2, max_size=2)


@settings(max_examples=30)
@given(instance=small_instances(), drawn=PRICES)
def test_no_prices_prove_less_than_the_optimum(instance, drawn):
    prices = tuple(drawn[: len(instance.capacity)])
    assert check_bound(instance, SmdCertificate(prices=prices)) >= optimum(instance)


@settings(max_examples=20)
@given(instance=small_instances())
def test_bounds_of_the_methods_are_in_order(instance):
    best = optimum(instance)
    by_prices = lagrangian(instance, Limits()).certificate
    free = utility_sum(instance).certificate
    assert best <= check_bound(instance, by_prices) <= check_bound(instance, free) * (1 + 1e-9)
    assert continuous(instance, Limits()).dual_bound >= best - 1e-6


def test_the_sum_of_utilities_is_the_bound_of_no_prices():
    instance = planted(np.random.default_rng(1), jobs=10)
    best = sum(job.utility.at(best_pair(job).tau_s) for job in instance.jobs)
    free = SmdCertificate(prices=(Fraction(0),) * 4)
    assert check_bound(instance, free) == pytest.approx(best, rel=1e-9)
    assert check_bound(instance, free) >= best


@pytest.mark.parametrize("charging", ["reserved", "used"])
def test_the_lagrangian_bound_is_verified_and_close_at_the_papers_size(charging):
    instance = independent_limits(np.random.default_rng(1), jobs=50, charging=charging)
    outcome = lagrangian(instance, Limits())
    bound = check_bound(instance, outcome.certificate)
    total = utility_sum(instance).certificate
    assert bound < check_bound(instance, total)


def test_solve_relies_on_the_certificate():
    document = read_instance(library() / "quickstart" / "smd.json")
    result = solve(document, "lagrangian")
    assert result.bound_voucher == "verified"
    assert result.bound >= solve(document, "cg_core").objective


def test_prices_must_be_those_of_the_resources():
    instance = planted(np.random.default_rng(1), jobs=1)
    with pytest.raises(ValueError, match="1 for 4 resources"):
        check_bound(instance, SmdCertificate(prices=(Fraction(1),)))
    with pytest.raises(ValueError, match="negative"):
        check_bound(instance, SmdCertificate(prices=(Fraction(-1),) * 4))


def test_a_job_of_a_trillion_pairs_is_solved_and_its_bound_certified():
    job = planted(np.random.default_rng(0), jobs=1).jobs[0]
    limits = {"worker_demand": (1.0,), "ps_demand": (1.0,), "reservation_limit": (1e6,)}
    patient = SigmoidUtility(gamma1=1.0, gamma2=1.0, gamma3=1e9)
    for utility in (patient, job.utility.model_copy(update={"time_unit_s": 1e-9})):
        large = job.model_copy(update=limits | {"utility": utility})
        instance = SmdInstance(resources=("a",), capacity=(1e6,), jobs=(large,))
        document = Document(problem("smd"), "instance", "large", instance)
        optimum = solve(document, "cg_core")
        assert optimum.status is Status.OPTIMAL
        for method in ("lagrangian", "utility_sum"):
            result = solve(document, method)
            assert result.bound_voucher == "verified"
            assert result.bound == pytest.approx(optimum.objective, rel=1e-9)


def test_times_beyond_all_doubles_leave_bounds_true():
    job = planted(np.random.default_rng(0), jobs=1).jobs[0]
    late = job.model_copy(
        update={
            "fp_time_per_sample_s": 1e308,
            "global_batch_size": 10.0,
            "utility": SigmoidUtility(gamma1=1.0, gamma2=1e-300, gamma3=1e301),
        }
    )
    instance = SmdInstance(capacity=late.reservation_limit, jobs=(late,))
    document = Document(problem("smd"), "instance", "late", instance)
    found, bound = solve(document, "esw"), solve(document, "utility_sum")
    assert bound.bound >= (found.objective or 0)
    assert bound.bound_voucher == "verified"
