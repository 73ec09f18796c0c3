"""Every compiled loop gives, to the last bit, what it gives as plain Python."""

import copy

import numpy as np
import pytest

from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.models.pd_ors.algorithms.pd_ors import pd_ors
from gadgetopt.models.pd_ors.data.generate.presets import desk
from gadgetopt.models.pd_ors.proving.exact.priced_search import relaxation_prices
from gadgetopt.models.pd_ors.proving.exact.repacking_search import RepackingSearch
from gadgetopt.numbers import compiled
from gadgetopt.numbers.compiled import COMPILED, Loop, all_loops
from gadgetopt.pieces.knapsack.heuristics.deviations import NearRelaxation
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: Calls of a loop that are made both ways.
CALLS = 5

#: Runs that call all loops between them, with seconds: of the quickstart instance, or of a preset's
#: first.
RUNS = (
    ("a_srpt", "quickstart", ("price_guided",), 20.0),
    ("bgl_cache", "quickstart", (), 20.0),
    ("bgl_partition", "quickstart", ("annealing",), 20.0),
    ("bgl_partition", "planted", ("elimination_bound",), 20.0),
    ("dapple", "paper", ("exact_plans",), 20.0),
    ("forest_packing", "quickstart", (), 20.0),
    ("knapsack", "paper", (), 20.0),
    ("knapsack", "paper", ("memetic",), 2.0),
    ("oneflow_sbp", "quickstart", ("reparametrisation",), 20.0),
    ("pipeline_schedules", "quickstart", ("annealing",), 2.0),
    ("sjf_bco", "mini_paper", ("gpu_bins", "ladder:gpu_bins=false", "priced_search"), 20.0),
    ("sjf_bco", "mini_paper", ("nested_blocks", "gang_levels", "order_annealing"), 2.0),
    ("spp", "paper", ("exact_spp",), 20.0),
)

#: Loops of checkers and of searches for many microbatches, held against plain Python in tests of
#: their own (tests/toolkit/pieces/pipeline/all_plans/proofs and exact_orders,
#: tests/models/a_srpt/proving/certificate, tests/models/bgl/partition/proving/certificate).
TESTED_THERE = {
    "bound_of",
    "cheapest_of_each",
    "cheapest_of_two",
    "earliest",
    "extended",
    "first_as_good",
    "first_of_each",
    "states_after",
    "without_sequence",
}


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

    def both_ways(loop, *arguments):
        return twins.call(loop, *arguments)

    monkeypatch.setattr(Loop, "__call__", both_ways)
    for system, preset, methods, time_s in RUNS:
        document = first_instance(system, preset)
        for name in methods or document.problem.default_methods:
            result = solve(document, name, Limits(time_s=time_s))
            assert result.status != "error", result.reason
    go_near_a_relaxation()
    repack_a_schedule()
    loops = [loop for loop in all_loops() if loop.__module__.startswith("gadgetopt.")]
    missed = [x for x in loops if x not in twins.called and not within_others(x)]
    assert {loop.plain.__qualname__ for loop in missed} <= TESTED_THERE


def go_near_a_relaxation():
    knapsack = scaled(paper(np.random.default_rng(1), items=40, rows=5)).knapsack
    search = NearRelaxation(knapsack, linear_relaxation(knapsack), np.array([], dtype=np.int64))
    search.run(Clock(Limits(time_s=5.0)))


def repack_a_schedule():
    instance = desk(np.random.default_rng(4), jobs=20)
    prices = relaxation_prices(instance, Limits())
    first = pd_ors(instance, Limits()).solution
    RepackingSearch(instance, prices, np.random.default_rng(0)).run(first, Limits(), 50)


def first_instance(system, preset):
    if preset == "quickstart":
        return read_instance(library() / "quickstart" / f"{system}.json")
    return next(documents_of(Series(system=system, preset=preset)))
