"""Grid search (Algorithm 1): hand-checked points, both routes against each other, its ratio."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.algorithms.grid_search import grid_search, search_grid
from gadgetopt.models.smd.iteration_time import Layer
from gadgetopt.models.smd.subproblems.inner import (
    continuous,
    largest_real_p,
    largest_real_w,
    real_rows,
)
from gadgetopt.models.smd.subproblems.ratios import optimum, ranges, ratios

from ..inner_jobs import (
    E2,
    E3,
    E4B,
    TOO_SMALL,
    jobs,
)

GRIDS = st.sampled_from(["repaired", "as_printed"])
OBJECTIVES = st.sampled_from(["upper", "actual"])


@pytest.mark.parametrize(
    ("eps", "value", "w", "p", "actual"),
    [
        (0.01, 35.68156, 3.27287, 3.45426, 35.63957),
        (0.1, 35.93218, 3.07356, 3.79750, None),
        (0.5, 36.86111, 3.0, 3.375, 36.48611),
        (0.9, 40.80191, 2.36842, 3.61, None),
    ],
)
def test_hand_checked_points_of_the_synchronous_job(eps, value, w, p, actual):
    found = grid_search(E2, eps)

    assert found is not None
    assert found.value_s == pytest.approx(value, abs=5e-6)
    assert found.point[:2] == pytest.approx((w, p), abs=5e-6)
    assert actual is None or found.point.tau_s == pytest.approx(actual, abs=5e-6)


@pytest.mark.parametrize(("eps", "grid_points"), [(0.5, 175), (0.9, 80)])
def test_hand_checked_grids_by_linear_programs(eps, grid_points):
    # 0.5: theta_1 w in [1, 4.5] has 4 powers of 1.5 and 4.5, theta_2 p in [1, 8] six and 8,
    # 60/w in [60/4.5, 60] five: 5 * 7 * 5.
    fast, programs = grid_search(E2, eps), grid_search(E2, eps, route="lp")

    assert fast is not None
    assert programs is not None
    assert fast.grid_points == programs.grid_points == grid_points
    assert programs.value_s == pytest.approx(fast.value_s, rel=1e-12)
    assert programs.point == pytest.approx(fast.point, rel=1e-9)


@pytest.mark.parametrize("route", ["fast", "lp"])
def test_the_printed_grid_can_be_without_a_feasible_point(route):
    # w <= 1 from Q_A = {1} and w >= 1.9 from Q_D = {60 / 1.9}.
    assert grid_search(E4B, 0.95, grid="as_printed", route=route) is None

    repaired = grid_search(E4B, 0.95, route=route)

    assert repaired is not None
    assert repaired.value_s == pytest.approx(52.67895, abs=5e-6)
    assert repaired.point[:2] == pytest.approx((1.9, 1.0))


@settings(max_examples=25)
@given(jobs(80), st.sampled_from([0.7, 0.95]), GRIDS, OBJECTIVES)
def test_both_routes_find_the_same(job, eps, grid, objective):
    fast = grid_search(job, eps, grid=grid, objective=objective)
    assume(fast is None or fast.grid_points <= 60)

    programs = grid_search(job, eps, grid=grid, objective=objective, route="lp")

    if fast is None:
        assert programs is None
    else:
        assert programs is not None
        assert programs.value_s == pytest.approx(fast.value_s, rel=1e-9)
        assert programs.grid_points == fast.grid_points


@given(jobs(), st.sampled_from([0.1, 0.3, 0.9]), GRIDS, OBJECTIVES)
def test_the_fast_route_is_the_least_over_all_grid_points(job, eps, grid, objective):
    fast = grid_search(job, eps, grid=grid, objective=objective)
    if continuous(job) is None:
        assert fast is None
        return
    search = search_grid(job, eps, grid)
    assume(search.size <= 3000)

    values = [
        value
        for nu in itertools.product(*search.values().values())
        if (value := at_grid_point(job, search, nu, objective)) is not None
    ]

    assert (fast is None) == (not values)
    if fast is not None:
        assert fast.value_s == pytest.approx(min(values), rel=1e-9)


def at_grid_point(job, search, nu, objective):
    """Psi or tau at the optimum of one grid point's program, by monotony; None if infeasible."""
    bound = dict(zip((ratio.shape for ratio in search.bounded), nu, strict=True))
    coefficient = {ratio.shape: ratio.coefficient for ratio in search.bounded}
    slack = 1e-9
    lowest = {"w": 1.0, "p": 1.0}
    highest = {"w": largest_real_w(job, 1.0), "p": largest_real_p(job)}
    for x in ("w", "p"):
        if x in bound:
            highest[x] = min(highest[x], bound[x] / coefficient[x])
        if f"1/{x}" in bound:
            lowest[x] = max(lowest[x], coefficient[f"1/{x}"] / bound[f"1/{x}"])
    if search.pursued.shape in ("w/p", "1/p"):
        w = lowest["w"]
        p = min(highest["p"], max(1.0, largest_real_p(job, w)))
    else:
        p = lowest["p"]
        w = min(highest["w"], max(1.0, largest_real_w(job, p)))
    outside = any(O_r * w + G_r * p > v_r + slack * max(1, v_r) for O_r, G_r, v_r in real_rows(job))
    crossed = any(
        {"w": w, "p": p}[x] > highest[x] * (1 + slack)
        or {"w": w, "p": p}[x] < lowest[x] * (1 - slack)
        for x in ("w", "p")
    )
    if outside or crossed:
        return None
    if objective == "actual":
        return float(job.completion_time.at(w, p))
    return sum(nu) + search.pursued.at(w, p) + job.completion_time.constant


@given(jobs(), st.sampled_from([0.01, 0.1, 0.5, 1.0]), OBJECTIVES)
def test_the_repaired_grid_keeps_the_promise(job, eps, objective):
    found, relaxed = grid_search(job, eps, objective=objective), continuous(job)
    if relaxed is None:
        assert found is None
        return

    assert found is not None
    constant = job.completion_time.constant
    promised = (1 + eps) * (relaxed.tau_s - constant) + constant
    assert relaxed.tau_s * (1 - 1e-9) <= found.point.tau_s <= found.value_s * (1 + 1e-9)
    assert found.value_s <= promised * (1 + 1e-9)


@given(jobs(), st.sampled_from([0.05, 0.5]), GRIDS)
def test_comparing_times_is_never_worse_than_comparing_psi(job, eps, grid):
    upper = grid_search(job, eps, grid=grid)
    actual = grid_search(job, eps, grid=grid, objective="actual")

    if upper is not None:
        assert actual is not None
        assert actual.point.tau_s <= upper.point.tau_s * (1 + 1e-12)


@given(jobs(), st.sampled_from([0.01, 0.5]), GRIDS)
def test_points_lie_in_the_polygon(job, eps, grid):
    found = grid_search(job, eps, grid=grid)

    if found is not None:
        w, p, _ = found.point
        assert w >= 1
        assert p >= 1
        for O_r, G_r, v_r in real_rows(job):
            assert O_r * w + G_r * p <= v_r * (1 + 1e-12) + 1e-12


@settings(max_examples=20)
@given(jobs(80))
def test_ranges_are_what_linear_programs_find(job):
    assume(continuous(job) is not None)
    of = ratios(job)

    for ratio, (least, greatest) in zip(of, ranges(job, of), strict=True):
        assert optimum(job, ratio)[2] == pytest.approx(least, rel=1e-9)
        assert optimum(job, ratio, sense="max")[2] == pytest.approx(greatest, rel=1e-9)


@given(jobs())
def test_the_ratio_of_the_widest_range_is_left_out_of_the_grid(job):
    assume(continuous(job) is not None)
    of = ratios(job)
    widths = {r.shape: high / low for r, (low, high) in zip(of, ranges(job, of), strict=True)}
    pursued = search_grid(job, 0.5).pursued.shape

    assert widths[pursued] >= max(widths.values()) * (1 - 1e-9)
    assert pursued in ("w/p", "p/w") or not {"w/p", "p/w"} & set(widths)


def test_ratios_that_vanish_are_dropped():
    bare = E3.model_copy(update={"concurrency_fraction": 0.0, "overhead_per_ps_s": 0.0})

    assert [ratio.shape for ratio in ratios(bare)] == ["1/w"]
    # Nothing but 72/w + 1 is left, and four and a half workers fit.
    found = grid_search(bare, 0.01)
    assert found is not None
    assert found.value_s == pytest.approx(1 + 72 / 4.5)


#: By priority the second layer's transfer is hidden (eta_3 = 0), or all but the last layer's
#: forward time, which is 0 (eta_1 = 0), or both phases are.
NO_TRANSFER = [Layer(bp_s=1, fp_s=2, comm_s=0), Layer(bp_s=3, fp_s=1, comm_s=1)]
NO_FORWARD = [Layer(bp_s=1, fp_s=2, comm_s=4), Layer(bp_s=3, fp_s=0, comm_s=5)]


@pytest.mark.parametrize("layers", [NO_TRANSFER, NO_FORWARD])
@pytest.mark.parametrize("overheads", [(0.0, 0.0), (0.5, 0.0), (0.0, 0.5), (0.5, 0.1), (9.0, 0.1)])
@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("grid", ["repaired", "as_printed"])
def test_both_routes_find_the_same_where_overlap_makes_ratios_vanish(layers, overheads, mode, grid):
    job = E2.model_copy(
        update={
            "sgd_mode": mode,
            "layers": tuple(layers),
            "overlap": "priority",
            "overhead_per_worker_s": overheads[0],
            "overhead_per_ps_s": overheads[1],
        }
    )
    assert 0.0 in job.eta

    fast, programs = (grid_search(job, 0.6, grid=grid, route=route) for route in ("fast", "lp"))

    assert fast is not None
    assert programs is not None
    assert programs.value_s == pytest.approx(fast.value_s, rel=1e-9)
    assert grid == "as_printed" or fast.value_s <= 1.6 * continuous(job).tau_s


def test_a_job_whose_time_is_a_constant_stays_at_one_worker_and_one_server():
    # No forward time, and the only transfer is hidden behind the first layer's backward pass.
    hidden = (Layer(bp_s=2, fp_s=0, comm_s=0), Layer(bp_s=3, fp_s=0, comm_s=1))
    changes = {"layers": hidden, "overlap": "priority", "fp_time_per_sample_s": None}
    free = {"overhead_per_worker_s": 0.0, "overhead_per_ps_s": 0.0, "bp_time_s": None}
    job = E2.model_copy(update=changes | free)

    assert grid_search(job, 0.5).point == (1, 1, 5)


def test_terms_that_leave_the_doubles_are_refused():
    job = E2.model_copy(update={"fp_time_per_sample_s": 1e308, "iterations": 1e10})
    with pytest.raises(ModelRefused, match="too large or small"):
        grid_search(job, 0.5)


def test_a_job_of_which_nothing_fits_has_no_point():
    assert grid_search(TOO_SMALL, 0.1) is None
    assert grid_search(TOO_SMALL, 0.1, route="lp") is None


def test_too_many_linear_programs_are_refused_with_their_number():
    with pytest.raises(ModelRefused, match="4915890 linear programs"):
        grid_search(E2, 0.01, route="lp")


def test_too_fine_grids_are_refused_with_their_number():
    with pytest.raises(ModelRefused, match="grid values"):
        grid_search(E2, 1e-9)


@pytest.mark.parametrize("eps", [0.0, -0.1, float("nan")])
def test_an_eps_that_is_not_positive_is_refused(eps):
    with pytest.raises(ModelRefused, match="positive"):
        grid_search(E2, eps)


def test_grid_points_are_counted_without_being_listed():
    assert search_grid(E2, 1e-5).size > 10**15
    assert np.isfinite(search_grid(E2, 1e-5).size)
