"""Prices of modes, the check that goes through all schedules in normal form, and the search."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.sjf_bco.data.generate.presets import contended_small
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.proving.bounds.instants import instants
from gadgetopt.models.sjf_bco.proving.bounds.mode_lp import ModeLp
from gadgetopt.models.sjf_bco.proving.certificate import exhaustion
from gadgetopt.models.sjf_bco.proving.certificate.check import (
    ExhaustionPrices,
    SjfBcoCertificate,
    check_bound,
)
from gadgetopt.models.sjf_bco.proving.certificate.mode_prices import (
    LARGEST_PRICE,
    Modes,
    PriceTables,
    price_tables,
)
from gadgetopt.models.sjf_bco.proving.exact.chronological import Chronological
from gadgetopt.models.sjf_bco.proving.exact.chronological_loops import (
    EXHAUSTED,
    FOUND,
)
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.system.result import Limits

from ...exact_instances import optimum_of, tiny_instance
from ...hand_checked import contention_pays, job, staggered_start
from ...hand_checked import instance as hand_checked_instance


def root_prices(instance: SjfBcoInstance) -> tuple[int, ...]:
    idle = [0] * len(instance.jobs)
    prices = ModeLp(Modes(instance)).prices(instance.rates.iterations, idle, Limits())
    assert prices is not None
    return prices


def tables(instance: SjfBcoInstance, *prices: tuple[int, ...]) -> PriceTables:
    return price_tables(Modes(instance), prices)


def no_prices(instance: SjfBcoInstance) -> tuple[int, ...]:
    return (0,) * Modes(instance).first[-1]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("prices_of", [root_prices, no_prices])
def test_one_slot_less_than_the_optimum_is_refuted_and_the_optimum_is_not(seed, prices_of):
    instance, optimum = tiny_instance(seed), optimum_of(seed)
    of_state = tables(instance, prices_of(instance))
    assert exhaustion.refutes(instance, optimum - 1, of_state)
    assert not exhaustion.refutes(instance, optimum, of_state)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("prices_of", [root_prices, no_prices])
def test_search_decides_as_brute_force_does(seed, prices_of):
    instance, optimum = tiny_instance(seed), optimum_of(seed)
    of_state = tables(instance, prices_of(instance))
    assert Chronological(instance, optimum - 1, of_state).step(10**6) == EXHAUSTED
    found = Chronological(instance, optimum, of_state)
    assert found.step(10**6) == FOUND
    checked = evaluate(instance, found.schedule())
    assert checked.feasible
    assert checked.objective == optimum


def test_a_start_between_completions_is_found():
    # E3: the only optima start job 0 at slot 3 or job 1 at slot 7, where no job completes.
    instance = staggered_start()
    of_state = tables(instance, root_prices(instance))
    assert not exhaustion.refutes(instance, 11, of_state)
    search = Chronological(instance, 11, of_state)
    assert search.step(10**6) == FOUND
    assert sorted(search.schedule().start_slot) in ([0, 3], [0, 7])


def test_search_in_steps_gives_the_same_answer():
    jobs = 6 if COMPILED else 4
    instance = contended_small(np.random.default_rng(3), jobs=jobs, servers=3)
    of_state = tables(instance, no_prices(instance))
    makespan = int(instance.rates.exec_min.max())
    whole, parts = (Chronological(instance, makespan, of_state) for _ in range(2))
    whole.step(10**7)
    while parts.step(100) not in (EXHAUSTED, FOUND):
        pass
    assert (parts.answer, parts.nodes) == (whole.answer, whole.nodes)


@pytest.mark.parametrize("seed", range(6))
def test_prices_of_modes_prove_at_least_what_prices_of_iterations_prove(seed):
    instance = contended_small(np.random.default_rng(seed), jobs=6, servers=3)
    lp = ModeLp(Modes(instance))
    lp.prices(instance.rates.iterations, [0] * len(instance.jobs), Limits())
    by_iterations = instants(instance, Limits())
    assert lp.slots >= by_iterations.notes["lp_bound"] - 1e-6


def test_values_are_the_cheapest_ways_to_do_the_work():
    # E2: modes (2, 1), (2, 2), (3, 1), (3, 2) with rates 6, 4, 6, 3 for the 12 iterations.
    instance = contention_pays()
    found = tables(instance, (5, 3, 4, 1, 0, 0, 0, 0))
    # On two servers 2 slots at 5 or 3 at 3; on three 2 at 4, or 4 at 1, and before the start 4.
    assert found.worth[0, 2, [0, 4, 6, 12], 0].tolist() == [0, 3, 5, 9]
    assert found.worth[0, 3, 12, 0] == found.worth[0, 0, 12, 0] == 4
    assert found.per_slot.tolist() == [5]


def test_a_certificate_of_one_slot_too_many_proves_nothing():
    instance = staggered_start()

    def proof(slots: int) -> SjfBcoCertificate:
        prices = ExhaustionPrices(slots=slots, prices=(root_prices(instance),))
        return SjfBcoCertificate(exhaustion=prices)

    assert check_bound(instance, proof(11)) == 11
    assert check_bound(instance, proof(12)) is None


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        (((1, 1),), "prices: 2 for 8 modes of jobs in table 0"),
        (((0,) * 8, (1, 1)), "prices: 2 for 8 modes of jobs in table 1"),
        (((1, 2, 0, 0, 0, 0, 0, 0),), "rises"),
        (((1, 0, 2, 0, 0, 0, 0, 0),), "rises"),
    ],
)
def test_tables_that_are_none_are_refused(prices, message):
    certificate = SjfBcoCertificate(exhaustion=ExhaustionPrices(slots=3, prices=prices))
    with pytest.raises(ValueError, match=message):
        check_bound(contention_pays(), certificate)


def test_a_check_of_too_many_states_is_refused():
    instance = contended_small(np.random.default_rng(0), jobs=10, servers=5)
    with pytest.raises(ValueError, match="more states"):
        exhaustion.refutes(instance, 60, tables(instance, no_prices(instance)), most_states=3)


@pytest.mark.parametrize("slots", [13, 2**33, 6 * 10**9, 2**62, 2**63, 10**30])
def test_no_number_of_slots_makes_prices_overflow(slots):
    # E3 ends in 11 slots. Some of these numbers times the largest price pass 64-bit integers.
    instance = staggered_start()
    prices = (LARGEST_PRICE,) * Modes(instance).first[-1]
    proof = ExhaustionPrices(slots=slots, prices=(prices,))
    assert check_bound(instance, SjfBcoCertificate(exhaustion=proof)) is None


def test_slots_that_hold_more_than_64_bits_are_refused():
    instance = staggered_start()
    most = PriceTables(tables(instance, no_prices(instance)).worth, np.array([2**60]))
    for check in (exhaustion.refutes, Chronological):
        with pytest.raises(ValueError, match="slots can hold"):
            check(instance, 8, most)


def test_jobs_that_the_stack_does_not_hold_are_refused_unless_prices_refute():
    jobs = [job(1, 20 + j % 2, 0.0, 0.09) for j in range(600)]
    inst = hand_checked_instance([600], jobs, horizon=9)
    prices = (1,) * Modes(inst).first[-1]

    def proof(slots: int) -> SjfBcoCertificate:
        return SjfBcoCertificate(exhaustion=ExhaustionPrices(slots=slots, prices=(prices,)))

    assert check_bound(inst, proof(2)) == 2
    with pytest.raises(ValueError, match="600 jobs, expected at most 100"):
        check_bound(inst, proof(9))


@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_of_the_recursion(seed):
    instance, rates = tiny_instance(seed), tiny_instance(seed).rates
    modes = Modes(instance)
    prices = root_prices(instance)
    worth = tables(instance, prices).worth
    for j, of_job in enumerate(modes.of_job):
        for r in rates.server_counts(j):
            ways = [
                (rates.rate(j, r, p), prices[modes.number[j, r, p]]) for q, p in of_job if q == r
            ]
            expected = [0]
            for f in range(1, rates.iterations[j] + 1):
                expected.append(min(v + expected[max(0, f - phi)] for phi, v in ways if phi))
            assert worth[j, r, : len(expected), 0].tolist() == expected


def test_more_modes_than_can_be_listed_are_refused():
    inst = hand_checked_instance([40] * 2000, [job(2000, 20)] * 40)
    proof = ExhaustionPrices(slots=2, prices=((1,),))
    with pytest.raises(ValueError, match=r"exhaustion.prices: jobs: servers by levels to list"):
        check_bound(inst, SjfBcoCertificate(exhaustion=proof))
