"""The time of compiling loops and of reading them from their cache is told and not counted."""

import re
import threading
import time

import numpy as np
import pytest

from gadgetopt.numbers import compiling
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.search.alarm import TimeUp, ended_after
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

pytestmark = pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")


def new_loop():
    """Return a loop of two functions that is not compiled yet, and kept in no cache."""
    import numba

    compiling.follow_numba()

    @numba.njit
    def square(x):
        return x * x

    @numba.njit
    def total(values):
        out = 0.0
        for value in np.sort(values):
            out += square(value)
        return out

    return total


def test_clocks_stand_still_while_a_loop_is_compiled():
    loop, began = new_loop(), time.perf_counter()
    clock = Clock(Limits(time_s=60.0))
    with clock.phase("loop"):
        assert loop(np.arange(4.0)) == 14.0
    seconds = time.perf_counter() - began
    assert seconds > 0.1
    assert clock.elapsed_s < seconds / 4
    assert clock.left_s > 60.0 - seconds / 4
    assert clock.phases_s["loop"] < seconds / 4


def test_a_compilation_that_has_ended_holds_up_no_alarm():
    new_loop()(np.arange(4.0))
    assert not compiling.is_compiling()
    with pytest.raises(TimeUp), ended_after(0.05):
        time.sleep(10)


def test_no_alarm_rings_within_numba_which_swallows_it():
    at_work = []
    with compiling.listening(lambda *_: at_work.append(compiling.is_compiling())):
        new_loop()(np.arange(4.0))
    assert at_work == [True, True, True]  # reading, compiling, and until it was told: compiled
    assert not compiling.is_compiling()


def test_listeners_hear_of_a_compilation_once_whatever_it_compiles_on_the_way():
    loop, heard = new_loop(), []
    with compiling.listening(lambda event, seconds: heard.append((event, seconds))):
        for _ in range(2):
            loop(np.arange(4.0))
    assert [event for event, _ in heard] == ["reading", "compiling", "compiled"]
    assert heard[-1][1] > 0.05


def test_a_compilation_is_announced_in_one_line_and_its_seconds_in_another():
    said = []
    with compiling.announcing(said.append):
        for _ in range(2):
            new_loop()(np.arange(4.0))
    assert said[0] == compiling.SAID
    assert re.fullmatch(rf"{compiling.DONE} \d+\.\d s", said[1])
    assert len(said) == 2


def test_threads_that_wait_for_each_others_compiling_count_it_once():
    before, began = compiling.compiling_s(), time.perf_counter()
    threads = [threading.Thread(target=new_loop(), args=(np.arange(4.0),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < compiling.compiling_s() - before <= time.perf_counter() - began


def test_a_loop_that_cannot_be_compiled_leaves_the_clocks_running():
    import numba

    loop = numba.njit(lambda x: object() + x)
    with pytest.raises(numba.core.errors.NumbaError):
        loop(1)
    clock = Clock()
    time.sleep(0.02)
    assert clock.elapsed_s >= 0.02
