"""Placement policies on the examples of the public description, and their laws."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.pieces.pipeline.placement import (
    POLICIES,
    POLICIES_OF_SLIDES,
    choices,
    devices,
    place,
)

SIZES = (4, 4, 4)


@pytest.mark.parametrize(
    ("used", "need", "variant", "expected"),
    [
        # GPUs {0, 1, 4} are occupied.
        ((2, 1, 0), 3, "fallback", [(8, 9, 10), (2, 3, 5), (2, 3, 5)]),
        ((2, 1, 0), 3, "code", [(8, 9, 10), (2, 3, 5), (2, 5, 8)]),
        # None is.
        ((0, 0, 0), 6, "fallback", [(0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5), (0, 1, 4, 5, 8, 9)]),
        ((0, 0, 0), 6, "code", [(0, 1, 2, 3, 4, 5), None, (0, 1, 4, 5, 8, 9)]),
        # {0, ..., 4} are: the used machines have three left.
        ((4, 1, 0), 4, "fallback", [(8, 9, 10, 11), (5, 6, 7, 8), (5, 6, 7, 8)]),
        ((4, 1, 0), 4, "code", [(8, 9, 10, 11), None, (5, 6, 8, 9)]),
        # Fresh first runs out too.
        ((1, 1, 1), 2, "fallback", [(1, 2), (1, 2), (1, 5)]),
        ((1, 1, 1), 2, "code", [None, (1, 2), (1, 5)]),
    ],
)
def test_the_policies_choose_as_described(used, need, variant, expected):
    found = [place(policy, SIZES, used, need, variant) for policy in POLICIES]
    assert [c if c is None else devices(SIZES, used, c) for c in found] == expected


@given(st.data())
def test_a_policy_takes_as_many_free_gpus_as_needed(data):
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    used = [data.draw(st.integers(0, size)) for size in sizes]
    free = sum(sizes) - sum(used)
    if not free:
        return
    need = data.draw(st.integers(1, free))
    for variant in ("fallback", "code", "slides"):
        for policy in POLICIES_OF_SLIDES:
            counts = place(policy, sizes, used, need, variant)
            assert counts is not None or variant == "code"
            if counts is not None:
                assert sum(counts) == need
                assert all(0 <= c <= s - u for c, s, u in zip(counts, sizes, used, strict=True))
        found = choices(sizes, used, need, variant)
        assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("used", "need", "expected"),
    [
        # One GPU is free on machine 0, three on machine 1: append first goes in order, gaps first
        # takes the smaller gap first, whichever machine has it.
        ((3, 1, 0), 2, (1, 1, 0)),
        ((1, 3, 0), 2, (1, 1, 0)),
        ((1, 3, 0), 1, (0, 1, 0)),
        # No gaps are left, then fresh machines.
        ((4, 2, 0), 3, (0, 2, 1)),
        ((0, 0, 0), 5, (4, 1, 0)),
    ],
)
def test_gaps_first_fills_the_smallest_gaps(used, need, expected):
    assert place("gaps_first", SIZES, used, need, "slides") == expected
    found = choices(SIZES, used, need, "slides")
    assert expected in found
    assert set(choices(SIZES, used, need)) <= set(found)


def test_gaps_first_differs_from_append_first_by_the_order_of_gaps():
    """Append first takes the first machine that is partly occupied, gaps first the fullest."""
    assert place("append_first", SIZES, (1, 3, 0), 1) == (1, 0, 0)
    assert place("gaps_first", SIZES, (1, 3, 0), 1, "slides") == (0, 1, 0)


def test_more_gpus_than_are_free_cannot_be_placed():
    with pytest.raises(ValueError, match="need: 3 GPUs, but 2 are free"):
        place("fresh_first", (4,), (2,), 3)
