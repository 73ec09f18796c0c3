"""Compiled loops give what plain Python gives, and a run says when they were not compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest

from gadgetopt.numbers.compiled import COMPILED, compiled, slow_note, taken_in


@compiled
def total_of_squares(values: np.ndarray) -> int:
    total = 0
    for value in values:
        total += value * value
    return total


def test_a_compiled_loop_gives_the_value_of_the_plain_one() -> None:
    values = np.arange(1000, dtype=np.int64)
    assert total_of_squares(values) == sum(k * k for k in range(1000))


@compiled
def add(values: np.ndarray, index: int, amount: int) -> None:
    values[index] += amount


@compiled
def add_constants(values: np.ndarray) -> None:
    add(values, 0, 1)
    add(values, 1, -2)
    for index in range(len(values)):
        add(values, index, index)


@pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")
def test_a_loop_is_compiled_once_for_all_constants() -> None:
    values = np.zeros(3)
    add_constants(values)
    assert values.tolist() == [1, -1, 2]
    # None where its caller was read from the cache.
    assert add.signatures <= 1


@taken_in
def first_above(values: np.ndarray, least: int) -> int:
    for index in range(len(values)):
        if values[index] > least:
            return index
    return -1


@compiled
def firsts_above(values: np.ndarray, found: np.ndarray) -> None:
    for least in range(len(found)):
        found[least] = first_above(values, least)


@pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")
def test_a_loop_that_others_take_in_is_not_compiled_by_itself() -> None:
    values, found = np.array([0, 3, 1, 5]), np.zeros(6, dtype=np.int64)
    for firsts in (firsts_above, firsts_above.machine_code):
        found[:] = 0
        firsts(values, found)
        assert found.tolist() == [1, 1, 1, 3, 3, -1]
    assert first_above.signatures == 0


def test_the_note_tells_of_loops_that_are_not_compiled() -> None:
    assert bool(slow_note()) is not COMPILED
    code = (
        "from gadgetopt.numbers.compiled import COMPILED, slow_note; print(COMPILED, *slow_note())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.split() == ["False", "slow"]


def test_loops_run_where_numba_is_absent() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from gadgetopt.numbers.compiled import COMPILED, compiled\n"
        "print(COMPILED, compiled(lambda x: x + 1)(2))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.split() == ["False", "3"]
