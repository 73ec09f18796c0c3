"""The exact search closes large and difficult instances, and says who vouches for the bound."""

import numpy as np
import pytest

from gadgetopt.models.parallel_machines.data.generate.presets import uniform
from gadgetopt.models.parallel_machines.proving.bounds.patterns import Demand
from gadgetopt.models.parallel_machines.proving.exact import bin_search
from gadgetopt.models.parallel_machines.proving.exact.diving import dive
from gadgetopt.models.parallel_machines.proving.exact.enumeration import possible_patterns
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...brute_force import instance_of, run


@pytest.mark.parametrize(("shortest_s", "longest_s"), [(1, 20), (1, 100), (50, 100), (100, 200)])
def test_a_thousand_jobs_on_fifty_machines_are_certified(shortest_s, longest_s):
    instance = uniform(
        np.random.default_rng(0),
        jobs=1000,
        machines=50,
        shortest_s=shortest_s,
        longest_s=longest_s,
    )
    found = run(instance, "bin_search")
    assert found.status == "optimal"
    assert found.bound_voucher == "verified"


@pytest.mark.parametrize(("jobs", "machines"), [(50, 20), (60, 25), (40, 13)])
def test_few_jobs_a_machine_are_closed(jobs, machines):
    instance = uniform(np.random.default_rng(1001), jobs=jobs, machines=machines, longest_s=1000)
    assert run(instance, "bin_search").status == "optimal"


@pytest.mark.parametrize("packer", ["highs", "cpsat"])
@pytest.mark.parametrize("enumerated", [True, False])
def test_an_integer_program_decides_where_dives_fail(packer, enumerated, monkeypatch):
    monkeypatch.setattr(bin_search._Search, "dive", lambda self: False)
    if not enumerated:
        monkeypatch.setattr(bin_search, "possible_patterns", lambda *args: None)
    instance = uniform(np.random.default_rng(1001), jobs=14, machines=5, longest_s=100)
    found = run(instance, f"bin_search:packer={packer}")
    assert found.status == "optimal"
    assert found.objective == run(instance, "patterns@highs").objective


def test_possible_patterns_hold_every_packing():
    # Into machines of 13 the jobs go as 7 + 3 + 3, 7 + 3 + 3 and 7, which idles for 6 of the 6
    # seconds that there are, or as 7 + 3 + 3, 7 + 3 and 7 + 3.
    demand = Demand((7, 3), (3, 4), 3)
    found = possible_patterns(demand, 13, {}, Clock())
    assert {(1, 2), (1, 1), (1, 0)} <= set(found)
    assert possible_patterns(demand, 12, {}, Clock()) == []


def test_a_dive_returns_a_packing_or_nothing():
    demand = Demand((7, 3), (3, 4), 3)
    packing = dive(demand, 13, {}, None, Clock())
    assert tuple(map(sum, zip(*packing, strict=True))) == demand.counts
    assert all(demand.load_s(pattern) <= 13 for pattern in packing)
    assert dive(demand, 12, {}, None, Clock()) is None


def test_without_time_it_returns_what_it_has():
    instance = uniform(np.random.default_rng(1002), jobs=100, machines=33, longest_s=1000)
    found = run(instance, "bin_search", time_s=0.01)
    assert found.status == "feasible"
    assert found.limit_hit == "time_s"
    assert found.bound_voucher == "verified"


def test_what_is_too_large_for_patterns_keeps_its_bound():
    instance = uniform(np.random.default_rng(0), jobs=30, machines=10, longest_s=10**9)
    found = run(instance, "bin_search")
    assert found.status == "feasible"
    assert found.bound_voucher == "verified"
    assert "entries" in found.notes["refused"]


def test_it_stops_at_the_gap_that_was_asked_for():
    # Counting proves 11 and local search finds 12, a gap of 1/12; 12 is optimal.
    instance = instance_of(3, 7, 7, 5, 5, 3, 3, 2)
    found = bin_search.bin_search(instance, Limits(rel_gap=0.1), np.random.default_rng(0))
    assert (found.dual_bound, found.claimed_objective) == (11, 12)
    found = bin_search.bin_search(instance, Limits(rel_gap=0.01), np.random.default_rng(0))
    assert found.dual_bound == 12
