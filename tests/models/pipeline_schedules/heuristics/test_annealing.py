from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.heuristics import annealing
from gadgetopt.models.pipeline_schedules.heuristics.annealing_loops import length
from gadgetopt.models.pipeline_schedules.heuristics.rules import list_schedules
from gadgetopt.models.pipeline_schedules.shop import shop_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..conftest import solved
from ..random_cases import random_instance, random_orders, two_ways


def test_the_loops_measure_what_the_evaluator_does():
    rng = np.random.default_rng(7)
    stuck = 0
    for n in range(40):
        instance = random_instance(rng, allreduce=n % 2 == 0)
        if n % 3 == 2:
            instance = two_ways(instance)
        walk = annealing.Annealing(instance, shop_of(instance))
        solution = random_orders(instance, rng)
        value, _ = length(walk.data, walk._orders(solution), walk.room)
        expected = evaluate(instance, solution).objective
        stuck += expected is None
        assert value == pytest.approx(-1 if expected is None else expected * instance.ticks_per_s)
        assert walk._solution(walk._orders(solution)) == solution
    assert 0 < stuck < 40


def test_what_is_annealed_is_feasible_and_no_longer_than_the_start():
    rng = np.random.default_rng(8)
    for _ in range(10):
        instance = random_instance(rng)
        start = list_schedules(instance, Limits())
        if start.solution is None:
            continue
        walk = annealing.Annealing(instance, shop_of(instance))
        found = evaluate(instance, walk.anneal(start.solution, 200, 0.5, Clock(), rng))
        assert found.feasible
        assert found.objective <= start.claimed_objective


def test_annealing_finds_shorter_periods_of_two_chunks_than_lists(monkeypatch):
    monkeypatch.setattr(annealing, "MOVES", 5_000)
    instance = equal(
        None,
        devices=2,
        microbatches=4,
        chunks=2,
        forward_us=149,
        input_grad_us=147,
        weight_grad_us=100,
        transfer_us=5,
        in_flight=5,
        objective="period",
    )
    listed = solved(instance, method="list_schedules").objective
    found = solved(instance, method="annealing").objective
    assert Fraction(found) < Fraction(listed)
