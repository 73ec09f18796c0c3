"""Periods and makespans to the digit; what is no decision; slots that help and that do not."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.oneflow_actors.evaluate import evaluate
from gadgetopt.models.oneflow_actors.events import event_graph, finite_starts
from gadgetopt.models.oneflow_actors.simulator import steady_state

from .hand_checked import (
    H1,
    H2,
    H4,
    H5,
    H6,
    H6_SHARED,
    H7,
    H9,
    H10,
    H11,
    H12,
    H13,
    H14,
    alone,
    h8,
    ordered,
    period,
    ruled,
)
from .random_cases import all_orders, all_slots, random_instance


@pytest.mark.parametrize(
    ("instance", "slots", "expected"),
    [
        (H1, [1], 5),
        (H1, [2], 3),
        (H2, [1, 1], 7),
        (H2, [2, 1], 7),
        (H2, [1, 2], 6),
        (H2, [2, 2], 4),
        (H4, [1, 1, 1], 7),
        (H4, [2, 2, 1], 6),
        (H4, [2, 2, 2], 4),
        (H5, [2, 1, 2, 2, 1], Fraction(9, 2)),
        (H5, [2, 2, 2, 2, 1], 3),
        (H5, [2, 1, 2, 2, 2], 3),
        (H6, [2, 2, 2, 1], 4),
        (H6, [2, 2, 2, 2], 2),
        (H6, [2, 2, 2, 3], Fraction(4, 3)),
        (H6, [2, 2, 2, 4], 1),
        (H6_SHARED, [1, 2, 2], 4),
        (H6_SHARED, [2, 2, 2], 2),
        (H6_SHARED, [3, 2, 2], Fraction(4, 3)),
        (H6_SHARED, [4, 2, 2], 1),
        (H7, [1, 1], 14),
        (H7, [1, 2], 10),
        (H7, [2, 1], 14),
        (H7, [2, 2], 8),
        (h8(1), [1, 1, 1, 1], 8),
        (h8(1), [2, 2, 2, 2], 8),
        (h8(2), [1, 1, 1, 2], 6),
        (h8(2), [2, 2, 2, 2], 5),
        (H9, [2, 1, 1], 4),
        (H9, [2, 1, 2], 5),
        (H9, [2, 2, 2], 4),
        (H10, [2, 2, 2], 4),
        (H11, [1, 1, 2, 2], Fraction(13, 2)),
        (H13, [2, 2, 2, 1, 1], 6),
        (H14, [2, 2, 2, 1], Fraction(21, 2)),
    ],
)
def test_periods_first_come_first_served(instance, slots, expected):
    assert period(instance, ruled(slots)) == expected
    if instance.own_streams:
        assert period(instance, alone(instance, slots)) == expected
        for rule in ("deep", "shallow"):
            assert period(instance, ruled(slots, rule)) == expected


def test_the_deepest_first_breaks_the_tie_that_costs_four_seconds():
    assert period(H7, ruled([2, 1], "deep")) == 10


@pytest.mark.parametrize(
    ("instance", "slots", "expected"),
    [
        (H1, [1], 20),
        (H1, [2], 14),
        (H2, [1, 1], 30),
        (H2, [2, 1], 30),
        (H2, [1, 2], 27),
        (H2, [2, 2], 21),
        (H4, [1, 1, 1], 28),
        (H4, [2, 2, 1], 25),
        (H4, [2, 2, 2], 19),
    ],
)
def test_four_microbatches(instance, slots, expected):
    four = instance.model_copy(update={"num_microbatches": 4})
    found = evaluate(four, ruled(slots))
    assert found.components["makespan_s"] == expected
    assert found.objective == Fraction(4, expected)


def test_orders_that_wait_for_each_other_for_ever():
    # Window n runs 0 and then 1 one firing later: with one slot 1 waits for what 0 cannot write.
    assert period(H12, ordered([2], [(0, 0), (1, -1)])) == 2
    assert period(H12, ordered([1], [(0, 0), (1, 0)])) == 2
    for slots, order in (
        ([1], [(0, 0), (1, -1)]),
        ([1], [(1, 0), (0, 0)]),
        ([5], [(1, 0), (0, 0)]),
    ):
        found = evaluate(H12, ordered(slots, order))
        assert found.objective is None
        assert [v.constraint for v in found.violations] == ["firings_wait_for_each_other"]
        assert "waits for" in found.violations[0].where


@pytest.mark.parametrize(
    ("changed", "constraint"),
    [
        ({"slots": (1,)}, "register_without_slots"),
        ({"slots": (65, 1)}, "slots_out_of_bounds"),
        ({"slots": (2, 1)}, None),
        ({"dispatch": "fcfs"}, "order_beside_a_rule"),
        ({"orders": ()}, "stream_without_order"),
        ({"orders": (((0, 0),), ((2, 0),), ((1, 0),))}, "actor_of_another_stream"),
        ({"orders": (((0, 0),), (), ((2, 0),))}, "firing_not_listed_once"),
        ({"orders": ((), ((1, 0),), ((2, 0),))}, "stream_without_order"),
        (
            {"orders": (((0, 0), (0, 2)), ((1, 0), (1, 1)), ((2, 0), (2, 1)))},
            "firing_not_listed_once",
        ),
        ({"orders": (((0, 0), (0, 1)), ((1, 0), (1, 1)), ((2, 1), (2, 2)))}, None),
    ],
)
def test_what_is_no_decision_is_named(changed, constraint):
    solution = alone(H2, [1, 1]).model_copy(update=changed)
    found = evaluate(H2, solution)
    assert {v.constraint for v in found.violations} == ({constraint} if constraint else set())


def test_memory_and_initial_items_count():
    assert [v.constraint for v in evaluate(H14, ruled([3, 2, 2, 1])).violations] == [
        "memory_exceeded"
    ]
    found = evaluate(h8(2), ruled([1, 1, 1, 1]))
    assert [v.constraint for v in found.violations] == ["initial_items_without_slots"]


def test_where_windows_repeat_a_rule_is_no_order():
    one = H2.model_copy(update={"window": 1})
    assert [v.constraint for v in evaluate(one, ruled([1, 1])).violations] == [
        "rule_where_windows_repeat"
    ]


def test_long_runs_grow_by_the_period():
    # Two independent ways: the largest cycle ratio, and the differences of starts of a long run.
    rng = np.random.default_rng(5)
    seen = 0
    while seen < 40:
        instance = random_instance(rng)
        slots = list(all_slots(instance))
        orders = list(all_orders(instance, shifts=1))
        chosen = slots[int(rng.integers(len(slots)))] if slots else None
        order = orders[int(rng.integers(len(orders)))]
        if chosen is None:
            continue
        graph = event_graph(instance, chosen, order)
        if graph.deadlock() is not None:
            continue
        seen += 1
        exact, _ = graph.period()
        starts = finite_starts(instance, chosen, order, 240)
        assert starts is not None
        late = starts[0][200:]
        assert any(
            all(late[k + c] - late[k] == exact * c for k in range(len(late) - c))
            for c in range(1, 13)
        )


def test_more_slots_never_delay_a_fixed_order():
    rng = np.random.default_rng(6)
    for _ in range(40):
        instance = random_instance(rng)
        slots = list(all_slots(instance, most=2))
        if not slots:
            continue
        order = next(iter(all_orders(instance, shifts=0)))
        few = period(instance, ordered(slots[0], *order))
        more = period(instance, ordered([n + 1 for n in slots[0]], *order))
        assert few is None or (more is not None and more <= few)


def test_a_rule_is_never_faster_than_the_busiest_stream():
    rng = np.random.default_rng(7)
    for _ in range(60):
        instance = random_instance(rng)
        fewest = tuple(r.fewest for r in instance.registers)
        if event_graph(instance, fewest, None).deadlock() is not None:
            continue
        load = max(sum(instance.ticks[a] for a in s) for s in instance.actors_of_stream.values())
        for rule in ("fcfs", "deep", "shallow"):
            steady = steady_state(instance, fewest, rule)
            assert steady.period >= load
