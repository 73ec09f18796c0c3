"""All plans, or F3 on fewer slots: the optimum, proved where the plans are few."""

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.data.generate import presets
from gadgetopt.models.marl.queueing.proving.exact import plan_search
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.run import solve

from ...brute_force import (
    best_plan,
    small_instance,
)
from ...test_evaluate import (
    TINY,
    tiny,
)


def solved(instance, method="search_and_close"):
    document = Document(problem("marl_queueing"), "instance", "an instance", instance, {})
    return solve(document, method, Limits(time_s=60))


@pytest.mark.parametrize("name", TINY)
def test_tiny_instances_are_closed(name):
    result = solved(tiny(name))
    assert result.objective == TINY[name]
    assert result.status is (Status.INFEASIBLE if TINY[name] is None else Status.OPTIMAL)


@pytest.mark.parametrize("seed", range(20))
def test_the_optimum_is_that_of_all_plans(seed):
    instance = small_instance(np.random.default_rng(seed))
    found = best_plan(instance)
    result = solved(instance)
    if found is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert result.objective == found[0]


def test_a_plan_that_meets_the_bound_needs_no_solver():
    # Two jobs for which there is room all the time.
    instance = presets.poisson(np.random.default_rng(0), jobs=2, servers_per_rack=6, slots=20)
    result = solved(instance)
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher is Voucher.VERIFIED
    assert "F3" not in result.phases_s


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_instances_of_the_paper_s_size_are_proved_without_a_solver(seed):
    result = solved(presets.paper(np.random.default_rng(seed)))
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher is Voucher.VERIFIED
    assert result.certificate.kind == "exhaustion"
    assert "F3" not in result.phases_s


def test_where_plans_are_too_many_f3_has_the_same_optimum(monkeypatch):
    instance = presets.quickstart(np.random.default_rng(5))
    value = solved(instance).objective
    monkeypatch.setattr(plan_search, "MOST_STATES", 3)
    result = solved(instance)
    assert result.status is Status.OPTIMAL
    assert "F3" in result.phases_s
    assert float(result.objective) == pytest.approx(float(value), rel=1e-9)
