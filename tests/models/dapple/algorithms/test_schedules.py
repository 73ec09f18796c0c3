"""Warm-up policies."""

import pytest

from gadgetopt.models.dapple.algorithms.schedules import early_backward, scheduled, warmups
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.shop import shop_of_times


def shop(stages, microbatches, caps=None):
    count = 2 * stages - 1
    return shop_of_times([2] * count, [3] * count, [0] * count, microbatches, max_in_flight=caps)


def test_the_two_policies():
    assert warmups(shop(4, 10), "A") == [4, 3, 2, 1]
    assert warmups(shop(4, 10), "B") == [7, 5, 3, 1]
    assert warmups(shop(4, 5), "B") == [5, 5, 3, 1]  # no more than M
    assert warmups(shop(4, 10, [9, 2, 3, 9]), "B") == [7, 2, 2, 1]  # never increasing
    assert warmups(shop(1, 10), "A") == [1]


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
def test_policy_b_hides_links_that_policy_a_does_not(stages):
    s = shop(stages, 20)
    a, b = (early_backward(s, warmups(s, policy)) for policy in ("A", "B"))
    assert head_load_tail(s).value <= b.makespan <= a.makespan
    assert a.peaks_in_flight == warmups(s, "A")
    assert b.peaks_in_flight == warmups(s, "B")
    assert scheduled(s, "best").schedule.makespan == b.makespan


def test_of_equal_policies_a_is_taken_for_its_memory():
    assert scheduled(shop(1, 4), "best").policy == "A"
