"""Instances that are too large for the exact steps: the best schedule and bound of all methods.

1. A schedule by `a_srpt_workload`, which takes a second for thousands of jobs; by SPWF, which takes
   less, if half of the time is too short for it.
2. `price_guided`: a better schedule, and the prices of GPU-time as a bound.
3. `server_price_bound`, which is higher where jobs leave fragments on servers; prices of GPU-time
   that change at the moments of the best schedule; and prices by size, which see that jobs are
   whole.
4. Annealing of the order of the best schedule, again and again, as long as there is time: in the
   pool as long as what it finds there finds servers too, the job that ends last first; then on the
   servers.
5. Once, if the pool's first annealing found servers and leaves little open: branches on starts
   (`size_branches`), which close the rest where prices by size are nearly the optimum.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import slow_note
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.result import Limits, MethodOutcome

from ...baselines.policies import spwf
from ...evaluate import evaluate
from ...heuristics.a_srpt_workload import a_srpt_workload
from ...heuristics.order_annealing import ServerLists
from ...instance import ASrptInstance, ASrptSolution
from ...relaxations import pool_of
from ...subproblems.mapper import Mapper
from ..bounds.outcome import certified, step_proof
from ..bounds.price import price_bound, prices_at_moments
from ..bounds.price_guided import price_guided
from ..bounds.server_price import server_price_bound
from ..bounds.size_prices import prices_by_size
from ..certificate.check import ASrptCertificate, Prices, check_bound
from .size_branches import SizeBranching

#: Jobs of which a greedy schedule is never cut short: it takes about a second.
#: Tuned: `benchmarks/constants.py`.
MOST_UNTIMED = 10_000
#: Jobs above which steps 2 to 4 take longer than they are worth, and one bound of prices is all.
#: Tuned: `benchmarks/constants.py`.
MOST_SEARCHED = 5_000
#: Steps of the first annealing of step 4; each one after has twice as many.
#: Tuned: `benchmarks/constants.py`.
FIRST_STEPS = 160_000
#: Part of the time left for prices by size. Tuned: `benchmarks/constants.py`.
SIZES_PART = 0.4
#: First temperature of annealings, as a part of the mean wait. Tuned: `benchmarks/constants.py`.
HOT = 0.03
#: Part of the value that may be open when branches begin, and of the time left for them.
#: Tuned: `benchmarks/constants.py`.
MOST_OPEN, BRANCHES_PART = 1e-4, 0.6
#: Steps and temperature of the annealing of an order that a branch says.
#: Tuned: `benchmarks/constants.py`.
BRANCH_STEPS, BRANCH_HOT = 20_000, 0.001


def best_at_scale(
    instance: ASrptInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return the best schedule and the best bound of all methods that scale."""
    search: Search[ASrptSolution] = Search("min", limits)
    with search.interruptible():
        _first_schedule(instance, search, rng)
        if len(instance.jobs) > MOST_SEARCHED or search.clock.expired:
            _take(instance, search, price_bound(instance, search.clock.limits()))
        else:
            _search(instance, search, rng)
    return search.outcome(search.best, closed_by="too large for the exact steps", **slow_note())


def _first_schedule(
    instance: ASrptInstance, search: Search[ASrptSolution], rng: np.random.Generator
) -> None:
    clock = search.clock
    with clock.phase("schedule"):
        found = a_srpt_workload(instance, clock.limits(0.5), rng)
        if found.solution is None:
            small = len(instance.jobs) <= MOST_UNTIMED
            found = spwf(instance, Limits() if small else clock.limits(0.7), rng)
    _take(instance, search, found)


def _search(
    instance: ASrptInstance, search: Search[ASrptSolution], rng: np.random.Generator
) -> None:
    """Take steps 2 to 4 until the search is over."""
    clock = search.clock
    with clock.phase("price_guided"):
        _take(instance, search, price_guided(instance, clock.limits(), rng))
    if not search.over:
        with clock.phase("server prices"):
            _take(instance, search, server_price_bound(instance, clock.limits()))
    if not search.over:
        with clock.phase("prices at moments"):
            _moments(instance, search)
    with clock.phase("annealing"):
        _anneal(instance, search, rng)


def _anneal(
    instance: ASrptInstance, search: Search[ASrptSolution], rng: np.random.Generator
) -> None:
    """Take step 4 until the search is over."""
    lists, steps, in_pool = ServerLists(instance, Mapper(instance, "best_of")), FIRST_STEPS, True
    assert search.best is not None
    order = _order(search.best)
    while not search.over:
        where = lists.pool if in_pool else lists
        whole, order = where.anneal(order, steps, HOT, rng, search.clock)
        value = Fraction(whole, instance.weight_scale)
        if value < search.value:
            found = lists.packed(order) if in_pool else lists.solution(order)
            if found is not None:
                search.offer(value, found)
            else:
                in_pool, order = False, _order(search.best)
                continue
        if steps == FIRST_STEPS and in_pool and not search.over:
            _branch(lists, instance, search, rng)
            order = _order(search.best)
        steps *= 2


def _branch(
    lists: ServerLists,
    instance: ASrptInstance,
    search: Search[ASrptSolution],
    rng: np.random.Generator,
) -> None:
    """Take step 5."""
    if float(search.value - search.bound) > MOST_OPEN * float(search.value):
        return
    clock = Clock(search.clock.limits(BRANCHES_PART))

    def improve(order: Ints) -> int:
        annealed = lists.pool.anneal(order, BRANCH_STEPS, BRANCH_HOT, rng, clock)
        for whole, listed in ((lists.pool.value(order), order), annealed):
            value = Fraction(whole, instance.weight_scale)
            if value < search.value:
                found = lists.packed(listed)
                if found is not None:
                    search.offer(value, found)
        return int(search.value * instance.weight_scale)

    value = int(search.value * instance.weight_scale)
    assert search.best is not None
    started = _started(instance, search.best)
    proof = SizeBranching(pool_of(instance), value, improve, clock).proof(started)
    if proof is not None:
        _take(instance, search, certified(proof, clock))


def _order(solution: ASrptSolution) -> Ints:
    """Return the jobs of a schedule by their starts."""
    jobs = sorted(solution.jobs, key=lambda job: job.start_microtick)
    return np.array([job.job for job in jobs], dtype=np.int64)


def _started(instance: ASrptInstance, solution: ASrptSolution) -> Floats:
    """Return the starts of a schedule, ticks."""
    started = np.zeros(len(instance.jobs))
    for job in solution.jobs:
        started[job.job] = job.start_microtick / instance.total_gpus
    return started


def _moments(instance: ASrptInstance, search: Search[ASrptSolution]) -> None:
    """Prove the bounds of prices that change at the moments of the best schedule."""
    assert search.best is not None
    pool, started = pool_of(instance), _started(instance, search.best)
    found = prices_at_moments(pool, started, search.clock)
    if found is not None:
        _take(instance, search, certified(step_proof(Prices, pool, *found), search.clock))
    if search.over:
        return
    by_size = prices_by_size(pool, started, Clock(search.clock.limits(SIZES_PART)))
    if by_size is not None:
        _take(instance, search, certified(by_size, search.clock))


def _take(instance: ASrptInstance, search: Search[ASrptSolution], found: MethodOutcome) -> None:
    """Take the schedule and the bound that a method found."""
    if isinstance(found.solution, ASrptSolution):
        value = evaluate(instance, found.solution).objective
        if value is not None:
            search.offer(value, found.solution)
    if isinstance(found.certificate, ASrptCertificate):
        search.prove(check_bound(instance, found.certificate), found.certificate)
