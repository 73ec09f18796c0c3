"""All policies: the best is the best, infeasible is infeasible, and time limits hold."""

from fractions import Fraction

from gadgetopt.models.adsp.training.instance import all_policies
from gadgetopt.models.adsp.training.proving.certificate import (
    AdspTrainingCertificate,
    check_bound,
)
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.run import solve

from ...test_simulator import tiny


def run(instance, method="all_policies", limits=None):
    return solve(Document(problem("adsp_training"), "instance", "x", instance), method, limits)


def test_it_is_the_best_of_all_simulated_alone():
    instance = tiny("free_commits")
    times = [simulate(instance, policy) for policy in all_policies(instance)]
    best = min(t.time_s for t in times if t.converged)
    result = run(instance)
    assert result.status is Status.OPTIMAL
    assert result.objective == best
    assert result.bound == best
    assert result.bound_voucher is Voucher.VERIFIED


def test_a_forged_time_proves_nothing():
    instance = tiny("free_commits")
    best = run(instance).objective
    exact, forged = (
        AdspTrainingCertificate(kind="all_policies", time_s=time)
        for time in (best, best + Fraction(1, 10**6))
    )
    assert check_bound(instance, exact) == best
    assert check_bound(instance, forged) is None


def test_no_policy_is_an_infeasible_instance():
    assert run(tiny("unreachable")).status is Status.INFEASIBLE


def test_the_bound_of_arrivals_confirms_the_first_arrival():
    assert run(tiny("first_arrival"), "arrivals").bound == run(tiny("first_arrival")).objective


def test_without_time_nothing_is_claimed():
    result = run(tiny("straggler_falls_behind"), limits=Limits(time_s=0.0))
    assert result.limit_hit == "time_s"
    assert result.bound is None
