"""Every compiled loop gives, to the last bit, what it gives as plain Python."""

import copy

import numpy as np
import pytest

from gadgetopt.numbers import compiled
from gadgetopt.numbers.compiled import COMPILED, Loop, all_loops
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: Calls of a loop that are made both ways.
CALLS = 5

#: Runs that call all loops between them: of the quickstart instance, or of a preset's first.
RUNS = (
    ("a_srpt", "quickstart", ("price_guided",)),
    ("bgl_cache", "quickstart", ("default",)),
    ("bgl_partition", "quickstart", ("default",)),
    ("dapple", "paper", ("default",)),
    ("forest_packing", "quickstart", ("default",)),
    ("knapsack", "paper", ("default", "memetic")),
    ("pd_ors", "paper", ("default",)),
    ("sjf_bco", "paper", ("default",)),
)

#: Seconds of a run.
LIMIT_S = 10.0


class Twins:
    """Calls loops as plain Python and as machine code, and compares what comes out."""

    def __init__(self):
        self.called: dict[Loop, int] = {}

    def call(self, loop, *arguments):
        if getattr(compiled._here, "in_plain_loop", False):
            return loop.plain(*arguments)
        number = self.called[loop] = self.called.get(loop, 0) + 1
        if number > CALLS:
            return loop.machine_code(*arguments)
        twin = copy.deepcopy(arguments)
        done, value = loop._plainly(twin, {}, 60.0)
        assert done, f"{loop.plain.__qualname__} takes too long as plain Python"
        here = loop.machine_code(*arguments)
        assert alike(here, value), f"{loop.plain.__qualname__} returns {here}, plain {value}"
        assert alike(arguments, twin), f"{loop.plain.__qualname__} leaves other arrays behind"
        return here


def alike(one, other):
    """Return True if two values are of one type and equal to the last bit."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=True)
    return type(one) is type(other) and one == other


def within_others(loop):
    """Return True if another loop calls a loop."""
    return any(
        other.plain.__globals__.get(name) is loop
        for other in all_loops()
        for name in other.plain.__code__.co_names
    )


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")
def test_loops_give_the_same_as_plain_python(monkeypatch):
    twins = Twins()
    monkeypatch.setattr(Loop, "__call__", lambda loop, *args: twins.call(loop, *args))
    for system, preset, methods in RUNS:
        document = first_instance(system, preset)
        for method in methods:
            names = document.problem.default_methods if method == "default" else (method,)
            for name in names:
                result = solve(document, name, Limits(time_s=LIMIT_S))
                assert result.status != "error", result.reason
    library_loops = [loop for loop in all_loops() if loop.__module__.startswith("gadgetopt.")]
    missed = {loop for loop in library_loops if loop not in twins.called}
    assert [loop.plain.__qualname__ for loop in missed if not within_others(loop)] == []


def first_instance(system, preset):
    if preset == "quickstart":
        return read_instance(library() / "quickstart" / f"{system}.json")
    return next(documents_of(Series(system=system, preset=preset)))
