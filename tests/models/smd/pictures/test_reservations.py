"""Pictures show the numbers of the instance and the decision."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.models.smd import PROBLEM
from gadgetopt.models.smd.data.generate.presets import quickstart
from gadgetopt.models.smd.instance import Allocation, SmdSolution
from gadgetopt.models.smd.iteration_time import Layer, critical_path
from gadgetopt.models.smd.pictures.ratio_over_cluster import ratio_over_cluster
from gadgetopt.models.smd.pictures.reservations import plot
from gadgetopt.models.smd.pictures.surface import points, surface
from gadgetopt.models.smd.pictures.timeline import LANES, bars, timeline
from gadgetopt.models.smd.proving.exact.optimum import exact
from gadgetopt.models.smd.subproblems.inner import best_pair
from gadgetopt.reporting.figures import drawn
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.result import Limits

TIMES = st.floats(0.1, 5)
LAYERS = st.lists(st.builds(Layer, bp_s=TIMES, fp_s=TIMES, comm_s=TIMES), min_size=1, max_size=7)


def tiny(name):
    return read_instance(library() / "smd" / "tiny" / f"{name}.json").data


@given(layers=LAYERS, model=st.sampled_from(["sequential", "wait_free", "priority"]))
def test_the_timeline_ends_when_the_closed_form_says(layers, model):
    slice_s = 0.3 if model == "priority" else 0.0
    end = max(bar.end_s for bar in bars(layers, model, slice_s))
    assert end == pytest.approx(critical_path(layers, model, slice_s).total_s)


@given(layers=LAYERS, model=st.sampled_from(["sequential", "wait_free", "priority"]))
def test_no_two_bars_of_a_lane_overlap_and_every_layer_is_carried_whole(layers, model):
    found = bars(layers, model)
    for lane in LANES:
        of_lane = sorted((b.start_s, b.end_s) for b in found if b.lane == lane)
        for (_, end), (start, _) in pairwise(of_lane):
            assert start >= end - 1e-9
    for j, layer in enumerate(layers):
        for lane in ("push", "pull"):
            whole = sum(b.end_s - b.start_s for b in found if (b.lane, b.layer) == (lane, j))
            assert whole == pytest.approx(layer.comm_s)


def test_pictures_of_a_decision_show_what_is_reserved_and_used():
    instance = quickstart(np.random.default_rng(0))
    decision = exact(instance, Limits()).solution
    reserved, used = plot(instance, decision).data
    assert len(reserved.x) == 4 * sum(given.admit for given in decision.jobs)
    assert all(u <= r + 1e-9 for r, u in zip(reserved.x, used.x, strict=True))
    assert max(b + r for b, r in zip(reserved.base, reserved.x, strict=True)) <= 100 + 1e-9


@pytest.mark.parametrize("picture", [p for p in PROBLEM.pictures if p.of == "solution"])
def test_an_infeasible_decision_is_not_drawn(picture):
    with pytest.raises(InputError, match="capacity"):
        drawn(
            PROBLEM,
            picture,
            tiny("e5_reserved_16"),
            SmdSolution(jobs=(Allocation(admit=True, num_workers=3, num_ps=2),) * 2),
        )


def test_the_surface_has_every_algorithms_point():
    job = tiny("e2_sync").jobs[0]
    found = points(job)
    assert found["optimum"] == best_pair(job)
    assert (found["ESW"].w, found["ESW"].p) == (3, 3)
    figure = surface(tiny("e2_sync"))
    assert np.isfinite(np.array(figure.data[0].z, dtype=float)).sum() == 20
    assert len(figure.data) == 1 + len(found)


def test_the_timeline_is_of_a_job_with_layers():
    assert "12 s" in timeline(tiny("e1_wait_free")).layout.annotations[1].text
    with pytest.raises(InputError, match="none has layers"):
        timeline(tiny("e2_sync"))


def test_ratios_over_the_cluster_are_at_most_one_and_releasing_is_worth_at_least_one():
    figure = ratio_over_cluster(quickstart(np.random.default_rng(0)))
    *policies, released = figure.data
    for line in policies:
        assert all(y <= 1 + 1e-6 for y in line.y)
    assert all(y >= 1 - 1e-6 for y in released.y)
