"""Cheapest partitions and subpartitions against the enumeration of all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.pieces.graphs.truncation import cheapest_family
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits


def families(nodes, partition):
    """List all families of disjoint sets of the nodes; partitions leave no node out."""
    if not nodes:
        return [[]]
    first, *others = nodes
    found = []
    for family in families(others, partition):
        found.append([[first], *family])
        for i, part in enumerate(family):
            found.append([*family[:i], [first, *part], *family[i + 1 :]])
        if not partition:
            found.append(family)
    return found


def cost(capacity, price, family):
    total = 0
    for part in family:
        outside = [u for u in range(len(capacity)) if u not in part]
        total += int(capacity[np.ix_(outside, part)].sum()) - price
    return total


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(0, 20), st.booleans())
@settings(max_examples=80, deadline=None)
def test_the_family_is_a_cheapest_one(seed, n, price, partition):
    capacity = np.random.default_rng(seed).integers(0, 8, (n, n))
    np.fill_diagonal(capacity, 0)
    value, family = cheapest_family(capacity, price, partition=partition)
    assert value == cost(capacity, price, family)
    assert value == min(cost(capacity, price, f) for f in families(list(range(n)), partition))
    members = [v for part in family for v in part]
    assert len(members) == len(set(members))
    assert not partition or sorted(members) == list(range(n))


@pytest.mark.parametrize("partition", [True, False])
def test_there_is_no_family_when_time_is_up(partition):
    capacity = np.ones((3, 3), dtype=np.int64)
    clock = Clock(Limits(time_s=0.0))
    assert cheapest_family(capacity, 1, partition=partition, clock=clock) is None
