"""The problem of one job as a mixed-integer linear program and as a CP-SAT table."""

from __future__ import annotations

import pyomo.environ as pyo
import pytest
from hypothesis import given, settings

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.subproblems.inner import best_pair, pairs
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Status

from ..inner_jobs import E2, E3, E4, E4B, TOO_SMALL, jobs
from . import inner_cp, inner_milp

ROUTES = [inner_milp.solve_inner, inner_cp.solve_table]


@pytest.mark.parametrize("solve", ROUTES)
@pytest.mark.parametrize(
    ("job", "pair"),
    [(E2, (3, 4, 36.0)), (E3, (4, 2, 21.5)), (E4, (2, 2, 24.5)), (E4B, (1, 1, 73.0))],
)
def test_hand_checked_optima(solve, job, pair):
    found = solve(job)

    assert found.status is Status.OPTIMAL
    assert found.pair == pair
    assert found.bound_s == pytest.approx(pair[2])


@settings(max_examples=25)
@given(jobs(60, 40))
def test_the_milp_finds_the_best_pair(job):
    best = best_pair(job)
    assert best is not None

    found = inner_milp.solve_inner(job)

    assert found.pair is not None
    assert found.pair.tau_s == pytest.approx(best.tau_s, rel=1e-9)
    assert found.bound_s <= best.tau_s * (1 + 1e-9)


@settings(max_examples=15)
@given(jobs(60, 40))
def test_the_table_finds_the_best_pair(job):
    best = best_pair(job)
    assert best is not None

    found = inner_cp.solve_table(job)

    assert found.pair is not None
    assert found.pair.tau_s == pytest.approx(best.tau_s, rel=1e-12)
    assert best.tau_s * (1 - 1e-12) <= found.bound_s <= best.tau_s


@settings(max_examples=10)
@given(jobs(60, 40))
def test_every_pair_is_a_point_of_the_milp_at_its_own_time(job):
    table = pairs(job)
    k = len(table) // 2
    model = inner_milp.build(job)
    model.fixed_w = pyo.Constraint(expr=model.workers == int(table.w[k]))
    model.fixed_p = pyo.Constraint(expr=model.servers == int(table.p[k]))
    outcome = solve_model(model)

    assert outcome.status is Status.OPTIMAL
    assert inner_milp.decode(model, job).tau_s == table.tau_s[k]
    assert pyo.value(model.time) == pytest.approx(table.tau_s[k], rel=1e-6)


@pytest.mark.parametrize("solve", ROUTES)
def test_a_job_of_which_nothing_fits_is_refused(solve):
    with pytest.raises(ModelRefused, match="not even one worker and one server"):
        solve(TOO_SMALL)


@pytest.mark.parametrize("solve", ROUTES)
def test_models_that_are_too_large_are_refused_with_their_size(solve):
    huge = E2.model_copy(update={"worker_demand": (5000.0,), "reservation_limit": (1e5 + 5e3,)})

    with pytest.raises(ModelRefused, match=r"\d{6}"):
        solve(huge)


def test_times_are_scaled_by_a_power_of_two():
    for longest in (1e-3, 73.0, 1e9):
        scale = inner_cp.time_scale(longest)
        assert 2**49 <= longest * scale < 2**50
        assert scale.hex().startswith("0x1.0000000000000p")
