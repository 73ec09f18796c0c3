"""Randomised rounding of the program of one slot."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pd_ors.subproblems.slot_relaxation import SlotLp
from gadgetopt.models.pd_ors.subproblems.slot_rounding import (
    Fallback,
    acceptable,
    slot_factor,
    slot_rounding,
    trimmed,
)
from gadgetopt.models.pd_ors.subproblems.slot_tables import Placements, Room, exact_table
from gadgetopt.models.pd_ors.terms import JobTerms
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.bicriteria import lemma, measure
from gadgetopt.pieces.rounding import Keep

from ..kernel_instances import cluster, job, random_instance


def round_slot(
    job: JobTerms,
    n: int,
    price: Floats,
    room: Ints,
    *,
    factor: float = 1.0,
    attempts: int = 50,
    keep: Keep = "first",
    trim: bool = True,
    fallback: Fallback = "none",
    seed_key: Sequence[int],
) -> tuple[Placements | None, float]:
    """Return placements of n workers and their servers by Algorithm 4, and their cost.

    Parameters are those of `slot_rounding`, with prices per unit, shape (machines, resources), for
    the costs. None and an infinite cost if there are no placements.
    """
    found = slot_rounding(
        job,
        n,
        price @ job.alpha,
        price @ job.beta,
        room,
        factor=factor,
        attempts=attempts,
        keep=keep,
        trim=trim,
        fallback=fallback,
        seed_key=seed_key,
    )
    return found.placements, found.cost


SEEDS = range(40)


def program_f():
    """Instance F: a machine holds one worker of 2 and a server of 1; prices 1, 2, 4."""
    one = job(worker_demand=(2,), ps_demand=(1,), worker_ps_ratio=3, global_batch=3)
    terms = cluster([one], [(3,), (3,), (3,)], 1).terms
    return terms.jobs[0], np.array([[1.0], [2.0], [4.0]]), terms.capacity


def random_program(seed, *, machines=4, batch=8, **changes):
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, machines=machines, batch=batch, **changes)
    terms = instance.terms
    price = rng.choice([0, 0.1, 0.5, 1, 2.7], terms.capacity.shape)
    return terms.jobs[0], price, rng.integers(0, terms.capacity + 1)


def exact(job_terms, price, room):
    slot = Room(price @ job_terms.alpha, price @ job_terms.beta, room)
    return exact_table(job_terms, slot).external


def check_feasible(terms, n, placements, room, price, cost, *, trimmed_to_n):
    workers = sum(p.workers for p in placements)
    servers = sum(p.servers for p in placements)
    assert n <= workers <= terms.batch
    assert servers >= terms.servers[workers]
    if trimmed_to_n:
        assert (workers, servers) == (n, terms.servers[n])
    paid = 0.0
    for p in placements:
        load = p.workers * terms.alpha + p.servers * terms.beta
        assert (load <= room[p.machine]).all()
        paid += float(price[p.machine] @ load)
    assert cost == pytest.approx(paid)


def test_f_linear_optimum_is_13_and_integer_optimum_15():
    terms, price, room = program_f()
    lp = SlotLp(terms, price @ terms.alpha, price @ terms.beta, room)

    assert lp.point(3).cost == pytest.approx(13)
    assert exact(terms, price, room)[3] == 15


@pytest.mark.parametrize(
    ("workers", "servers", "both"),
    [((1.5, 1.5, 0), (0, 0, 1), 0.0), ((1, 1.5, 0.5), (1, 0, 0), 0.25)],
)
def test_f_success_of_its_two_vertices(workers, servers, both):
    terms, price, room = program_f()
    rows = SlotLp(terms, price @ terms.alpha, price @ terms.beta, room).rows(3)

    found = measure(rows, [*workers, *servers], np.random.default_rng(0), attempts=20_000)

    # Both vertices cost 13; one standard deviation of a quarter is 0.003.
    assert rows.cost @ [*workers, *servers] == 13
    assert found.both == pytest.approx(both, abs=0.012 if both else 0)
    if both:
        assert found.feasible_cost_ratio == pytest.approx(15 / 13)


def test_f_no_factor_helps_the_bad_vertex():
    terms, _, room = program_f()
    workers, servers = np.array([1.5, 1.5, 0]), np.array([0, 0, 1.0])
    for factor in (0.5, 0.9, 1.0, 1.2, 1.5, 2.0):
        rng = np.random.default_rng(0)
        w = np.floor(factor * workers + rng.random((2000, 3))).astype(int)
        s = np.floor(factor * servers + rng.random((2000, 3))).astype(int)
        assert not acceptable(terms, 3, w, s, room, trim=True).any()


@pytest.mark.parametrize("fallback", ["greedy", "exact_dp"])
def test_f_fall_backs_place_what_rounding_cannot(fallback):
    terms, price, room = program_f()
    # HiGHS returns one of the two vertices; two attempts at half the size place nothing.
    key = (0, 0, 1, 3)
    nothing = round_slot(terms, 3, price, room, factor=0.5, attempts=2, seed_key=key)
    placed, cost = round_slot(
        terms, 3, price, room, factor=0.5, attempts=2, fallback=fallback, seed_key=key
    )

    assert nothing == (None, math.inf)
    if fallback == "exact_dp":
        assert cost == 15
        assert [(p.machine, p.workers, p.servers) for p in placed] == [
            (0, 1, 1),
            (1, 1, 0),
            (2, 1, 0),
        ]
    elif placed is not None:
        assert cost >= 15


@pytest.mark.parametrize("seed", SEEDS)
def test_linear_optimum_exact_optimum_rounding_are_in_this_order(seed):
    terms, price, room = random_program(seed)
    best = exact(terms, price, room)
    for n in range(1, terms.batch + 1):
        found = slot_rounding(
            terms, n, price @ terms.alpha, price @ terms.beta, room, seed_key=(seed, 0, 1, n)
        )
        assert found.lp_cost <= best[n] + 1e-6 or math.isinf(found.lp_cost)
        if math.isfinite(best[n]):
            assert math.isfinite(found.lp_cost)
        if found.placements is not None:
            check_feasible(terms, n, found.placements, room, price, found.cost, trimmed_to_n=True)
            assert found.cost >= best[n] - 1e-9
        if found.origin == "integral":
            assert found.cost == pytest.approx(best[n])


@pytest.mark.parametrize("ratio", ["at_least", "exact"])
@pytest.mark.parametrize("trim", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_what_is_accepted_is_feasible(seed, trim, ratio):
    terms, price, room = random_program(seed, ratio=ratio)
    for n in range(1, terms.batch + 1):
        placed, cost = round_slot(
            terms, n, price, room, factor=1.1, trim=trim, keep="best", seed_key=(seed, 0, 1, n)
        )
        if placed is not None:
            check_feasible(terms, n, placed, room, price, cost, trimmed_to_n=trim)
            if ratio == "exact":
                workers = sum(p.workers for p in placed)
                assert sum(p.servers for p in placed) * terms.gamma == workers


@pytest.mark.parametrize("seed", SEEDS)
def test_with_the_exact_fall_back_every_program_that_has_a_plan_gets_one(seed):
    terms, price, room = random_program(seed)
    best = exact(terms, price, room)

    for n in range(1, terms.batch + 1):
        _, cost = round_slot(
            terms, n, price, room, attempts=1, fallback="exact_dp", seed_key=(seed, 0, 1, n)
        )
        assert math.isfinite(cost) == math.isfinite(best[n])


def test_results_depend_on_the_key_and_on_nothing_else():
    terms, price, room = random_program(3, batch=12, machines=8)
    numbers = range(1, terms.batch + 1)

    def run(order):
        return {n: round_slot(terms, n, price, room, seed_key=(7, 0, 2, n)) for n in order}

    assert run(numbers) == run(reversed(numbers))


def test_best_is_never_dearer_than_first():
    for seed in SEEDS:
        terms, price, room = random_program(seed)
        for n in range(1, terms.batch + 1):
            cost = {
                keep: round_slot(
                    terms, n, price, room, keep=keep, trim=False, seed_key=(seed, 0, 1, n)
                )[1]
                for keep in ("first", "best")
            }
            assert cost["best"] <= cost["first"]


def test_prices_over_forty_orders_of_magnitude_are_told_apart():
    # Machine 2 is nearly full and beyond price; of the others, one is ten times as dear.
    terms = cluster([job(worker_ps_ratio=2)], [(4,), (4,), (4,)], 1).terms
    one, room = terms.jobs[0], terms.capacity
    price = np.array([[1e-29], [1e-30], [1e10]])

    point = SlotLp(one, price @ one.alpha, price @ one.beta, room).point(4)

    # 4 workers and 2 servers: 4 units at 1e-30 and 2 at 1e-29.
    assert point.cost == pytest.approx(2.4e-29, rel=1e-6)


def test_what_does_not_fit_by_volume_has_no_point():
    terms = cluster([job()], [(2,), (2,)], 1).terms
    price = np.ones((2, 1))

    # 3 workers and 2 servers are 5 units of 4.
    assert SlotLp(terms.jobs[0], price[:, 0], price[:, 0], terms.capacity).point(3) is None
    assert round_slot(terms.jobs[0], 3, price, terms.capacity, seed_key=(0,)) == (None, math.inf)


def test_spread_jobs_are_not_rounded_where_only_one_machine_is_allowed():
    terms = cluster([job()], [(6,), (6,)], 1, locality="internal_only").terms

    placed, _ = round_slot(terms.jobs[0], 2, np.ones((2, 1)), terms.capacity, seed_key=(0,))

    assert placed is None


def test_surplus_is_taken_from_the_dearest_machine():
    count = trimmed(np.array([2, 3, 1]), 3, np.array([1.0, 5.0, 2.0]))

    assert count.tolist() == [2, 0, 1]


def test_factors_of_the_lemma_are_on_their_sides_of_1():
    terms, _, room = random_program(1, machines=6)

    for delta in (0.1, 0.5, 1.0):
        assert slot_factor(terms, 1, room, "packing", delta) < 1
        assert slot_factor(terms, 1, room, "covering", delta) > 1


def test_the_lemma_of_a_slot_has_no_packing_factor_for_small_machines():
    # 3 machines that hold one worker: W_b = 3/2, far below ln(3 r / delta).
    terms, price, room = program_f()
    rows = SlotLp(terms, price @ terms.alpha, price @ terms.beta, room).rows(3)

    assert rows.packing_width == 1.5
    assert rows.covering_width == 1
    assert lemma(rows, "packing", 0.5) is None
    # Printed, with 3 + 1 rows: A = 3 ln(24) / 1.5 = 6.3561, 1 + A/2 - sqrt(A^2/4 + A) = 0.12144.
    assert slot_factor(terms, 3, room, "packing", 0.5, tail="printed") == pytest.approx(
        0.12144, abs=1e-5
    )


@pytest.mark.parametrize("wrong", [{"fallback": "else"}, {"factor": 0.0}, {"attempts": 0}])
def test_wrong_parameters_are_refused(wrong):
    terms, price, room = program_f()
    with pytest.raises(ModelRefused, match=next(iter(wrong))):
        round_slot(terms, 3, price, room, seed_key=(0,), **wrong)
