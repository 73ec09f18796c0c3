"""The ladder is exact, and reports valid bounds when time runs out."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import contended_small
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.proving.exact.ladder import ladder
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...exact_instances import (
    HAND_CHECKED,
    optimum_of,
    tiny_instance,
)
from ...hand_checked import (
    instance,
    job,
)


def climb(inst: SjfBcoInstance, time_s: float = 60, **options: bool) -> MethodOutcome:
    return ladder(inst, Limits(time_s=time_s), **options)


@pytest.mark.parametrize("name", HAND_CHECKED)
def test_ladder_finds_the_hand_checked_optimum(name):
    inst, optimum = HAND_CHECKED[name]
    outcome = climb(inst)
    assert outcome.dual_bound == outcome.claimed_objective == optimum
    assert evaluate(inst, outcome.solution).objective == optimum


@pytest.mark.parametrize("seed", range(40))
def test_ladder_agrees_with_brute_force(seed):
    inst = tiny_instance(seed)
    outcome = climb(inst, priced=seed % 2 == 0)
    assert outcome.dual_bound == outcome.claimed_objective
    assert outcome.claimed_objective == optimum_of(seed)


def test_bounds_only_improve_from_rung_to_rung():
    rungs = climb(HAND_CHECKED["E3"][0]).notes["rungs"]
    assert [r["lower"] for r in rungs] == sorted(r["lower"] for r in rungs)
    uppers = [r["upper"] for r in rungs]
    assert uppers == sorted(uppers, reverse=True)


def test_contention_is_closed_by_the_rung_that_sees_it():
    inst = HAND_CHECKED["E3"][0]
    assert climb(inst).notes["closed_by"] == "priced_search"
    assert climb(inst, priced=False).notes["closed_by"] == "CP-L2"


def test_out_of_time_keeps_bound_and_schedule():
    inst = contended_small(np.random.default_rng(0), jobs=12, servers=5)
    outcome = climb(inst, time_s=1.0)
    assert outcome.limit_hit == "time_s"
    assert 0 < outcome.dual_bound < outcome.claimed_objective
    assert evaluate(inst, outcome.solution).feasible


def test_ladder_proves_that_no_schedule_fits_the_horizon():
    # Bound 6 by the area; and 4 > 3 only by trying, for three jobs of 2 slots on two GPUs.
    for inst in (
        instance([1], [job(1, 30)] * 2, horizon=5),
        instance([2], [job(1, 20)] * 3, horizon=3),
    ):
        assert climb(inst).proved is Status.INFEASIBLE
