"""Exact separation finds a violated cut if and only if enumeration does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.proving.exact.separation import Separator


def entering(inside, tails, heads, load, roots):
    """Capacity that enters a set, with the rates of its roots."""
    held = inside[heads] & ~inside[tails]
    return int(load[held].sum()) + int(roots[inside[: len(roots)]].sum())


@pytest.mark.parametrize("unit", [1, 10**9, 10**25])
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_sets_that_lack_rate_are_found_without_a_tolerance(unit, seed):
    rng = np.random.default_rng(seed)
    workers = int(rng.integers(2, 5))
    n = workers + int(rng.integers(0, 3))
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 0.6]
    if not pairs:
        return
    tails, heads = np.array(pairs).T
    load = rng.integers(1, 9, size=len(pairs)).astype(object) * unit
    roots = rng.integers(0, 4, size=workers).astype(object) * unit
    sets = [np.array(q) for q in product([False, True], repeat=n) if any(q[:workers])]
    least = min(entering(q, tails, heads, load, roots) for q in sets)
    separator = Separator(n, workers, tails, heads)
    assert separator.violated_exactly(load, roots, least) == []
    found = separator.violated_exactly(load, roots, least + 1)
    assert found
    assert min(entering(q, tails, heads, load, roots) for q in found) == least
