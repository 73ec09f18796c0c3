"""A claim is refuted by a solution that the search for its proof meets, not only left unproved."""

import dataclasses

import pytest
from toy import DOCUMENT, KNAPSACK, TOY, Choice

from gadgetopt.errors import BetterPoint
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.tree_producer import TreeProof, tree_proof
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.certificate import compiled_formulation
from gadgetopt.trust.certifying import certify
from gadgetopt.trust.run import solve


@pytest.fixture
def wrong():
    """A run that calls items 0 and 2 optimal, which are worth 3; item 1 is worth 4."""
    run = solve(DOCUMENT, "plain@highs", Limits(time_s=60))
    assert (run.status, run.objective) == (Status.OPTIMAL, 4)
    solution = Choice(chosen=(0, 2))
    claim = {"objective": 3, "bound": 3, "bound_voucher": Voucher.SOLVER, "solution": solution}
    return dataclasses.replace(run, **claim, certificate=None)


def test_a_wrong_optimum_is_an_error_with_the_better_solution(wrong):
    result = certify(DOCUMENT, wrong, 600.0)
    assert result.status is Status.ERROR
    assert result.reason == ("claimed optimum 3, but the search for a proof found a solution of 4")
    assert result.solution == Choice(chosen=(1,))
    assert result.evaluation.objective == 4
    assert (result.objective, result.bound, result.certificate) == (None, None, None)
    assert certify(DOCUMENT, result, 600.0) is result


def test_a_wrong_bound_is_refuted_too(wrong):
    worse = dataclasses.replace(
        wrong, status=Status.FEASIBLE, objective=2, solution=Choice(chosen=(0,))
    )
    result = certify(DOCUMENT, worse, 600.0)
    assert result.status is Status.ERROR
    assert result.reason.startswith("claimed dual bound 3, but the search for a proof found")


def test_a_wrong_claim_that_there_is_no_solution_is_refuted(wrong):
    nothing = {"objective": None, "bound": None, "bound_voucher": None, "solution": None}
    infeasible = dataclasses.replace(wrong, status=Status.INFEASIBLE, **nothing)
    result = certify(DOCUMENT, infeasible, 600.0)
    assert result.status is Status.ERROR
    assert result.reason.startswith("claimed infeasible, but the search for a proof found a sol")
    assert result.evaluation.feasible
    # A run without a solution claims nothing. (Other formulations of the toy claim what is false.)
    plain = tuple(f for f in TOY.formulations if f.name == "plain")
    honest = dataclasses.replace(TOY, formulations=plain, default_methods=())
    silent = dataclasses.replace(infeasible, status=Status.NO_SOLUTION)
    certified = certify(dataclasses.replace(DOCUMENT, problem=honest), silent, 5.0)
    assert certified.status is Status.NO_SOLUTION


def test_a_solution_without_a_claim_is_not_refuted(wrong):
    unbounded = dataclasses.replace(wrong, status=Status.FEASIBLE, bound=None, bound_voucher=None)
    result = certify(DOCUMENT, unbounded, 600.0)
    assert result.status is not Status.ERROR
    assert result.bound >= 4


def test_a_point_that_is_no_solution_of_the_problem_refutes_nothing(wrong):
    """The formulation decodes to all items, which are too heavy."""
    everything = lambda m, instance: Choice(chosen=tuple(m.I))  # noqa: E731
    formulations = tuple(
        dataclasses.replace(f, decode=everything) if f.name == "plain" else f
        for f in TOY.formulations
        if f.name == "plain"
    )
    system = dataclasses.replace(TOY, formulations=formulations, default_methods=())
    result = certify(dataclasses.replace(DOCUMENT, problem=system), wrong, 5.0)
    assert result.status is not Status.ERROR


def test_trees_raise_only_where_the_target_is_a_claim():
    form = compiled_formulation(TOY, KNAPSACK, "plain")
    model = exact_model(form)
    target = model.least(3)
    assert tree_proof(form, model, target, lambda: 60.0) is not None
    tree = TreeProof(form, model, target, lambda: 60.0, is_claimed=True)
    with pytest.raises(BetterPoint) as raised:
        tree.grow()
    assert raised.value.values == [0, 1, 0]
