"""The problem of one job over the reals, a geometric program."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.subproblems.inner import continuous, pairs
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits, Status

from ..inner_jobs import (
    E2,
    E3,
    TOO_SMALL,
    jobs,
)
from . import inner_gp


@pytest.mark.parametrize(("job", "tau_s"), [(E2, 35.63909), (E3, 20.92250)])
def test_scip_finds_the_hand_checked_optima(job, tau_s):
    pytest.importorskip("pyscipopt")
    model = inner_gp.build(job)
    outcome = solve_model(model, "scip", Limits(time_s=20))

    assert outcome.status is Status.OPTIMAL
    # SCIP's tolerance of rows is 1e-6.
    assert inner_gp.decode(model, job).tau_s == pytest.approx(tau_s, abs=1e-3)
    assert inner_gp.decode(model, job)[:2] == pytest.approx(continuous(job)[:2], abs=1e-2)


@settings(max_examples=30)
@given(jobs(60, 40))
def test_the_model_gives_every_pair_its_time_and_lets_it_fit(job):
    model = inner_gp.build(job)
    table = pairs(job)
    for k in range(0, len(table), max(1, len(table) // 5)):
        model.a.value, model.b.value = np.log(table.w[k]), np.log(table.p[k])

        assert pyo.value(model.time) == pytest.approx(table.tau_s[k], rel=1e-9)
        assert all(pyo.value(model.packing[r].slack()) >= -1e-9 for r in model.R)


@settings(max_examples=30)
@given(jobs(60, 40), st.lists(st.floats(0, 4), min_size=4, max_size=4))
def test_the_time_is_convex_in_the_logarithms(job, ends):
    model = inner_gp.build(job)

    def time_at(a, b):
        model.a.value, model.b.value = a, b
        return pyo.value(model.time)

    a, b, c, d = ends
    middle = time_at((a + c) / 2, (b + d) / 2)

    assert middle <= (time_at(a, b) + time_at(c, d)) / 2 * (1 + 1e-9)


@settings(max_examples=30)
@given(jobs(60, 40))
def test_the_closed_form_is_a_point_of_the_model(job):
    model = inner_gp.build(job)
    point = continuous(job)
    model.a.value, model.b.value = np.log(point.w), np.log(point.p)

    assert pyo.value(model.time) == pytest.approx(point.tau_s, rel=1e-9)
    assert all(pyo.value(model.packing[r].slack()) >= -1e-9 for r in model.R)


def test_a_job_of_which_nothing_fits_is_refused():
    with pytest.raises(ModelRefused, match="not even one worker and one server"):
        inner_gp.build(TOO_SMALL)
