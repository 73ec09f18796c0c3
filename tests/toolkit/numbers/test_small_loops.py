"""A loop is plain Python while little is asked of it, machine code from then on, and never half."""

import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from gadgetopt.numbers import compiled as loops
from gadgetopt.numbers.alarm import TimeUp, ended_after
from gadgetopt.numbers.compiled import COMPILED, compiled
from gadgetopt.numbers.compiling import compiling_s
from gadgetopt.search.clock import Clock

with_numba = pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")


def counted_up(values, rounds):
    for k in range(rounds):
        values[k % len(values)] += 1
    return values[0], (values.sum() > 0, 0.5 * values[1])


@pytest.fixture
def loop():
    """Return a loop that nobody has called."""
    return compiled(counted_up)


def test_a_small_loop_imports_no_numba_and_returns_numbers_of_python():
    code = (
        "import sys, numpy as np\n"
        "from gadgetopt.numbers.compiled import compiled\n"
        "@compiled\n"
        "def largest(values):\n"
        "    return values.max(), (values[0] > 1, 2.5 * values[0])\n"
        "found = largest(np.arange(3))\n"
        "print(found, *map(type, (found[0], *found[1])), 'numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kinds = "<class 'int'> <class 'bool'> <class 'float'>"
    assert done.stdout == f"(2, (False, 0.0)) {kinds} False\n"


@with_numba
def test_a_loop_that_becomes_dear_is_given_up_and_done_by_machine_code(loop, monkeypatch):
    monkeypatch.setattr(loops, "READ_S", 0.05)  # the cache may have its code
    monkeypatch.setattr(loops, "COMPILE_S", 0.05)
    values, before_s, clock = np.zeros(2, np.int64), compiling_s(), Clock()
    began_s = time.perf_counter()
    assert loop(values, 3_000_000) == (1_500_000, (True, 750_000.0))
    assert values.tolist() == [1_500_000, 1_500_000]
    assert loop.plain_s >= 0.05
    # Neither what was given up nor the compiling is anybody's time.
    assert compiling_s() - before_s >= 0.05
    assert clock.elapsed_s < 0.5 * (time.perf_counter() - began_s)
    plain_s = loop.plain_s
    assert loop(values, 2)[0] == 1_500_001
    assert loop.plain_s == plain_s


@with_numba
def test_many_small_calls_become_dear_too(loop, monkeypatch):
    monkeypatch.setattr(loops, "READ_S", 0.002)
    monkeypatch.setattr(loops, "COMPILE_S", 0.002)
    values = np.zeros(2, np.int64)
    for _ in range(1000):
        loop(values, 100)
    assert values.tolist() == [50_000, 50_000]
    assert 0.002 <= loop.plain_s < 0.1


def test_large_arrays_make_a_loop_dear(loop):
    """What they hold is kept before every call as plain Python; that takes its time, too."""
    loop(np.zeros(2, np.int64), 2)
    small_s = loop.plain_s
    loop(np.zeros(10_000_000, np.int64), 2)
    assert loop.plain_s >= 10 * small_s


def test_a_loop_that_is_interrupted_has_not_begun(loop, monkeypatch):
    monkeypatch.setattr(loops, "READ_S", 60.0)
    values = np.arange(2)
    with pytest.raises(TimeUp), ended_after(0.05):
        loop(values, 10**9)
    assert values.tolist() == [0, 1]
    assert loop(values, 3)[0] == 2


@with_numba
def test_a_thread_that_no_alarm_can_end_takes_machine_code(loop):
    values, before_s = np.zeros(2, np.int64), loop.plain_s
    thread = threading.Thread(target=loop, args=(values, 10))
    thread.start()
    thread.join()
    assert values.tolist() == [5, 5]
    assert loop.plain_s == before_s
    assert loop.signatures == 1


@compiled
def found_by_name(value):
    return value


def test_a_loop_travels_by_its_name():
    assert pickle.loads(pickle.dumps(found_by_name)) is found_by_name
