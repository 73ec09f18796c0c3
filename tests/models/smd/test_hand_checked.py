"""Every route gives the hand-checked optimum of every hand-checked instance, to the digit."""

import math

import pytest

from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

TINY = library() / "smd" / "tiny"


def sigmoid(tau, gamma3=40.0):
    return 100 / (1 + math.exp(0.2 * (tau - gamma3)))


#: (3, 4) takes 36, (3, 3) 37, (2, 2) 45 and (3, 2) 40; see `test_smd_evaluate.py` for the times.
OPTIMA = {
    "e1_sequential": sigmoid(18, 10),
    "e1_wait_free": sigmoid(12, 10),
    "e1_priority": sigmoid(8.5, 10),
    "e2_sync": sigmoid(36),
    "e2_sync_used": sigmoid(36),
    "e3_async": sigmoid(21.5, 20),
    "e3_async_used": sigmoid(21.5, 20),
    "e4_greedy_trap": sigmoid(24.5, 30),
    "e4_greedy_trap_used": sigmoid(24.5, 30),
    "e4b_broken_grid": sigmoid(73, 60),
    "e5_reserved_10": sigmoid(36),
    "e5_reserved_16": sigmoid(36),
    "e5_reserved_20": 2 * sigmoid(36),
    "e5_used_9": sigmoid(37),  # one job with (3, 3)
    "e5_used_10": sigmoid(36),
    "e5_used_12": sigmoid(36),
    "e5_used_14": sigmoid(45) + sigmoid(40),  # (2, 2) and (3, 2)
    "e5_used_16": 100.0,  # (3, 2) twice: tau 40, half of 100 each
    "e5_used_18": 129.13126,
    "e5_used_20": 2 * sigmoid(36),
}
PRINTED = {
    "e2_sync": 68.99745,
    "e5_used_9": 64.56563,
    "e5_used_14": 76.89414,
    "e5_used_20": 137.99490,
}


def test_every_hand_checked_instance_has_its_optimum_here():
    assert {path.stem for path in find_instances([TINY])} == set(OPTIMA)


def test_the_digits_are_those_worked_out_by_hand():
    for name, value in PRINTED.items():
        assert round(OPTIMA[name], 5) == value


@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize("method", ["cg_core", "columns@highs", "collapsed@highs", "cpsat"])
def test_exact_routes_agree_with_the_hand(name, method):
    document = read_instance(TINY / f"{name}.json")
    if method == "collapsed@highs" and document.data.charging == "used":
        assert solve(document, method).refused
        return
    result = solve(document, method, Limits(time_s=20))
    assert result.objective == pytest.approx(OPTIMA[name], rel=1e-7)
    if method == "cpsat":
        # Utilities are rounded down to ten thousandths, by less than that for each job.
        assert OPTIMA[name] - 1e-9 <= result.bound <= OPTIMA[name] + 2e-4 * len(document.data.jobs)
    else:
        assert result.status is Status.OPTIMAL


@pytest.mark.parametrize("name", OPTIMA)
def test_scip_proves_the_same_of_the_program_as_printed(name):
    pytest.importorskip("pyscipopt")
    result = solve(read_instance(TINY / f"{name}.json"), "minlp@scip", Limits(time_s=60))
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(OPTIMA[name], rel=1e-6)


@pytest.mark.parametrize(
    ("name", "method", "tau", "gamma3"),
    [
        ("e2_sync", "esw", 37, 40),  # n = 3
        ("e2_sync", "optimus", 36, 40),  # (1,1) (2,1) (2,2) (3,2) (3,3) (3,4), then nothing fits
        ("e2_sync", "optimus:stop=stop", 36, 40),
        ("e3_async", "esw", 27 + 1 / 3, 20),
        ("e3_async", "optimus", 21.5, 20),
        ("e4_greedy_trap", "optimus:stop=stop", 27.5, 30),  # neither step from (1, 1) helps
        ("e4_greedy_trap", "optimus", 24.5, 30),
        ("e4_greedy_trap", "esw", 24.5, 30),
        ("e2_sync", "esw_best", 37, 40),
        # (3.27, 3.45) rounded: (3, 3) and (3, 4) fit, (4, 3) and (4, 4) do not.
        ("e2_sync", "smd_floor", 37, 40),
        ("e2_sync", "smd_corners", 36, 40),
        ("e2_sync", "smd", 36, 40),
    ],
)
def test_algorithms_and_baselines_give_what_they_give_by_hand(name, method, tau, gamma3):
    result = solve(read_instance(TINY / f"{name}.json"), method)
    assert result.objective == pytest.approx(sigmoid(tau, gamma3))


def test_the_printed_grid_leaves_a_job_without_a_point_and_the_repaired_does_not():
    document = read_instance(TINY / "e4b_broken_grid.json")
    printed = solve(document, "smd_as_printed:eps_inner=0.95")
    assert printed.objective == 0
    assert printed.notes["jobs_without_grid_point"] == 1
    repaired = solve(document, "smd:eps_inner=0.95")
    assert repaired.objective == pytest.approx(OPTIMA["e4b_broken_grid"])


def test_releasing_what_is_reserved_but_not_used_is_worth_what_the_hand_says():
    used, reserved = (
        solve(read_instance(TINY / f"e5_{charging}_16.json"), "cg_core").objective
        for charging in ("used", "reserved")
    )
    assert used / reserved == pytest.approx(100 / sigmoid(36))


def test_all_methods_take_both_chargings():
    for name in ("e5_used_14", "e5_reserved_16"):
        document = read_instance(TINY / f"{name}.json")
        for method in document.problem.methods:
            result = solve(document, find_method(document.problem, method.name))
            assert result.status is not Status.ERROR, (method.name, result.reason)
