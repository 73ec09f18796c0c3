"""The first incumbent, and CP-SAT where its model is small."""

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.algorithms.inference import compiler_greedy
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.proving.certificate.check import check_bound
from gadgetopt.models.oneflow_sbp.proving.exact import branch_and_bound as module
from gadgetopt.models.oneflow_sbp.proving.exact.branch_and_bound import branch_and_bound
from gadgetopt.models.oneflow_sbp.proving.lagrangian import Pricing
from gadgetopt.models.oneflow_sbp.subproblems.label_graph import label_graph
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.run import solve

from ...brute_force import (
    brute_force,
    random_instance,
)

RNG = np.random.default_rng(0)


def capped(layers: int):
    """Return a perceptron in whose memory no plan made by hand fits, with the limit's slack."""
    drawn = presets.paper(np.random.default_rng(1), layers=layers)
    least = Pricing(label_graph(drawn), 1, 2**26, lambda: False).lightest(0).value
    return drawn.model_copy(update={"memory_limit_bytes": least + least // 10})


def test_solver_and_cases_agree_with_enumeration_whoever_closes(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", 0.0)
    monkeypatch.setattr(module, "ALONE_S", 0.0)
    closed_by = set()
    for seed in range(60):
        instance = random_instance(seed)
        optimum = brute_force(instance)
        outcome = branch_and_bound(instance, Limits(time_s=30), most_sums=1)
        if optimum is None:
            assert outcome.proved is Status.INFEASIBLE
            continue
        assert evaluate(instance, outcome.solution).objective == optimum
        assert agrees(float(outcome.dual_bound), float(optimum))
        closed_by.add(outcome.formulation)
        if outcome.certificate is not None:
            assert check_bound(instance, outcome.certificate) <= optimum
    assert closed_by == {None, "cp_labels"}


def test_a_bound_of_the_solver_has_its_voucher_and_the_cases_bound_beside_it(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", 0.0)
    monkeypatch.setattr(module, "ALONE_S", 0.0)
    document = Document(problem("oneflow_sbp"), "instance", "drawn", capped(4), {})
    result = solve(document, "branch_and_bound", Limits(time_s=30))
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher is Voucher.SOLVER
    assert result.formulation == "cp_labels"
    assert result.certificate is None
    assert result.notes["proved_bound"] < result.bound == result.objective
    alone = solve(document, "cp_labels", Limits(time_s=30))
    assert alone.objective == result.objective


def test_a_large_model_is_not_handed_over(monkeypatch):
    monkeypatch.setattr(module, "ALONE_FIXED_S", 0.0)
    monkeypatch.setattr(module, "ALONE_S", 0.0)
    monkeypatch.setattr(module, "MOST_LABEL_PAIRS", 10)
    outcome = branch_and_bound(capped(2), Limits(time_s=1))
    assert outcome.formulation is None
    assert outcome.certificate is not None


@pytest.mark.parametrize("seed", range(20))
def test_labels_of_a_solution_cost_what_the_evaluator_says(seed):
    instance = random_instance(seed).model_copy(update={"memory_limit_bytes": None})
    solution = compiler_greedy(instance).solution
    graph = label_graph(instance)
    if solution is not None and graph.exact:
        labels = graph.labels_of(solution)
        assert graph.value(labels) / graph.scale == evaluate(instance, solution).objective


@pytest.mark.parametrize("limited", [False, True])
def test_a_first_bound_out_of_time_leaves_a_plan(monkeypatch, limited):
    instance = capped(5) if limited else presets.paper(RNG, layers=5)

    def expired(*_):
        raise module.OutOfTime

    monkeypatch.setattr(module._Search, "_add", expired)
    outcome = branch_and_bound(instance, Limits(time_s=30))
    assert evaluate(instance, outcome.solution).feasible
    assert outcome.dual_bound is None
