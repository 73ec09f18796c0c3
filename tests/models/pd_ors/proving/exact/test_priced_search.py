"""Placing jobs at prices: decisions are feasible, bounds are bounds, the seed decides."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    paper,
    quickstart,
)
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.formulations import columns
from gadgetopt.models.pd_ors.proving.bounds.restricted_master import RestrictedMaster
from gadgetopt.models.pd_ors.proving.certificate.check import check_bound
from gadgetopt.models.pd_ors.proving.exact.branch_and_check import branch_and_check
from gadgetopt.models.pd_ors.proving.exact.priced_search import (
    Placing,
    PricedSearch,
    Prices,
    priced_search,
)
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

from ...tiny_instances import tiny_instance


@pytest.mark.parametrize("seed", range(12))
def test_value_optimum_and_bound_are_in_order(seed):
    instance = tiny_instance(seed)
    best = solve_model(columns.build(instance), "highs", Limits(), 0).objective
    outcome = priced_search(instance, Limits(), np.random.default_rng(seed), rounds=20)
    judged = evaluate(instance, outcome.solution)
    assert judged.feasible
    assert judged.objective == pytest.approx(outcome.claimed_objective)
    slack = 1e-7 * max(1.0, best)
    assert (
        judged.objective <= best + slack <= check_bound(instance, outcome.certificate) + 2 * slack
    )


def test_ruin_and_recreate_improves_on_the_first_placement():
    instance = desk(np.random.default_rng(4), jobs=20)
    found = [
        priced_search(instance, Limits(), np.random.default_rng(1), rounds=rounds).claimed_objective
        for rounds in (0, 60)
    ]
    assert found[0] < found[1]


def test_the_same_seed_makes_the_same_decision():
    instance = desk(np.random.default_rng(3), jobs=12)
    runs = [priced_search(instance, Limits(), np.random.default_rng(5), rounds=10) for _ in "ab"]
    assert runs[0].solution == runs[1].solution


def test_what_is_taken_out_leaves_its_room():
    instance = quickstart(np.random.default_rng(0))
    prices = np.zeros((instance.horizon_slots, *instance.terms.capacity.shape))
    one = np.ones(len(instance.jobs))
    free = Prices(prices, one, one, np.inf, RestrictedMaster(instance))
    search = PricedSearch(instance, free, np.random.default_rng(0))
    search.run(Limits(), rounds=0)
    placing, empty = search.best.copy(), Placing(instance)
    for i in list(placing.placed):
        placing.remove(i)
    assert placing.value == pytest.approx(0.0, abs=1e-9)
    assert (placing._room == empty._room).all()


def test_without_time_nothing_is_placed_and_the_bound_still_holds():
    instance = paper(np.random.default_rng(1), jobs=20, machines=10)
    outcome = priced_search(instance, Limits(time_s=0.0), np.random.default_rng(0))
    assert outcome.limit_hit == "time_s"
    assert evaluate(instance, outcome.solution).feasible
    assert check_bound(instance, outcome.certificate) >= outcome.claimed_objective


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_branch_and_check_finds_the_optima_of_all_columns(seed):
    instance = tiny_instance(seed)
    best = solve_model(columns.build(instance), "highs", Limits(), 0).objective
    outcome = branch_and_check(instance, Limits())
    assert evaluate(instance, outcome.solution).objective == pytest.approx(best)
    bound = outcome.dual_bound
    if outcome.certificate is not None:
        bound = float(certified_bound(PROBLEM, instance, outcome.certificate))
    assert bound == pytest.approx(best, rel=1e-6)
