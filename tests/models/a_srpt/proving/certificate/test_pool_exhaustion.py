"""All schedules of the pool that prices leave: enumeration, and the search's own program."""

import numpy as np
import pytest

from gadgetopt.models.a_srpt.data.generate.presets import pool, quickstart
from gadgetopt.models.a_srpt.proving.certificate import pool_exhaustion
from gadgetopt.models.a_srpt.proving.certificate.cluster_exhaustion import (
    none_cheaper as none_cheaper_on_servers,
)
from gadgetopt.models.a_srpt.proving.certificate.pool_exhaustion import none_cheaper
from gadgetopt.models.a_srpt.proving.exact.state_search import StateSearch
from gadgetopt.models.a_srpt.proving.start_costs import starts_below
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.search.clock import Clock

from ...rigid_jobs import (
    instance_of,
    pool_optimum,
    random_jobs,
)

MANY = 10**7


def price_lists(rng):
    """Return prices of nothing, and random ones, with their denominators."""
    yield np.zeros(1, dtype=np.int64), 1
    yield rng.integers(0, 9, int(rng.integers(1, 40))), int(rng.integers(1, 6))


def refuted_by_the_search(relaxed, prices, denominator, below):
    left = starts_below(relaxed, prices, denominator, below)
    search = StateSearch(relaxed, left, below)
    return left.none_better or (search.run(MANY, Clock()) and search.starts is None)


def some_pool(seed):
    """Return a pool of a few jobs of random sizes, and one GPU or several."""
    rng = np.random.default_rng(seed)
    gpus = int(rng.integers(1, 7))
    weights = ((1,), (1, 1, 2, 3), (2, 4))[seed % 3]
    return pool_of(instance_of((gpus,), random_jobs(rng, int(rng.integers(1, 8)), gpus, weights)))


@pytest.mark.parametrize("seed", range(30))
def test_no_prices_show_that_the_optimum_is_not_there(seed):
    rng = np.random.default_rng(seed)
    instance = instance_of((4,), random_jobs(rng, 5, 4))
    relaxed = pool_of(instance)
    optimum = int(pool_optimum(instance) * relaxed.weight_scale)
    for prices, denominator in price_lists(rng):
        assert none_cheaper(relaxed, prices, denominator, optimum, MANY)
        for below in (optimum + 1, optimum + 5):
            assert not none_cheaper(relaxed, prices, denominator, below, MANY)


@pytest.mark.parametrize("block", range(10))
def test_it_refutes_what_the_search_refutes_and_nothing_else(block):
    """Of 300 pools, costs around the least one; the two share no function."""
    for seed in range(30 * block, 30 * block + 30):
        relaxed, rng = some_pool(seed), np.random.default_rng(seed)
        soonest = int(relaxed.weight @ (relaxed.release + relaxed.duration))
        for prices, denominator in price_lists(rng):
            answers = []
            for more in range(1, 60, 3):
                mine = none_cheaper(relaxed, prices, denominator, soonest + more, MANY)
                assert mine == refuted_by_the_search(relaxed, prices, denominator, soonest + more)
                answers.append(mine)
                if not mine:
                    break
            assert answers == sorted(answers, reverse=True)


@pytest.mark.parametrize("seed", range(20))
def test_a_server_with_all_gpus_is_the_pool(seed):
    """Plain Python over schedules on servers refutes the same; the two share no code."""
    rng = np.random.default_rng(seed)
    instance = instance_of((4,), random_jobs(rng, 6, 4))
    relaxed = pool_of(instance)
    soonest = int(relaxed.weight @ (relaxed.release + relaxed.duration))
    prices = rng.integers(0, 4, 30)
    for more in range(1, 30, 4):
        mine = none_cheaper(relaxed, prices, 4, soonest + more, MANY)
        assert mine == none_cheaper_on_servers(instance, prices.tolist(), 4, soonest + more)


class Twins:
    """A loop that is called both as machine code and as plain Python."""

    def __init__(self, loop):
        self.loop = loop
        self.calls = 0

    def __call__(self, *arguments):
        self.calls += 1
        twin = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
        here, there = self.loop.machine_code(*arguments), self.loop.plain(*twin)
        assert here == there
        made = here[1] if isinstance(here, tuple) else here
        written = -2 if isinstance(here, tuple) else 0  # `found`, or the rows themselves
        assert (arguments[written][:made] == twin[written][:made]).all()
        return here


@pytest.mark.skipif(not COMPILED, reason="loops are not compiled here")
def test_compiled_loops_say_the_same(monkeypatch):
    """Of pools of up to 70 jobs, whose states need two words; and with room for few states."""
    states_after = Twins(pool_exhaustion.states_after)
    cheapest = Twins(pool_exhaustion.cheapest_of_each)
    monkeypatch.setattr(pool_exhaustion, "states_after", states_after)
    monkeypatch.setattr(pool_exhaustion, "cheapest_of_each", cheapest)
    relaxed = [some_pool(seed) for seed in range(20)]
    relaxed += [pool_of(pool(np.random.default_rng(seed), jobs=70)) for seed in range(2)]
    for block in (1 << 14, 1, 3):
        monkeypatch.setattr(pool_exhaustion, "BLOCK", block)
        for one in relaxed:
            soonest = int(one.weight @ (one.release + one.duration))
            for more in (2, 9, 30):
                none_cheaper(one, np.ones(9, dtype=np.int64), 3, soonest + more, 2000)
    assert states_after.calls > 1000
    assert cheapest.calls > 300


def test_room_for_one_state_is_enough(monkeypatch):
    for seed in range(20):
        relaxed = some_pool(seed)
        soonest = int(relaxed.weight @ (relaxed.release + relaxed.duration))
        costs = range(soonest, soonest + 40, 5)
        nothing = np.zeros(1, dtype=np.int64), 1
        wide = [none_cheaper(relaxed, *nothing, below, MANY) for below in costs]
        monkeypatch.setattr(pool_exhaustion, "BLOCK", 1)
        assert [none_cheaper(relaxed, *nothing, below, MANY) for below in costs] == wide
        monkeypatch.undo()


def test_more_jobs_than_a_word_has_bits_are_told_apart():
    """Of 130 jobs of one GPU each, all wait for the one before them; one more tick is too few."""
    jobs = [(0, 1, 1, 1)] * 130
    relaxed = pool_of(instance_of((1,), jobs))
    optimum = sum(range(1, 131))
    nothing = np.zeros(1, dtype=np.int64), 1
    assert none_cheaper(relaxed, *nothing, optimum, MANY)
    assert not none_cheaper(relaxed, *nothing, optimum + 1, MANY)


def test_what_is_too_much_to_look_at_proves_nothing(monkeypatch):
    relaxed = pool_of(pool(np.random.default_rng(0), jobs=14))
    zeros = np.zeros(1, dtype=np.int64)
    below = int(relaxed.weight @ (relaxed.release + relaxed.duration)) + 20
    assert not none_cheaper(relaxed, zeros, 1, below, 1)
    assert not none_cheaper(relaxed, zeros, 10**40, below, MANY)
    least = int(relaxed.weight @ (relaxed.release + relaxed.duration))
    assert none_cheaper(relaxed, zeros, 1, least + 1, MANY)
    monkeypatch.setattr(pool_exhaustion, "MOST_ENTRIES", 50)
    assert not none_cheaper(relaxed, zeros, 1, least + 1, MANY)
    monkeypatch.setattr(pool_exhaustion, "MOST_STARTS", 50)
    assert not none_cheaper(relaxed, zeros, 1, least + 1, MANY)


def test_a_claim_that_would_take_for_ever_ends():
    """Sixty jobs may each wait a tick, but then they wait for long: all subsets are too dear."""
    jobs = [(0, 1, 1000 + k, 1) for k in range(60)]
    relaxed = pool_of(instance_of((60,), jobs))
    below = int(relaxed.weight @ (relaxed.release + relaxed.duration)) + 100
    assert not none_cheaper(relaxed, np.zeros(1, dtype=np.int64), 1, below, 10**5)


@pytest.mark.parametrize("seed", range(3))
def test_a_quickstart_instance_has_the_optimum_of_the_search(seed):
    relaxed = pool_of(quickstart(np.random.default_rng(seed)))
    zeros = np.zeros(1, dtype=np.int64)
    least = int(relaxed.weight @ (relaxed.release + relaxed.duration))
    while none_cheaper(relaxed, zeros, 1, least + 1, MANY):
        least += 1
    assert refuted_by_the_search(relaxed, zeros, 1, least)
    assert not refuted_by_the_search(relaxed, zeros, 1, least + 1)
