"""The default method has the better value and the better bound of its parts."""

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
from gadgetopt.models.pd_ors.instance import PdOrsSolution
from gadgetopt.models.pd_ors.proving.exact.branch_and_check import branch_and_check
from gadgetopt.models.pd_ors.proving.exact.portfolio import portfolio
from gadgetopt.system.result import Limits, MethodOutcome
from gadgetopt.trust.certificate import certified_bound


def ends(instance, outcome):
    judged = evaluate(instance, outcome.solution)
    assert judged.feasible
    if outcome.certificate is not None:
        return judged.objective, float(certified_bound(PROBLEM, instance, outcome.certificate))
    return judged.objective, outcome.dual_bound


def test_a_small_contended_instance_is_closed():
    instance = quickstart(np.random.default_rng([21, 7]))
    value, bound = ends(instance, portfolio(instance, Limits()))
    assert value == pytest.approx(bound, rel=1e-8)


def test_a_large_cluster_goes_to_branch_and_check():
    instance = paper(np.random.default_rng(1), jobs=10, machines=20)
    here = portfolio(instance, Limits())
    there = branch_and_check(instance, Limits())
    assert (here.solution, here.dual_bound) == (there.solution, there.dual_bound)


def test_out_of_time_both_ends_are_the_better_ones():
    instance = desk(np.random.default_rng(2), jobs=16)
    outcome = portfolio(instance, Limits(time_s=1.0))
    value, bound = ends(instance, outcome)
    assert 0 <= value <= bound * (1 + 1e-9)
    assert bound <= sum(float(job.utility.max()) for job in instance.terms.jobs) * (1 + 1e-9)


def test_what_the_second_part_closes_hit_no_limit(monkeypatch):
    instance = desk(np.random.default_rng(1), jobs=5)

    def out_of_time(instance, limits):
        return MethodOutcome(PdOrsSolution(schedules=(None,) * 5), 0.0, 1e9, limit_hit="time_s")

    monkeypatch.setattr(
        "gadgetopt.models.pd_ors.proving.exact.portfolio.branch_and_price", out_of_time
    )
    outcome = portfolio(instance, Limits(time_s=60.0))
    value, bound = ends(instance, outcome)
    assert value == pytest.approx(bound, rel=1e-6)
    assert outcome.limit_hit is None
