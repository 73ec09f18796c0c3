"""The local search is no worse than what it starts from, and stops at a bound."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines.heuristics import local_search
from gadgetopt.models.parallel_machines.heuristics.local_search import PairSearch, first_schedule
from gadgetopt.search.clock import Clock

from ..brute_force import instance_of, optimum, run, small_instances


@given(instance=small_instances(9))
def test_it_is_no_worse_than_lpt_and_differencing(instance):
    found = run(instance, "local_search").objective
    assert found <= min(run(instance, m).objective for m in ("lpt", "differencing"))
    assert instance.mean_load_s <= found


@given(instance=small_instances())
def test_two_machines_are_divided_optimally(instance):
    two = instance.model_copy(update={"machines": 2})
    assert run(two, "local_search").objective == optimum(two)


def test_where_sums_are_too_many_pairs_are_differenced(monkeypatch):
    instance = instance_of(2, 8, 7, 6, 5, 4)
    search = PairSearch(instance, [[0, 1, 2, 3], [4]], None)
    monkeypatch.setattr(local_search, "MOST_BITS", 1)
    search.run(15, 0, Clock())
    assert search.makespan_s == 16


class EveryPair(PairSearch):
    """The search that pairs the most loaded machine with all others, however often it has."""

    def _untried(self, i):
        return sorted((load_s, k) for k, load_s in enumerate(self.load_s))


@given(
    times=st.lists(st.integers(5, 60), min_size=2, max_size=30),
    machines=st.integers(2, 10),
    seed=st.integers(0, 100),
)
def test_pairs_that_did_not_change_are_not_needed_again(times, machines, seed):
    instance = instance_of(machines, *times)
    bound = instance.mean_load_s
    first = first_schedule(instance, bound, Clock())
    found = []
    for kind in (PairSearch, EveryPair):
        search = kind(instance, first, np.random.default_rng(seed))
        search.run(bound, 20, Clock())
        found.append((search.jobs_of, search.load_s))
    assert found[0] == found[1]
