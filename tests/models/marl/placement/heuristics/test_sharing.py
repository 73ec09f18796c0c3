"""Servers that share anew: as good as the best of all ways; moves save what they say they save."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.marl.placement.data.generate import presets
from gadgetopt.models.marl.placement.heuristics import moves
from gadgetopt.models.marl.placement.heuristics.sharing import share_anew
from gadgetopt.models.marl.subproblems.occupancy import Occupancy

from ..brute_force import placements, small_instance, spreads


def some_occupancy(rng):
    """A random placement of a small or a larger instance."""
    instance = small_instance(rng)
    found = list(itertools.islice(placements(instance), 200))
    if not found:
        return None
    return Occupancy.of(instance, found[int(rng.integers(len(found)))].tasks)


def least_by_enumeration(o, servers):
    """The least cost of all ways to share the tasks on some servers."""
    jobs = sorted({j for s in servers for j in o.jobs_on[s]})
    tasks = {j: sum(o.jobs_on[s].get(j, 0) for s in servers) for j in jobs}
    least = o.total()
    for ways in itertools.product(*(spreads(tasks[j], len(servers)) for j in jobs)):
        where = [dict(on) for on in o.servers_of]
        for j, way in zip(jobs, ways, strict=True):
            for s, n in zip(servers, way, strict=True):
                where[j][s] = n
        pairs = [[(s, n) for s, n in on.items() if n] for on in where]
        tried = Occupancy.of(o.instance, pairs)
        if min(tried.free_gpus) >= 0 and min(tried.free_cpus) >= 0:
            least = min(least, tried.total())
    return least


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6))
def test_servers_share_in_the_best_way(seed):
    rng = np.random.default_rng(seed)
    o = some_occupancy(rng)
    if o is None:
        return
    number = min(len(o.jobs_on), int(rng.integers(2, 4)))
    servers = rng.permutation(len(o.jobs_on))[:number].tolist()
    before, least = o.total(), least_by_enumeration(o, servers)
    saved = share_anew(o, servers)
    assert o.total() == pytest.approx(least)
    assert saved == pytest.approx(before - least, abs=1e-6)


@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), per_task=st.booleans())
def test_a_move_saves_what_it_says(seed, per_task):
    rng = np.random.default_rng(seed)
    instance = presets.leaf_spine(rng, jobs=12, servers_per_rack=4)
    instance = instance.model_copy(update={"per_task": per_task})
    o = Occupancy(instance)
    for j in range(len(instance.jobs)):
        moves.insert_job(o, j, range(len(instance.servers)))
    for _ in range(10):
        j = int(rng.integers(len(instance.jobs)))
        move = moves.improve_job if rng.random() < 0.5 else moves.place_anew
        before = o.total()
        saved = move(o, j, range(len(instance.servers)))
        assert saved >= 0
        assert o.total() == pytest.approx(before - saved)
        assert min(o.free_gpus) >= 0
        assert [sum(on.values()) for on in o.servers_of] == [x.num_tasks for x in instance.jobs]
