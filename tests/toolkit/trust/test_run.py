"""No status, objective or bound of a method is accepted unchecked."""

import dataclasses
import os
import signal

import pytest
from toy import DOCUMENT, TOY

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Method, Origin
from gadgetopt.system.extension import as_method
from gadgetopt.system.result import Limits, MethodOutcome, Status, Voucher
from gadgetopt.trust.run import solve


@pytest.fixture
def ctrl_c():
    """Ctrl-C as at a terminal, also where tests run in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: os.kill(os.getpid(), signal.SIGINT)
    assert signal.signal(signal.SIGINT, before) is signal.default_int_handler


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_a_formulation_with_a_backend_is_an_exact_method(backend):
    result = solve(DOCUMENT, f"plain@{backend}")
    assert result.status is Status.OPTIMAL
    assert (result.objective, result.bound, result.gap) == (4, 4, 0.0)
    assert result.bound_voucher is Voucher.VERIFIED
    assert result.versions


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_a_formulation_that_decodes_to_an_infeasible_solution_is_an_error(backend):
    result = solve(DOCUMENT, f"liar@{backend}")
    assert result.status is Status.ERROR
    assert "capacity at knapsack: by 3" in result.reason
    assert result.objective is None
    assert result.bound is None


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_an_infeasible_model_is_a_result(backend):
    result = solve(DOCUMENT, f"impossible@{backend}")
    assert result.status is Status.INFEASIBLE
    assert result.objective is None


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_an_unbounded_model_is_a_result(backend):
    assert solve(DOCUMENT, f"endless@{backend}").status is Status.UNBOUNDED


def test_an_unbounded_relaxation_says_nothing_of_the_problem():
    result = solve(DOCUMENT, "loose@highs")
    assert result.status is Status.NO_SOLUTION
    assert result.bound is None


def test_an_infeasible_restriction_says_nothing_of_the_problem():
    assert solve(DOCUMENT, "tight@highs").status is Status.NO_SOLUTION


def test_a_time_limit_with_an_incumbent_and_an_open_gap_is_feasible():
    result = solve(DOCUMENT, "timed_out")
    assert result.status is Status.FEASIBLE
    assert result.limit_hit == "time_s"
    assert result.bound == 4


def test_a_time_limit_without_incumbent_has_no_solution_but_keeps_the_bound():
    result = solve(DOCUMENT, "timed_out_bare")
    assert result.status is Status.NO_SOLUTION
    assert result.bound == 9


def test_a_method_that_raises_is_one_error_in_one_line():
    result = solve(DOCUMENT, "raises")
    assert result.status is Status.ERROR
    assert result.reason.startswith("RuntimeError: two lines (toy.py:")


def test_a_method_that_hands_back_garbage_is_an_error():
    assert solve(DOCUMENT, "garbage").status is Status.ERROR


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_method_is_a_limit_not_a_crash():
    result = solve(DOCUMENT, "interrupts")
    assert result.status is Status.NO_SOLUTION
    assert result.limit_hit == "interrupted"


def test_an_unknown_method_names_those_there_are():
    with pytest.raises(InputError, match=r"method 'bst': toy has no such method \(it has: empty,"):
        solve(DOCUMENT, "bst")


def test_parameters_come_back_from_a_methods_label(tiny):
    from gadgetopt.system.methods import find_method
    from gadgetopt.system.registry import problem

    spec = "first_fit:job_order=smallest_first:theta_search=sweep"
    call = find_method(problem("sjf_bco"), spec)
    assert call.parameters == {"job_order": "smallest_first", "theta_search": "sweep"}
    assert call.label == spec
    with pytest.raises(InputError, match="theta_search: 'bogus', expected one of literal"):
        find_method(problem("sjf_bco"), "first_fit:theta_search=bogus")
    with pytest.raises(InputError, match="restarts: 0 is not a positive number"):
        find_method(problem("sjf_bco"), "lpt_ils:restarts=0")


@pytest.mark.parametrize("backend", ["highs", "cpsat"])
def test_a_limit_that_building_used_up_leaves_no_solution_and_no_bound(backend):
    result = solve(DOCUMENT, f"plain@{backend}", Limits(time_s=1e-9))
    assert (result.status, result.bound) == (Status.NO_SOLUTION, None)
    assert result.limit_hit == "time_s"


@pytest.mark.parametrize("given", ["function", "method", "plug-in", "system"])
def test_nobodys_word_makes_a_bound_verified(given):
    def overclaims(instance):
        return MethodOutcome(dual_bound=4, voucher=Voucher.VERIFIED)

    declared = Method(
        "overclaims",
        kind="relaxation",
        summary="-",
        reference="-",
        run=as_method(overclaims)[1].run,
    )
    origin = None if given == "system" else Origin("mine.py", "mine.py 0")
    placed = dataclasses.replace(declared, origin=origin)
    system = dataclasses.replace(TOY, methods=(*TOY.methods, placed))
    document = dataclasses.replace(DOCUMENT, problem=system)
    asked = {"function": overclaims, "method": declared}.get(given, "overclaims")
    result = solve(document, asked)
    assert (result.bound, result.bound_voucher) == (4, Voucher.SOLVER)


@pytest.mark.usefixtures("ctrl_c")
def test_a_method_that_raises_an_interrupt_by_itself_is_an_error_of_its_own():
    def resigns(instance):
        raise KeyboardInterrupt("enough")

    result = solve(DOCUMENT, resigns)
    assert result.status is Status.ERROR
    assert result.limit_hit is None
    assert result.reason.startswith("KeyboardInterrupt: enough (")


@pytest.mark.usefixtures("ctrl_c")
def test_nobody_is_told_of_an_interrupt_that_was_none():
    def pretends(instance):
        return MethodOutcome(limit_hit="interrupted")

    assert solve(DOCUMENT, pretends).limit_hit is None


def test_a_real_interrupt_ends_the_run_without_an_error(ctrl_c):
    def waits(instance):
        ctrl_c()
        while True:
            pass

    result = solve(DOCUMENT, waits)
    assert (result.status, result.limit_hit) == (Status.NO_SOLUTION, "interrupted")
