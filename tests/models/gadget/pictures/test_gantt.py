"""Pictures show the instance and the solution as they are."""

import numpy as np
import pytest
from calling import called
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.baselines.policies import drf, tiresias
from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import link_loads
from gadgetopt.models.gadget.pictures.envelope import plot_envelope, shortfall, tangent
from gadgetopt.models.gadget.pictures.gains import plot_gains, rising
from gadgetopt.models.gadget.pictures.gantt import (
    REACH,
    bars,
    plot,
    reach,
)
from gadgetopt.models.gadget.pictures.network import busiest_slot, plot_tree, positions
from gadgetopt.reporting.figures import drawn
from gadgetopt.system.result import Limits

from ..tiny import (
    BEST,
    ring,
    solution,
    tiny,
)


def run(instance, policy=tiresias):
    return called(policy, instance, Limits(), np.random.default_rng(0)).solution


@given(st.integers(0, 10**6))
def test_bars_hold_every_worker_of_every_slot_once(seed):
    instance = generate.contended(np.random.default_rng(seed), jobs=12, servers=4)
    rings = run(instance)
    drawn = {(b.job, t): b.size for b in bars(instance, rings) for t in range(b.start, b.end + 1)}
    assert drawn == {(r.job, r.slot): len(r.servers) for r in rings.rings}


def test_reach_is_by_server_rack_and_network():
    instance = tiny("h5_slot")
    assert [reach(instance, ring(0, s)) for s in ([0, 0], [0, 1], [1, 2])] == [0, 1, 2]
    assert REACH[reach(tiny("h7_square"), BEST["h7_square"].rings[1])][0] == "over several servers"


@pytest.mark.parametrize("name", BEST)
def test_hand_checked_solutions_are_drawn(name):
    figure = plot(tiny(name), BEST[name])
    widths = [sum(trace.x) for trace in figure.data if trace.type == "bar"]
    assert sum(widths) == len(BEST[name].rings)
    assert f"of {len(tiny(name).jobs)} job" in figure.layout.title.text
    assert plot_tree(tiny(name), BEST[name]).data


@pytest.mark.parametrize("picture", [p for p in PROBLEM.pictures if p.of == "solution"])
def test_an_infeasible_solution_is_not_drawn(picture):
    with pytest.raises(InputError, match="bandwidth at slot 1"):
        drawn(PROBLEM, picture, tiny("h1_bandwidth_blind"), solution(ring(0, [0, 1])))


@pytest.mark.parametrize("draw", [plot, plot_tree])
def test_an_empty_solution_is_drawn(draw):
    assert draw(tiny("h1_bandwidth_blind"), solution()).data


def test_the_cluster_shows_every_worker_and_every_load_of_its_slot():
    instance = generate.tight(np.random.default_rng(1))
    rings = run(instance)
    slot = busiest_slot(instance, rings)
    figure = plot_tree(instance, rings)
    cells = sum(len(t.x) for t in figure.data if t.type == "bar" and t.name)
    assert cells == sum(len(r.servers) for r in rings.rings if r.slot == slot)
    said = [str(t.hovertext) for t in figure.data if "up," in str(t.hovertext)]
    loads = {arc: b for (t, arc), b in link_loads(instance, rings).items() if t == slot}
    assert sum(int(text.split()[0]) for text in said) == sum(loads.values()) / 2


@given(st.integers(0, 10**6))
def test_servers_of_a_rack_stand_side_by_side(seed):
    cluster = generate.tiny(np.random.default_rng(seed), servers=7, racks=3).substrate
    at, width = positions(cluster)
    by_place = sorted(range(7), key=lambda s: at[s][0])
    racks = [cluster.servers[s].rack for s in by_place]
    assert racks == sorted(racks)
    assert at[by_place[-1]][0] == width


def test_large_solutions_are_drawn_without_labels():
    instance = generate.paper(np.random.default_rng(0), horizon_slots=20)
    rings = run(instance, drf)
    assert not any(trace.text for trace in plot(instance, rings).data)
    assert plot_tree(instance, rings).data


def test_the_envelope_meets_the_sigmoid_at_its_tangent_point():
    # u = (0, 0.0045, 100): the envelope of the starved job is straight up to two worker-slots.
    job = tiny("h4_sigmoid_starvation").terms.jobs[0]
    assert tangent(job) == 2
    assert shortfall(job) == pytest.approx(49.9931903, abs=1e-6)
    figure = plot_envelope(tiny("h4_sigmoid_starvation"))
    assert list(figure.data[0].y) == pytest.approx([0, 49.9977301, 99.9954602])
    assert "Job 0" in figure.layout.title.text


def test_gains_rise_under_a_sigmoid_and_fall_for_concave_utilities():
    assert rising(tiny("h4_sigmoid_starvation").terms.jobs[0]) == [1]
    assert "not submodular" in plot_gains(tiny("h4_sigmoid_starvation")).layout.title.subtitle.text
    concave = generate.contended(np.random.default_rng(0), utility="sqrt")
    assert not any(rising(job) for job in concave.terms.jobs)
    assert "never rising" in plot_gains(concave).layout.title.subtitle.text


def test_jobs_without_any_utility_are_drawn():
    # A job whose table holds nothing.
    instance = tiny("h7_square_narrow")
    nothing = instance.jobs[0].utility.model_copy(update={"values": (0.0,)})
    job = instance.jobs[0].model_copy(update={"utility": nothing})
    instance = instance.model_copy(update={"jobs": (job,)})
    assert plot_envelope(instance).data
    assert plot_gains(instance).layout.title.text
