"""Pictures agree with the evaluator."""

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.data.generate.presets import online
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.instance import PdOrsSolution, Placement, SlotPlan
from gadgetopt.models.pd_ors.pictures.payoffs import payoffs, waterfall
from gadgetopt.models.pd_ors.pictures.prices import heat_map
from gadgetopt.models.pd_ors.pictures.schedule import bars, plot
from gadgetopt.models.pd_ors.pictures.use import jobs_by_slot, over_time, used_parts
from gadgetopt.reporting.figures import drawn
from gadgetopt.system.files import library, read_instance

from ..variants import variant

PICTURES = [plot, over_time, heat_map, waterfall]


def tiny(name):
    return read_instance(library() / "pd_ors" / "tiny" / f"{name}.json").data


def decided(instance, **options):
    return variant(instance, **options)


@pytest.fixture(scope="module")
def busy():
    instance = online(np.random.default_rng(3), jobs=20, machines=6, horizon_slots=10)
    return instance, decided(instance, log_price_span=10.0).solution


def test_bars_are_the_workers_of_every_slot(busy):
    _, solution = busy
    drawn = {(b.job, t): b.workers for b in bars(*busy) for t in range(b.first, b.last + 1)}
    there = {
        (i, plan.slot): sum(p.workers for p in plan.placements)
        for i, schedule in enumerate(solution.schedules)
        for plan in schedule or ()
    }
    assert drawn == there


def test_the_modes_of_bars_are_those_of_the_evaluator(busy):
    found = bars(*busy)
    inside = sum(b.workers * (b.last - b.first + 1) for b in found if b.mode.startswith("inside"))
    everything = sum(b.workers * (b.last - b.first + 1) for b in found)
    assert inside / everything == pytest.approx(evaluate(*busy).components["internal_share"])


def test_use_over_time_adds_up_to_the_evaluators(busy):
    instance, _ = busy
    parts = evaluate(*busy).components
    for r, name in enumerate(instance.resources):
        assert used_parts(*busy)[:, r].mean() == pytest.approx(parts[f"used_{name}"])
    counts = {name: int(n.sum()) for name, n, _ in jobs_by_slot(*busy)}
    assert counts["accepted"] == counts["completed"] == parts["accepted_jobs"]
    assert counts["accepted"] + counts["not accepted"] == len(instance.jobs)


def test_payoffs_of_a_replay_are_those_of_the_run():
    # Hand-checked with U of the sum: see the notes of the instance; here with U of the less, 10.
    instance = tiny("c_prices")
    outcome = decided(instance)
    found = {p.job: p for p in payoffs(instance, outcome.solution)}
    assert [found[i].accepted for i in range(3)] == [True, False, True]
    for i in range(3):
        assert found[i].utility - found[i].cost == pytest.approx(outcome.notes["payoffs"][i])
    assert found[0].cost == pytest.approx(0.125)
    assert found[1].cost == pytest.approx(1.936492, abs=1e-6)


def test_prices_are_drawn_from_least_to_the_one_of_the_load():
    figure = heat_map(tiny("b_guarantee"), decided(tiny("b_guarantee")).solution)
    # The accepted job takes all 3 units: U = 10 per unit.
    assert figure.data[0].z[0][0] == pytest.approx(1.0)


@pytest.mark.parametrize("draw", PICTURES)
def test_every_picture_can_be_drawn_of_a_busy_cluster_and_of_nothing(draw, busy):
    assert draw(*busy).to_json()
    instance = tiny("a_locality")
    assert draw(instance, PdOrsSolution(schedules=(None, None))).to_json()


@pytest.mark.parametrize("picture", [p for p in PROBLEM.pictures if p.of == "solution"])
def test_an_infeasible_decision_is_not_drawn(picture):
    placed = SlotPlan(slot=1, placements=(Placement(machine=0, workers=4, servers=2),))
    with pytest.raises(InputError, match="capacity"):
        drawn(PROBLEM, picture, tiny("a_locality"), PdOrsSolution(schedules=((placed,), None)))
