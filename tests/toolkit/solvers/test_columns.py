"""The columns of a restricted master."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.result import Limits, Status


def cover(demand: list[int]) -> PersistentLp:
    """Return a program whose rows ask for a demand, with a column of its own before the pool's."""
    lp = PersistentLp("min")
    rows = len(demand)
    lp.add_rows(demand, [np.inf] * rows, [0] * rows, [], [])
    lp.add_columns([10.0], [0.0], [np.inf], [0], list(range(rows)), [1.0] * rows)
    return lp


def test_patterns_that_enter_lower_the_cost():
    lp = cover([3, 2])
    pool: ColumnPool[str] = ColumnPool(lp)
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.objective == pytest.approx(30)
    assert pool.add("a", "one of each", 1.0, [0, 1], [1, 1])
    assert pool.add("b", "the first", 0.5, [0], [1])
    assert pool.enter() == 2
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.objective == pytest.approx(2.5)
    assert dict(pool.used(1e-9)) == pytest.approx({"one of each": 2, "the first": 1})
    assert pool.values.tolist() == pytest.approx([2, 1])


def test_a_known_key_does_not_enter_again():
    lp = cover([1])
    pool: ColumnPool[int] = ColumnPool(lp)
    assert pool.add((0, "x"), 0, 1.0, [0], [1])
    assert not pool.add((0, "x"), 1, 0.5, [0], [1])
    assert (0, "x") in pool
    assert (1, "x") not in pool
    assert (pool.enter(), pool.enter(), pool.payloads) == (1, 0, [0])
    assert lp.num_columns == 2


def test_a_column_may_have_no_rows():
    pool: ColumnPool[None] = ColumnPool(cover([1]))
    pool.add("idle", None, 0.0, [], [])
    pool.add("full", None, 1.0, np.array([0]), np.array([1]))
    assert pool.enter() == 2


def test_columns_may_have_an_upper_bound():
    lp = cover([3])
    pool: ColumnPool[str] = ColumnPool(lp, most=1.0)
    pool.add("a", "cheap", 1.0, [0], [1])
    pool.enter()
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert dict(pool.used(1e-9)) == pytest.approx({"cheap": 1})
    assert lp.objective == pytest.approx(21)
