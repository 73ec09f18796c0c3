"""The kernel against enumeration, and its variants against one another."""

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pd_ors.instance import TableUtility
from gadgetopt.models.pd_ors.subproblems import greedy_tables, labels
from gadgetopt.models.pd_ors.subproblems.greedy_tables import greedy_table
from gadgetopt.models.pd_ors.subproblems.kernel import best_plans
from gadgetopt.models.pd_ors.subproblems.labels import exact_scale, same_order, sample_scale
from gadgetopt.models.pd_ors.subproblems.slot_tables import Room, exact_table

from ..kernel_instances import (
    cluster,
    job,
    least_plan_costs,
    random_instance,
)


def _random_case(seed, **changes):
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, **changes)
    capacity = instance.terms.capacity
    shape = (instance.horizon_slots, *capacity.shape)
    price = rng.choice([0, 0.1, 0.5, 1, 2.7, 100], shape)
    room = rng.integers(0, capacity + 1, shape)
    return instance, price, room


def _check_usage(instance, plan, price, room):
    usage = plan.usage
    held = room.copy()
    np.subtract.at(held, (usage.slots - 1, usage.machines), usage.amounts)
    assert (held >= 0).all()
    prices = price[usage.slots - 1, usage.machines]
    assert (prices * usage.amounts).sum() == pytest.approx(plan.cost)


@pytest.mark.parametrize("locality", ["both", "external_only", "internal_only"])
@pytest.mark.parametrize("ratio", ["at_least", "exact"])
@pytest.mark.parametrize("seed", range(12))
def test_exact_plans_cost_what_enumeration_finds(seed, ratio, locality):
    instance, price, room = _random_case(seed, locality=locality, ratio=ratio)
    found = best_plans(instance.terms.jobs[0], price, room)
    expected = least_plan_costs(instance, 0, price, room)
    assert {t: plan.cost for t, plan in found.items()} == pytest.approx(expected)
    for t, plan in found.items():
        assert plan.completion == t
        _check_usage(instance, plan, price, room)


@pytest.mark.parametrize("seed", range(20))
def test_labels_and_dense_table_agree(seed, monkeypatch):
    instance, price, room = _random_case(seed, horizon=5)
    terms = instance.terms.jobs[0]
    dense = best_plans(terms, price, room)
    monkeypatch.setattr(labels, "DENSE", 0)
    sparse = best_plans(terms, price, room)
    assert {t: p.cost for t, p in dense.items()} == pytest.approx(
        {t: p.cost for t, p in sparse.items()}
    )


@pytest.mark.parametrize("seed", range(20))
def test_rounded_progress_costs_no_less_and_stays_feasible(seed):
    instance, price, room = _random_case(seed)
    terms = instance.terms.jobs[0]
    exact = best_plans(terms, price, room)
    for rounded in (
        best_plans(terms, price, room, progress="quantised", quanta=7),
        best_plans(terms, price, room, progress="samples"),
        best_plans(terms, price, room, slot_method="greedy"),
    ):
        for t, plan in rounded.items():
            done = sum(use.workers * (terms.sigma if use.internal else 1) for use in plan.uses)
            assert done >= terms.work
            assert min(p.cost for s, p in exact.items() if s <= t) <= plan.cost + 1e-9
            _check_usage(instance, plan, price, room)


@pytest.mark.parametrize("seed", range(10))
def test_samples_follow_the_recursion_as_printed(seed):
    instance, price, room = _random_case(seed)
    terms = instance.terms.jobs[0]
    work = terms.job.epochs * terms.job.samples
    theta = {}
    for t in range(terms.arrival, instance.horizon_slots + 1):
        table = exact_table(
            terms, Room(price[t - 1] @ terms.alpha, price[t - 1] @ terms.beta, room[t - 1])
        )
        for v in range(work + 1):
            inside, outside = ceil(v * terms.kappa_internal), ceil(v * terms.kappa_external)
            costs = (
                [0.0]
                if v == 0
                else [
                    row[n:].min(initial=np.inf)
                    for row, n in ((table.internal, inside), (table.external, outside))
                ]
            )
            theta[t, v] = min(costs)
    total = [0.0] + [np.inf] * work
    found = best_plans(terms, price, room, progress="samples")
    for t in range(terms.arrival, instance.horizon_slots + 1):
        total = [min(theta[t, u] + total[v - u] for u in range(v + 1)) for v in range(work + 1)]
        cheapest = min((p.cost for s, p in found.items() if s <= t), default=np.inf)
        assert cheapest == pytest.approx(total[work])


@pytest.mark.parametrize("seed", range(30))
def test_greedy_reaches_the_same_machines_as_if_all_were_looked_at(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, machines=12, batch=8)
    terms = instance.terms.jobs[0]
    shape = instance.terms.capacity.shape
    slot = Room(
        rng.uniform(0, 3, shape[0]),
        rng.uniform(0, 3, shape[0]),
        rng.integers(0, instance.terms.capacity + 1),
    )
    few = greedy_table(terms, slot)
    monkeypatch.setattr(greedy_tables, "_reached", lambda *_: np.arange(shape[0]))
    every = greedy_table(terms, slot)
    assert few.external == pytest.approx(every.external)
    exact = exact_table(terms, slot)
    assert (few.external >= exact.external * (1 - 1e-12)).all()


@pytest.mark.parametrize("seed", range(40))
def test_exact_scale_orders_progress_as_rationals_do(seed):
    rng = np.random.default_rng(seed)
    x = Fraction(int(rng.integers(10**6, 10**9)), int(rng.integers(1, 10**6)))
    most = int(rng.integers(1, 40))
    y = same_order(x, most)
    assert y.denominator <= 2 * most
    for q in range(1, most + 1):
        for p in (floor(x * q), floor(x * q) + 1):
            f = Fraction(p, q)
            assert (x > f) == (y > f)
            assert (x == f) == (y == f)


def test_given_prices_give_the_tables_and_plans_computed_by_hand():
    # Two machines of 3 units; 12 samples are 3 internal or 4.8 external worker-slots.
    instance = cluster([job(samples=12, utility=TableUtility(values=(10, 9, 4)))], [(3,), (3,)], 3)
    terms = instance.terms.jobs[0]
    price = np.array([[[1], [1]], [[0.5], [2]], [[0.1], [0.1]]])
    room = np.repeat(instance.terms.capacity[None], 3, axis=0)
    inf = np.inf
    expected = [
        ([inf, 2, 3, inf, inf], [inf, 2, 3, 5, 6]),
        ([inf, 1, 1.5, inf, inf], [inf, 1, 1.5, 5.5, 7.5]),
        ([inf, 0.2, 0.3, inf, inf], [inf, 0.2, 0.3, 0.5, 0.6]),
    ]
    for t, (internal, external) in enumerate(expected):
        table = exact_table(terms, Room(price[t] @ terms.alpha, price[t] @ terms.beta, room[t]))
        assert table.internal == pytest.approx(internal)
        assert table.external == pytest.approx(external)
    found = best_plans(terms, price, room)
    assert {t: plan.cost for t, plan in found.items()} == pytest.approx({2: 3.5, 3: 1.3})
    assert [(u.slot, u.internal, u.workers) for u in found[2].uses] == [(1, True, 1), (2, True, 2)]
    assert [(u.slot, u.internal, u.workers) for u in found[3].uses] == [(2, True, 1), (3, True, 2)]


def test_three_times_1_6_is_4_8():
    # Work that is met exactly: in floating point 3 * 1.6 exceeds 4.8, and 1.6 + 3.2 does not.
    terms = cluster([job(samples=12)], [(3,), (3,)], 2).terms.jobs[0]
    scale = exact_scale(terms)
    assert scale.internal[3] == scale.level
    assert scale.internal[2] + scale.external[1] < scale.level


@pytest.mark.parametrize("seed", range(15))
def test_bounds_on_workers_are_kept_at_least_cost(seed):
    rng = np.random.default_rng(seed)
    instance, price, room = _random_case(seed)
    terms = instance.terms.jobs[0]
    shape = room.shape[:2]
    most = np.full(shape, terms.batch)
    t, h = int(rng.integers(terms.arrival, shape[0] + 1)), int(rng.integers(shape[1]))
    most[t - 1, h] = 1
    least = np.zeros(shape, dtype=np.int64)
    least[t - 1, h] = 2
    free = best_plans(terms, price, room)
    low = best_plans(terms, price, room, most_workers=most)
    high = best_plans(terms, price, room, least_workers=least)

    def workers(plan):
        return sum(
            p.workers for s in plan.slots for p in s.placements if (s.slot, p.machine) == (t, h)
        )

    assert all(workers(plan) <= 1 for plan in low.values())
    assert all(workers(plan) >= 2 for plan in high.values())
    for slot, plan in free.items():
        # A plan that is done before t cannot be forced to run in t.
        sides = [side[slot].cost for side in (low, high) if slot in side]
        assert min(sides) == pytest.approx(plan.cost)


def test_disallowed_modes_are_left_out():
    instance, price, room = _random_case(1, horizon=4)
    terms = instance.terms.jobs[0]

    def spread(slot, internal, n):
        return np.full(len(n), not internal)

    for plan in best_plans(terms, price, room, allow=spread).values():
        assert not any(use.internal for use in plan.uses)


def test_recursion_over_samples_is_refused_with_the_count_where_it_is_long():
    terms = cluster([job(samples=10_000_000)], [(300,), (300,)], 10_000).terms.jobs[0]
    with pytest.raises(ModelRefused, match="10000000 samples"):
        sample_scale(terms)


def test_a_job_that_cannot_complete_has_no_plans():
    instance = cluster([job(samples=100)], [(3,), (3,)], 2)
    room = np.repeat(instance.terms.capacity[None], 2, axis=0)
    assert best_plans(instance.terms.jobs[0], np.ones(room.shape), room) == {}


def test_too_many_labels_are_refused_or_quantised_where_the_choice_is_free(monkeypatch):
    terms = cluster([job(samples=12)], [(3,), (3,)], 3).terms.jobs[0]
    price, room = np.ones((3, 2, 1)), np.full((3, 2, 1), 3)
    monkeypatch.setattr(labels, "DENSE", 0)
    monkeypatch.setattr(labels, "MOST_LABELS", 1)
    with pytest.raises(ModelRefused, match="labels"):
        best_plans(terms, price, room)
    monkeypatch.setattr(labels, "DENSE", 300)
    monkeypatch.setattr("gadgetopt.models.pd_ors.subproblems.kernel.exact_scale", _refuse)
    found = best_plans(terms, price, room, progress="auto")
    assert {t: p.cost for t, p in found.items()} == {
        t: p.cost for t, p in best_plans(terms, price, room, progress="quantised").items()
    }


def _refuse(_):
    raise ModelRefused("too large")
