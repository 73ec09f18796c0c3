"""Evaluator: hand-checked rings, and the violations of wrong ones."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import evaluate, link_loads, utility
from gadgetopt.models.gadget.instance import GadgetSolution
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping
from gadgetopt.models.gadget.subproblems.slot_problem import ring as as_ring
from gadgetopt.models.gadget.utility import Energy, Linear, Log, Sigmoid, Sqrt

from .tiny import BEST, OPTIMA, ring, solution, tiny


@pytest.mark.parametrize("name", BEST)
def test_hand_checked_optima_come_out(name):
    found = evaluate(tiny(name), BEST[name])
    assert found.feasible
    assert found.objective == pytest.approx(OPTIMA[name], abs=1e-12)


def test_the_digits_of_the_starved_sigmoid():
    instance = tiny("h4_sigmoid_starvation")
    assert round(OPTIMA["h4_sigmoid_starvation"], 7) == 100.2644016
    literal = evaluate(instance, solution(ring(1, [0], 1), ring(0, [0], 2)))
    assert round(literal.objective, 7) == 1.0045398


#: Violations of some rings, by constraint and amount.
BAD = [
    ("h1_bandwidth_blind", [ring(0, [0, 1])], "bandwidth", [500] * 4),
    ("h1_bandwidth_blind", [ring(0, [0, 0])], "capacity", [Fraction(1)]),
    ("h1_bandwidth_blind", [ring(0, [0]), ring(0, [1])], "repeated", [1]),
    ("h1_bandwidth_blind", [ring(3, [0])], "unknown_job", [3]),
    ("h1_bandwidth_blind", [ring(0, [0], slot=4)], "unknown_slot", [3]),
    ("h1_bandwidth_blind", [ring(0, [2])], "unknown_server", [1]),
    ("h1_bandwidth_blind", [ring(0, [10**30])], "unknown_server", [1]),
    ("h1_bandwidth_blind", [ring(0, [0], routes=())], "route", [1]),
    ("h1_bandwidth_blind", [ring(0, [0], routes=((0,),))], "route", [1]),
    ("h3_greedy_concave", [ring(1, [0, 0])], "ring_size", [1]),
    ("h3_greedy_concave", [ring(0, [0, 0], 1), ring(0, [0], 2)], "worker_slots", [1]),
    ("h6_two_triangles", [ring(0, [0, 1])], "route", [1, 1]),
    ("h6_two_triangles", [ring(0, [0, 1], routes=((0, 2, 1), (1, 3, 0)))], "route", [2]),
    ("h6_two_triangles", [ring(0, [0, 1], routes=((0, 2), (2, 0)))], "route", [1, 1]),
    ("h7_square_narrow", [BEST["h7_square"].rings[1]], "bandwidth", [200] * 4),
]


@pytest.mark.parametrize(("name", "rings", "constraint", "amounts"), BAD)
def test_wrong_rings_are_told_by_constraint_and_amount(name, rings, constraint, amounts):
    found = evaluate(tiny(name), solution(*rings))
    assert {v.constraint for v in found.violations} == {constraint}
    assert [v.amount for v in found.violations] == amounts


def test_a_ring_before_the_arrival_and_beyond_the_budget_is_told():
    instance = tiny("h3_greedy_concave")
    late = instance.jobs[0].model_copy(update={"arrival_slot": 2, "budget": (0.9,)})
    found = evaluate(instance.model_copy(update={"jobs": (late,)}), solution(ring(0, [0], 1)))
    assert {(v.constraint, v.amount) for v in found.violations} == {
        ("arrival", 1),
        ("budget", Fraction(1, 10)),
    }


def test_amounts_are_the_decimals_that_are_written():
    instance = tiny("h3_greedy_concave")
    server = instance.substrate.servers[0].model_copy(update={"capacity": (0.3,)})
    job = instance.jobs[0].model_copy(update={"worker_demand": (0.1,), "max_workers": 4})
    instance = instance.model_copy(
        update={
            "substrate": instance.substrate.model_copy(update={"servers": (server,)}),
            "jobs": (job.model_copy(update={"max_worker_slots": None, "budget": (0.3,)}),),
        }
    )
    assert evaluate(instance, solution(ring(0, [0, 0, 0]))).feasible
    assert not evaluate(instance, solution(ring(0, [0, 0, 0, 0]))).feasible


def test_a_ring_of_two_uses_both_directions_and_order_matters():
    instance = tiny("h5_slot")
    assert link_loads(instance, solution(ring(0, [0, 0, 1]))) == {
        (1, arc): 2000 for arc in [(0, 4), (4, 1), (1, 4), (4, 0)]
    }
    # Racks 0-1-0-1: visited rack by rack each uplink is passed once, in turns twice.
    by_rack = link_loads(instance, solution(ring(0, [0, 1, 2, 3])))
    in_turns = link_loads(instance, solution(ring(0, [0, 2, 1, 3])))
    assert by_rack[1, (4, 6)] == 2000
    assert in_turns[1, (4, 6)] == 4000


def test_components_say_how_far_capacities_are_exceeded():
    instance = tiny("h1_bandwidth_blind")
    components = evaluate(instance, solution(ring(0, [0, 1]))).components
    assert components["factor_links"] == 1.5
    assert components["factor_gpu"] == 1.0
    assert components["gain"] == 10.0
    assert evaluate(instance, solution(ring(0, [0, 0]))).components["factor_gpu"] == 2.0


def test_embedded_ratio_counts_jobs_that_may_still_train():
    # Slot 1: job 0 of two jobs; slot 2: job 0 has used its budget, job 1 runs.
    rings = solution(ring(0, [0, 0], 1), ring(1, [0], 2))
    assert evaluate(tiny("h3_greedy_concave"), rings).components["embedded_ratio"] == 0.75


def test_no_ring_is_worth_the_utilities_of_nothing():
    found = evaluate(tiny("h4_sigmoid_starvation"), solution())
    assert found.feasible
    assert found.objective == pytest.approx(1 / (1 + math.e))
    assert found.components["gain"] == 0


@given(
    st.sampled_from(
        [
            Sigmoid(priority=50.0, sensitivity=0.9, target_iterations=900.0),
            Sigmoid(priority=50.0, sensitivity=0.0, target_iterations=0.0),
            Sqrt(scale=2.0),
            Log(),
            Linear(slope=0.5),
            Energy(gain=3.0, cost=0.01),
        ]
    ),
    st.integers(0, 500),
    st.sampled_from([0.5, 1.0, 210.0]),
)
def test_utility_agrees_with_the_tables_of_the_methods(mu, z, zeta):
    job = tiny("h3_greedy_concave").jobs[0]
    job = job.model_copy(update={"utility": mu, "iterations_per_worker_slot": zeta})
    assert utility(job, z) == pytest.approx(float(mu.over(np.array([zeta * z]))[0]), rel=1e-12)


@given(st.integers(0, 10**6))
def test_rings_in_the_order_of_servers_are_routed_as_mappings_say(seed):
    rng = np.random.default_rng(seed)
    instance = generate.tiny(rng, servers=6, racks=3)
    servers = rng.choice(6, size=int(rng.integers(1, 5)), replace=False).tolist()
    mapping = Mapping(0, tuple((s, int(rng.integers(1, 3))) for s in servers))
    rings = GadgetSolution(rings=(as_ring(instance.terms, 1, mapping),))
    found = evaluate(instance, rings)
    assert found.components["worker_slots"] == mapping.size
    assert not any(v.constraint == "route" for v in found.violations)
