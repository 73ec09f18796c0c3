"""Queues in slots: feasible plans, never better than the best of all plans."""

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.baselines.rules import by_rule
from gadgetopt.models.marl.queueing.data.generate import presets
from gadgetopt.models.marl.queueing.evaluate import evaluate
from gadgetopt.models.marl.queueing.heuristics.order_search import order_search
from gadgetopt.models.marl.subproblems.orders import ORDERS
from gadgetopt.models.marl.subproblems.rules import RULES
from gadgetopt.system.result import Limits

from ..brute_force import best_plan, small_instance
from ..test_evaluate import tiny


def value(instance, outcome):
    if outcome.solution is None:
        return None
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return evaluation.objective


@pytest.mark.parametrize("seed", range(30))
def test_no_queue_costs_less_than_the_best_of_all_plans(seed):
    rng = np.random.default_rng(seed)
    instance = small_instance(rng)
    found = best_plan(instance)
    outcomes = [by_rule(instance, Limits(), rng, r, o) for r in RULES for o in ORDERS]
    outcomes.append(order_search(instance, Limits(), rng, rounds=20))
    for outcome in outcomes:
        reached = value(instance, outcome)
        if reached is not None:
            assert found is not None
            assert reached >= found[0]


def test_first_come_first_served_waits_and_shortest_first_does_not():
    rng = np.random.default_rng(0)
    instance = tiny("shortest_first")
    assert value(instance, by_rule(instance, Limits(), rng, "lif", "fifo")) == 25
    assert value(instance, by_rule(instance, Limits(), rng, "lif", "srpt")) == 20


def test_a_search_over_orders_is_no_worse_than_every_rule_with_every_order():
    rng = np.random.default_rng(1)
    instance = presets.poisson(rng, jobs=12, slots=20, slots_between=0.2)
    reached = [
        value(instance, by_rule(instance, Limits(), rng, rule, order))
        for rule in RULES
        if rule != "random"
        for order in ORDERS
    ]
    searched = value(instance, order_search(instance, Limits(), rng, rounds=30))
    assert searched <= min(x for x in reached if x is not None)


def test_jobs_never_move_nor_wait_again_unless_they_give_way():
    instance = presets.poisson(np.random.default_rng(2), jobs=12, slots=20, slots_between=0.2)
    for order in ("fifo", "srpt", "drf", "big"):
        outcome = by_rule(instance, Limits(), np.random.default_rng(0), "lif", order)
        stays = instance.model_copy(update={"migration": False})
        assert evaluate(stays, outcome.solution).feasible


def test_served_jobs_give_way_to_new_ones():
    # Job 0 has had its GPU-seconds when job 1 arrives; only in `las` it waits.
    instance = tiny("shortest_first")
    longer, shorter = instance.jobs
    jobs = (
        longer.model_copy(update={"iterations": 12_000}),
        shorter.model_copy(update={"arrival_s": instance.slot_s * 400}),
    )
    instance = instance.model_copy(update={"jobs": jobs, "num_slots": 2000})
    rng = np.random.default_rng(0)
    # 1200 slots, and one that the other job takes.
    assert value(instance, by_rule(instance, Limits(), rng, "lif", "las")) == (12010 + 10) / 2
    assert value(instance, by_rule(instance, Limits(), rng, "lif", "srpt")) == (12000 + 8010) / 2
