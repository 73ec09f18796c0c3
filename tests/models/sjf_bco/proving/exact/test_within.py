"""CP-W: the relaxation refutes no makespan that is possible, the restriction finds real ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import mini_paper
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution
from gadgetopt.models.sjf_bco.proving.exact.within import Within
from gadgetopt.models.sjf_bco.proving.exact.within_model import WithinModel, free_level
from gadgetopt.search.state import Search
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.result import Limits, Status

from ...exact_instances import HAND_CHECKED, optimum_of, tiny_instance
from ...hand_checked import instance, job


def within(
    inst: SjfBcoInstance, makespan: int, *, shared: bool, linear: int = 0, more: bool = False
) -> SjfBcoSolution | None:
    model = WithinModel(inst, makespan)
    if more:
        model.gangs_fit_the_cluster()
        model.exchangeable_jobs_and_servers_are_ordered()
    if not shared:
        model.spread_jobs_never_slow_down()
    outcome = solve_cp(model.model, Limits(time_s=60), 0, linear)
    assert outcome.limit_hit is None
    if outcome.status is Status.INFEASIBLE:
        return None
    return model.decode(outcome.values)


@pytest.mark.parametrize(
    ("name", "relaxed", "restricted"), [("E1", 2, 2), ("E2", 2, 4), ("E3", 8, 12)]
)
def test_least_makespans_are_those_checked_by_hand(name, relaxed, restricted):
    inst, _ = HAND_CHECKED[name]
    for shared, least in ((True, relaxed), (False, restricted)):
        assert within(inst, least - 1, shared=shared) is None
        assert within(inst, least, shared=shared) is not None


@pytest.mark.parametrize("seed", range(60))
def test_answers_agree_with_brute_force(seed):
    inst, optimum = tiny_instance(seed), optimum_of(seed)
    for makespan in range(1, optimum + 1):
        for linear, more in ((0, False), (2, True)):
            found = within(inst, makespan, shared=False, linear=linear, more=more)
            if found is not None:
                evaluation = evaluate(inst, found)
                assert evaluation.feasible
                assert optimum <= evaluation.objective <= makespan
    for linear, more in product((0, 2), (False, True)):
        assert within(inst, optimum, shared=True, linear=linear, more=more) is not None


def test_a_level_that_slows_no_job_may_be_shared():
    # Half of the level counts, and at least 1: two spread jobs are as fast as one, three are not.
    inst = instance([3, 3], [job(4, 20, 1.0)] * 3, inter=20.0)
    halved = inst.model_copy(update={"contention_coeff": 0.5})
    assert (free_level(inst), free_level(halved)) == (1, 2)


def test_a_job_that_is_too_long_leaves_no_schedule():
    inst = instance([1], [job(1, 30)], horizon=5)
    assert within(inst, 2, shared=True) is None
    assert within(inst, 3, shared=True) is not None


def test_twenty_jobs_on_five_servers_are_closed():
    inst = mini_paper(np.random.default_rng([2, 0]), jobs=20, servers=5)
    search: Search[SjfBcoSolution] = Search("min", Limits())
    search.prove(27)  # as `gpu_bins` does
    asked = Within(inst, np.random.default_rng(0))
    asked.close(search, rounds=5)
    assert search.bound == search.value == 28
    assert evaluate(inst, search.best).objective == 28


def test_contention_is_left_to_others():
    inst, optimum = HAND_CHECKED["E3"]
    search: Search[SjfBcoSolution] = Search("min", Limits())
    search.prove(1)
    asked = Within(inst, np.random.default_rng(0))
    asked.close(search, rounds=1)
    assert asked.notes["contended"] == search.bound == 8 < optimum <= search.value
