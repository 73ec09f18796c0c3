"""All plans, gone through by the search: the optimum of enumeration."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.data.generate import presets
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.proving.certificate.check import mean_completion_s
from gadgetopt.models.marl.queueing.proving.exact import plan_search
from gadgetopt.models.marl.queueing.proving.exact.plan_search import PlanSearch, one_machine
from gadgetopt.models.marl.queueing.proving.exact.slot_ways import TooManyStatesError
from gadgetopt.models.marl.subproblems.cluster import Measured
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import (
    best_plan,
    small_instance,
)


def slots_of(instance, value):
    """The sum of last slots that a mean completion time stands for."""
    one = mean_completion_s(instance, 1) - mean_completion_s(instance, 0)
    slots = (value - mean_completion_s(instance, 0)) / one
    assert slots == int(slots)
    return int(slots)


def least_sum(instance):
    """The least sum of last slots and a plan that has it, or None."""
    search = PlanSearch(instance)
    least = search.bound()
    while least is not None:
        found = search.run(least + 1)
        if found is not None:
            return least, found
        assert search.least is None or search.least > least
        least = search.least
    return None


@pytest.mark.parametrize("seed", range(40))
def test_it_finds_the_optimum_of_all_plans(seed):
    instance = small_instance(np.random.default_rng(2000 + seed))
    best, found = best_plan(instance), least_sum(instance)
    if best is None:
        assert found is None
        return
    least, plan = found
    evaluation = evaluate(instance, plan)
    assert evaluation.feasible
    assert evaluation.objective == best[0] == mean_completion_s(instance, least)
    assert PlanSearch(instance).bound() <= least


@pytest.mark.parametrize("migration", [True, False])
@pytest.mark.parametrize("racks", [1, 2])
def test_it_agrees_with_f3(migration, racks):
    instance = presets.poisson(
        np.random.default_rng(7), jobs=4, racks=racks, servers_per_rack=2 // racks, gpus=2,
        slots=7, slots_between=0.3, tasks=(1, 2, 2), migration=migration,
    )  # fmt: skip
    document = Document(problem("marl_queueing"), "instance", "an instance", instance, {})
    result = solve(document, "time_slotted@highs", Limits(time_s=60))
    assert result.status is Status.OPTIMAL
    least, _ = least_sum(instance)
    assert least == slots_of(instance, Fraction(result.objective))


def test_shortest_remaining_first_by_hand():
    """Speed 2: work 3 from slot 0, work 1 from slot 1. The first has done 2 when the other comes;
    both have 1 left, and end at 1.5 and 2: in the second slot."""
    assert one_machine([(0, 3), (1, 1)], 2) == [2, 2]


def test_slowdowns_that_are_no_sums_are_refused():
    instance = presets.tiny(np.random.default_rng(0))
    measured = (Measured(victim=0, neighbours=(1, 0), slowdown=Fraction(1)),)
    instance = instance.model_copy(update={"measured": measured})
    with pytest.raises(TooManyStatesError):
        PlanSearch(instance)


def test_a_search_of_too_many_states_ends(monkeypatch):
    monkeypatch.setattr(plan_search, "MOST_STATES", 5)
    instance = presets.paper(np.random.default_rng(0))
    with pytest.raises(TooManyStatesError):
        PlanSearch(instance).run(28)


def test_a_search_stops_when_it_is_told_to():
    instance = presets.paper(np.random.default_rng(0))
    with pytest.raises(TooManyStatesError):
        PlanSearch(instance, lambda: True).run(28)
