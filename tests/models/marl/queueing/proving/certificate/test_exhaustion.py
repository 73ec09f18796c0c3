"""All plans, slot by slot: enumeration, the search's own program, and claims of anybody."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.marl.queueing.data.generate import presets
from gadgetopt.models.marl.queueing.proving.certificate import exhaustion
from gadgetopt.models.marl.queueing.proving.certificate.check import (
    QueueingCertificate,
    check_bound,
    mean_completion_s,
)
from gadgetopt.models.marl.queueing.proving.certificate.exhaustion import (
    none_below,
    shortest_first,
)
from gadgetopt.models.marl.queueing.proving.certificate.slot_fillings import (
    SlotFillings,
    TooMuchError,
)
from gadgetopt.models.marl.queueing.proving.exact.plan_search import PlanSearch, one_machine
from gadgetopt.models.marl.queueing.proving.exact.slot_ways import SlotWays
from gadgetopt.models.marl.subproblems.cluster import Measured

from ...brute_force import best_plan, small_architecture, small_instance


def slots_of(instance, value):
    """The sum of last slots that a mean completion time stands for."""
    one = mean_completion_s(instance, 1) - mean_completion_s(instance, 0)
    slots = (value - mean_completion_s(instance, 0)) / one
    assert slots == int(slots)
    return int(slots)


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_of_enumeration_is_proved_and_no_more(seed):
    draw = small_architecture if seed % 4 == 0 else small_instance
    instance = draw(np.random.default_rng(2000 + seed))
    best = best_plan(instance)
    if best is None:
        assert none_below(instance, len(instance.jobs) * instance.num_slots + 1)
        return
    least = slots_of(instance, Fraction(best[0]))
    for slots in range(least + 1):
        assert none_below(instance, slots)
    for slots in range(least + 1, least + 4):
        assert not none_below(instance, slots)


def random_instance(seed):
    """Return an instance of one kind or another, with more jobs than enumeration allows."""
    rng = np.random.default_rng(seed)
    if seed % 4 == 0:
        return small_architecture(rng)
    if seed % 4 == 1:
        return small_instance(rng)
    racks = int(rng.integers(1, 3))
    return presets.poisson(
        rng, jobs=int(rng.integers(2, 6)), racks=racks, servers_per_rack=2 // racks,
        gpus=int(rng.integers(1, 4)), slots=8, slots_between=0.4, tasks=(1, 2, 2),
        migration=seed % 4 == 2,
    )  # fmt: skip


@pytest.mark.parametrize("block", range(10))
def test_it_refutes_what_the_search_refutes_and_nothing_else(block):
    """Of 300 instances, sums of last slots around the least; the two share no function."""
    for seed in range(30 * block, 30 * block + 30):
        instance = random_instance(seed)
        search = PlanSearch(instance)
        first, most = search.bound(), len(instance.jobs) * instance.num_slots
        for slots in range(first, most + 2):
            refuted = none_below(instance, slots)
            assert refuted == (search.run(slots) is None)
            if not refuted:
                break


@pytest.mark.parametrize("seed", range(100))
def test_fillings_of_a_slot_are_those_of_the_search(seed):
    """With migration the iterations that are worth it, else all of them; two programs."""
    instance = random_instance(seed)
    jobs = tuple(range(len(instance.jobs)))
    fillings = SlotFillings(instance, 10**6)
    mine = {rates for rates, _ in fillings.of(jobs, fillings.empty())}
    ways = SlotWays(instance, 10**6, lambda: False).of(jobs, ()).rates
    others = set(map(tuple, ways.tolist()))
    if instance.migration:
        assert others <= mine
        mine = {x for x in mine if not any(_as_good(y, x) for y in mine - {x})}
        others = {x for x in others if not any(_as_good(y, x) for y in others - {x})}
    assert mine == others


def _as_good(rates, others):
    return all(x >= y for x, y in zip(rates, others, strict=True))


def test_one_job_on_alike_servers_has_few_fillings_by_hand():
    """Two tasks on three servers of two GPUs: both on one, one on each of two, or none."""
    instance = presets.poisson(
        np.random.default_rng(0), jobs=1, racks=1, servers_per_rack=3, gpus=2, tasks=(2,)
    )
    fillings = SlotFillings(instance, 1000)
    found = [[len(x) for x in filling] for _, filling in fillings.of((0,), fillings.empty())]
    assert sorted(sorted(x) for x in found) == [[0, 0, 0], [0, 0, 1], [0, 1, 1]]


@pytest.mark.parametrize("seed", range(20))
def test_whatever_a_certificate_says_it_proves_no_more_than_the_optimum(seed):
    rng = np.random.default_rng(3000 + seed)
    instance = small_instance(rng)
    best = best_plan(instance)
    for slots in {0, *rng.integers(0, 3 * instance.num_slots, size=4).tolist(), 10**30}:
        certificate = QueueingCertificate(kind="exhaustion", slots=slots)
        if best is not None and slots > slots_of(instance, Fraction(best[0])):
            with pytest.raises(ValueError, match="slots: "):
                check_bound(instance, certificate)
        elif slots <= len(instance.jobs) * instance.num_slots:
            assert best is None or check_bound(instance, certificate) <= best[0]


def test_shortest_remaining_first_by_hand():
    """Speed 2: work 3 from slot 0, work 1 from slot 1. The first has done 2 when the other comes;
    both have 1 left, and end at 1.5 and 2: in the second slot."""
    assert shortest_first([(0, 3), (1, 1)], 2) == [2, 2]


@pytest.mark.parametrize("seed", range(200))
def test_shortest_remaining_first_is_that_of_the_search(seed):
    rng = np.random.default_rng(seed)
    jobs = int(rng.integers(1, 9))
    work = list(
        zip(
            rng.integers(0, 12, jobs).tolist(),
            rng.integers(1, 30, jobs).tolist(),
            strict=True,
        )
    )
    speed = int(rng.integers(1, 9))
    assert shortest_first(work, speed) == one_machine(work, speed)


def test_slowdowns_that_are_no_sums_are_refused():
    instance = presets.tiny(np.random.default_rng(0))
    measured = (Measured(victim=0, neighbours=(1, 0), slowdown=Fraction(1)),)
    instance = instance.model_copy(update={"measured": measured})
    certificate = QueueingCertificate(kind="exhaustion", slots=1)
    with pytest.raises(ValueError, match="slots: 1: the check would take too long"):
        check_bound(instance, certificate)


@pytest.mark.parametrize("limit", ["MOST_STATES", "MOST_STEPS"])
def test_a_check_of_too_much_ends(monkeypatch, limit):
    monkeypatch.setattr(exhaustion, limit, 5)
    instance = presets.paper(np.random.default_rng(0))
    with pytest.raises(TooMuchError):
        none_below(instance, 28)
