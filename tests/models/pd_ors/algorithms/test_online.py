"""PD-ORS and OASiS on the hand-checked instances, and the laws of their prices."""

import math

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.algorithms.pd_ors import pd_ors, pd_ors_run
from gadgetopt.models.pd_ors.algorithms.rounding import pd_ors_rounding
from gadgetopt.models.pd_ors.baselines.oasis import oasis, pool_ranges
from gadgetopt.models.pd_ors.data.generate.presets import (
    paper,
    tiny,
)
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.heuristics.kernel import pd_ors_kernel
from gadgetopt.models.pd_ors.heuristics.prices import (
    pd_ors_given_prices,
    pd_ors_history,
    pd_ors_normalised,
    pd_ors_price_span,
)
from gadgetopt.models.pd_ors.heuristics.repaired_rounding import pd_ors_repaired_rounding
from gadgetopt.models.pd_ors.instance import TableUtility
from gadgetopt.models.pd_ors.subproblems.prices import PriceTable, price_range, replay
from gadgetopt.models.pd_ors.subproblems.slot_methods import SlotOptions
from gadgetopt.system.files import (
    Document,
    library,
    read_instance,
    write,
)
from gadgetopt.system.methods import find_method
from gadgetopt.system.result import Limits

from ..kernel_instances import cluster, job, random_instance
from ..variants import variant


def _job(*values, samples=8, arrival=1):
    return job(samples=samples, arrival_slot=arrival, utility=TableUtility(values=values))


ONE = [(3,)]
CASES = {
    "A": cluster([_job(10), _job(10)], ONE * 2, 1),
    "B": cluster([_job(1), _job(10)], ONE, 1),
    "C": cluster([_job(4), _job(1), _job(10)], [(6,)], 1),
    "D": cluster([_job(10, 9, 4, samples=12)], ONE * 2, 3),
    "E": cluster([_job(10, 9, 4, samples=12), _job(10, 9, 4, samples=12, arrival=2)], ONE * 2, 3),
}
#: U for "sum", which is half of that for "min", as a worker and a server take 1 each; L; mu.
#: A: L = 10 / (2 * 1.5 * 4 * 2). D, E: d_min = ceil(3 / 4) - 1 = 0, L = 4 / (2 * 3 * 5 * 2).
CONSTANTS = {
    "A": (5, 10 / 24, 1.5),
    "B": (5, 1 / 12, 0.75),
    "C": (5, 1 / 24, 1.5),
    "D": (5, 1 / 15, 3),
    "E": (5, 1 / 15, 3),
}
#: Three units cost 3 L; in C after the first job the price is sqrt(U L). In B nothing is left.
PAYOFFS = {
    "A": (8.75, 8.75),
    "B": (0.75, None),
    "C": (3.875, 1 - 3 * math.sqrt(5 / 24), 10 - 3 * math.sqrt(5 / 24)),
    "D": (9 - 5 / 15,),
    "E": (9 - 5 / 15, 9 - 5 / 15),
}
VALUES = {"A": 20, "B": 1, "C": 14, "D": 9, "E": 18}


def _run(instance, method=variant, seed=0, **parameters):
    outcome = called(method, instance, Limits(), np.random.default_rng(seed), **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.violations == ()
    assert float(evaluation.objective) == pytest.approx(outcome.claimed_objective)
    return outcome


@pytest.mark.parametrize("name", CASES)
def test_prices_are_those_computed_by_hand(name):
    upper, lower, mu = CONSTANTS[name]
    for reading, factor in (("sum", 1), ("min", 2)):
        found = price_range(CASES[name], upper=reading)
        assert math.exp(found.log_upper[0]) == pytest.approx(factor * upper, rel=1e-12)
        assert math.exp(found.log_lower) == pytest.approx(lower, rel=1e-12)
        assert math.exp(found.log_mu) == pytest.approx(mu, rel=1e-12)


@pytest.mark.parametrize("slot_method", ["exact_dp", "greedy", "milp", "rounding"])
@pytest.mark.parametrize("name", CASES)
def test_payoffs_are_those_computed_by_hand(name, slot_method):
    outcome = _run(CASES[name], upper="sum", slot_method=slot_method)
    for found, expected in zip(outcome.notes["payoffs"], PAYOFFS[name], strict=True):
        assert found == (expected if expected is None else pytest.approx(expected, rel=1e-12))
    assert outcome.claimed_objective == VALUES[name]


def test_case_c_decides_the_same_at_the_larger_upper_price():
    outcome = _run(CASES["C"], upper="min")
    expected = (3.875, 1 - 3 * math.sqrt(10 / 24), 10 - 3 * math.sqrt(10 / 24))
    assert outcome.notes["payoffs"] == pytest.approx(expected, rel=1e-12)


def test_prices_can_come_from_another_instance(tmp_path):
    path = tmp_path / "past.json"
    write(Document(PROBLEM, "instance", "past", CASES["B"]), path)
    found = _run(CASES["C"], pd_ors_history, history=str(path)).notes
    past = price_range(CASES["B"])
    assert found["log_lower"] == past.log_lower
    assert found["log_upper"] == list(past.log_upper)


@pytest.mark.parametrize(
    ("history", "reason"),
    [("", "expected the file"), ("no.json", "cannot be read"), ("other.json", "resources")],
)
def test_a_history_that_does_not_fit_is_refused(history, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    two = cluster([job(worker_demand=(1, 1), ps_demand=(1, 1))], [(3, 3)], 1)
    write(Document(PROBLEM, "instance", "other", two), tmp_path / "other.json")
    with pytest.raises(ModelRefused, match=reason):
        _run(CASES["C"], pd_ors_history, history=history)


@pytest.mark.parametrize(
    ("name", "ratios"),
    [("b_guarantee", (2 * math.log(60), 118)), ("b_corrected", (31.789904, 401128.3299))],
)
def test_notes_hold_the_claimed_and_the_corrected_ratio(name, ratios):
    instance = read_instance(library() / "pd_ors" / "tiny" / f"{name}.json").data
    notes = _run(instance, upper="sum").notes
    assert (notes["claimed_ratio"], notes["corrected_ratio"]) == pytest.approx(ratios)


def test_separated_pools_hold_too_few_workers_in_case_a():
    assert _run(CASES["A"], oasis).claimed_objective == 0


def test_pools_have_prices_of_their_own():
    # Externally 8 samples are ceil(3.2) = 4 worker-slots: eta = 3 / 4 and
    # L = 10 / (4 * 3/4 * 4) for both pools, U = 10.
    for pool in pool_ranges(CASES["A"]):
        assert math.exp(pool.log_lower) == pytest.approx(10 / 12, rel=1e-12)
        assert math.exp(pool.log_upper[0]) == pytest.approx(10, rel=1e-12)


def test_oasis_refuses_what_cannot_be_two_pools():
    for instance in (CASES["B"], CASES["A"].model_copy(update={"locality": "internal_only"})):
        with pytest.raises(ModelRefused):
            _run(instance, oasis)


@pytest.mark.parametrize("seed", range(30))
def test_every_slot_method_and_scale_gives_feasible_decisions(seed):
    rng = np.random.default_rng(seed)
    locality = ("both", "external_only", "internal_only")[seed % 3]
    ratio = ("at_least", "exact")[seed % 2]
    instance = tiny(rng, jobs=4, resources=2, machines=3, locality=locality, ratio=ratio)
    for slot_method in ("auto", "exact_dp", "greedy", "rounding"):
        for progress in ("exact", "quantised", "samples"):
            _run(instance, slot_method=slot_method, progress=progress)
    if locality != "internal_only":
        _run(instance, oasis)


def test_prices_rise_from_lower_to_upper_as_the_machine_fills():
    instance = CASES["C"]
    limits = price_range(instance)
    table = PriceTable.of_range(instance.terms, limits)
    here, units = np.array([1]), np.array([[3]])
    assert table.price[0, 0, 0] == pytest.approx(1 / 24)
    table.take(here, here - 1, units)
    assert table.price[0, 0, 0] == pytest.approx(math.sqrt(10 / 24))
    table.take(here, here - 1, units)
    assert table.price[0, 0, 0] == pytest.approx(10)
    assert table.room[0, 0, 0] == 0


def test_upper_price_of_an_exhausted_resource_pays_for_no_job():
    instance = random_instance(np.random.default_rng(3), jobs=5)
    limits = price_range(instance, upper="min")
    price = np.exp(limits.log_upper)
    for terms in instance.terms.jobs:
        if terms.earliest is None:
            continue
        for demand in (terms.alpha, terms.beta):
            for r in np.flatnonzero(demand):
                amount = demand[r] * float(instance.terms.unit[r])
                assert price[r] * amount >= terms.utility[terms.earliest] * (1 - 1e-12)


def test_resources_measured_in_other_units_change_nothing_if_normalised():
    def scaled(instance, factor):
        def amounts(row):
            return (row[0] * factor, *row[1:])

        return instance.model_copy(
            update={
                "machines": tuple(
                    m.model_copy(update={"capacity": amounts(m.capacity)})
                    for m in instance.machines
                ),
                "jobs": tuple(
                    j.model_copy(
                        update={
                            "worker_demand": amounts(j.worker_demand),
                            "ps_demand": amounts(j.ps_demand),
                        }
                    )
                    for j in instance.jobs
                ),
            }
        )

    instance = random_instance(np.random.default_rng(5), jobs=4)
    ours = _run(instance, pd_ors_normalised).notes["payoffs"]
    others = _run(scaled(instance, 1000.0), pd_ors_normalised).notes["payoffs"]
    assert ours == pytest.approx(others)


def test_replaying_a_solution_gives_the_prices_of_the_run():
    instance = paper(np.random.default_rng(2), jobs=12, machines=8, work_scale=0.02)
    limits = price_range(instance, log_price_span=10)
    options = SlotOptions("greedy", grid=16)
    run = pd_ors_run(instance, Limits(), limits, options)
    assert any(run.plans)
    outcome = _run(instance, log_price_span=10, slot_method="greedy")
    *_, (_, table) = replay(instance, outcome.solution, limits)
    assert np.array_equal(table.price, run.table.price)
    assert np.array_equal(table.room, run.table.room)


def test_roundings_depend_on_the_seed_and_nothing_else():
    instance = paper(
        np.random.default_rng(4),
        jobs=4,
        machines=3,
        horizon_slots=6,
        work_scale=0.003,
        largest_batch=40,
    )
    runs = [_run(instance, pd_ors_rounding, seed=seed).solution for seed in (7, 7)]
    assert runs[0] == runs[1]


def test_a_run_out_of_time_rejects_the_jobs_that_are_left():
    outcome = pd_ors(CASES["A"], Limits(time_s=0))
    assert outcome.limit_hit == "time_s"
    assert outcome.solution.schedules == (None, None)


def test_given_constants_are_used_as_they_are():
    # One job of three units at a price of 1 each; the second finds prices of 100 on one machine
    # and of 1 on the other.
    outcome = _run(CASES["A"], pd_ors_given_prices, given_upper=100.0, given_lower=1.0)
    assert outcome.notes["payoffs"] == pytest.approx([7, 7])
    with pytest.raises(ModelRefused):
        _run(CASES["A"], pd_ors_given_prices, given_upper=1.0, given_lower=2.0)


@pytest.mark.parametrize(
    ("parameters", "method"),
    [
        ("slot_method=rounding", "pd_ors_rounding"),
        ("slot_method=greedy", "pd_ors_kernel"),
        ("log_price_span=10", "pd_ors_price_span"),
        ("normalise_resources=true", "pd_ors_normalised"),
        ("constants=history", "pd_ors_history"),
        ("given_lower=0.1", "pd_ors_given_prices"),
        ("fallback=greedy", "pd_ors_repaired_rounding"),
    ],
)
def test_former_parameters_are_refused_with_the_method_that_has_them(parameters, method):
    with pytest.raises(InputError, match=f"is now the method '{method}'"):
        find_method(PROBLEM, f"pd_ors:{parameters}")
    assert find_method(PROBLEM, method)


@pytest.mark.parametrize("seed", range(4))
def test_each_variant_does_as_pd_ors_with_its_choice(seed):
    instance = tiny(np.random.default_rng(seed), jobs=4, resources=2, machines=3)
    told = ("payoffs", "log_lower")

    def same(ours, others):
        notes = [[outcome.notes[x] for x in told] for outcome in (ours, others)]
        return ours.solution == others.solution and notes[0] == notes[1]

    assert same(_run(instance, pd_ors), _run(instance))
    assert same(_run(instance, pd_ors_price_span), _run(instance, log_price_span=10.0))
    for way in ("exact_dp", "greedy", "milp"):
        assert same(_run(instance, pd_ors_kernel, slot_method=way), _run(instance, slot_method=way))
    rounded = _run(instance, pd_ors_rounding, seed=seed)
    assert same(rounded, _run(instance, slot_method="rounding", seed=seed))
    as_printed = {"keep": "first", "fallback": "none"}
    assert same(rounded, _run(instance, pd_ors_repaired_rounding, seed=seed, **as_printed))
    # What fits nowhere is given up by the rounding alone.
    _run(instance, pd_ors_repaired_rounding, seed=seed)
