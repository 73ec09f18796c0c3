"""The offline optimum: by sorting, by dynamic programming, or by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.search.state import Search
from gadgetopt.solvers import solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...formulations import packing
from ...instance import (
    AdversarialOnlineRunCertificate,
    AdversarialOnlineRunInstance,
    AdversarialOnlineRunSolution,
    NearPrices,
    Play,
    Recursion,
)
from ...subproblems.price_bound import price_bound
from ..bounds.hindsight import best_prices
from ..certificate.core import CoreTooLarge
from ..certificate.recursion import MOST_CELLS, MOST_STEPS
from .core_search import CoreSearch

#: Parts of the smallest amount of money in which the prices of the core are; it is searched in
#: 64-bit integers. Tuned: `benchmarks/constants.py`.
FINE = 2**10
#: States of the first search. Tuned: `benchmarks/constants.py`.
BEAM = 2_000


@method(kind="exact", reference="(P)", formulation="offline")
def offline(instance: AdversarialOnlineRunInstance, limits: Limits) -> MethodOutcome:
    """The all-knowing seller: by sorting, by dynamic programming, or by HiGHS.

    1. The best prices, by sorting or by HiGHS's linear program, and requests accepted greedily in
       the order of their gain over these prices. Of units of one resource this is optimal.
    2. Where bound and requests do not meet, a dynamic program over the requests whose gain at these
       prices is small: a beam of states for a good solution, then all states better than it.
    3. Where there are too many of them, a dynamic program over the units used, if its table is
       small, else the integer program, by HiGHS.

    All bounds but that of HiGHS, which is its word, have certificates.
    """
    search: Search[AdversarialOnlineRunSolution] = Search("max", limits, gap=0.0)
    with search.interruptible():
        _climb(search, instance)
    return search.outcome(search.best)


def _climb(
    search: Search[AdversarialOnlineRunSolution], instance: AdversarialOnlineRunInstance
) -> None:
    """Take one step after the other until the gap is closed or the time is up."""
    with search.clock.phase("prices"):
        prices = best_prices(instance, search.clock)
        if prices is not None:
            certificate = AdversarialOnlineRunCertificate.of(prices)
            search.prove(price_bound(instance, prices), certificate)
            _offer(search, instance, _by_gain(instance, prices))
    if prices is not None and not search.over:
        with search.clock.phase("near prices"):
            _near_prices(search, instance, prices)
    if not search.over:
        cells = math.prod(c + 1 for c in instance.capacity)
        if cells <= MOST_CELLS and cells * len(instance.value) <= MOST_STEPS:
            with search.clock.phase("recursion"):
                accepted = _by_recursion(instance)
                _offer(search, instance, accepted)
                search.prove(search.value, AdversarialOnlineRunCertificate(proof=Recursion()))
        else:
            with search.clock.phase("integer program"):
                _by_program(search, instance)


def _offer(
    search: Search[AdversarialOnlineRunSolution],
    instance: AdversarialOnlineRunInstance,
    accepted: Sequence[int],
) -> None:
    whole, scale = instance.whole_values
    welfare = Fraction(sum(whole[list(accepted)].tolist()), scale)
    search.offer(welfare, AdversarialOnlineRunSolution(plays=(Play(accepted=tuple(accepted)),)))


def _by_gain(instance: AdversarialOnlineRunInstance, prices: Sequence[Fraction]) -> list[int]:
    """Return requests accepted greedily, by value over the price of their units."""
    whole, scale = instance.whole_values
    units = np.asarray(instance.demands, dtype=float)
    cost = units @ np.array([float(price) for price in prices]) * scale
    worth = whole.astype(float)
    # Requests whose units cost nothing come first, the most valuable ones before the others.
    gain = np.divide(worth, cost, out=np.full(len(worth), np.inf), where=cost > 0)
    order = np.lexsort((-worth, -gain))
    left = list(instance.capacity)
    accepted = []
    for t in order.tolist():
        demand = instance.demands[t]
        if all(d <= c for d, c in zip(demand, left, strict=True)):
            accepted.append(t)
            left = [c - d for d, c in zip(demand, left, strict=True)]
            if not any(left):
                break
    return sorted(accepted)


def _near_prices(
    search: Search[AdversarialOnlineRunSolution],
    instance: AdversarialOnlineRunInstance,
    prices: Sequence[Fraction],
) -> None:
    """Search among requests of small gain, first along a beam."""
    _, scale = instance.whole_values
    coarse = [Fraction(round(price * scale * FINE), scale * FINE) for price in prices]
    try:
        core = CoreSearch.at(instance, coarse)
        for beam in (BEAM, None):
            loss = core.loss(Fraction(search.value))
            found = core.search(loss, beam=beam, stop=lambda: search.clock.expired)
            if found.accepted is not None:
                _offer(search, instance, found.accepted)
            if found.complete:
                welfare = Fraction(search.value)
                proof = NearPrices(price=tuple(coarse), welfare=welfare)
                search.prove(welfare, AdversarialOnlineRunCertificate(proof=proof))
                return
    except CoreTooLarge:
        return  # the other methods need no 64 bits


def _by_recursion(instance: AdversarialOnlineRunInstance) -> list[int]:
    """Return an optimal set of requests, by dynamic programming over the units used."""
    whole, _ = instance.whole_values
    amounts = whole.tolist()
    small = sum(amounts) < 2**62
    shape = tuple(c + 1 for c in instance.capacity)
    best = np.zeros(shape, dtype=np.int64 if small else object)
    taken = []  # for every request, in which states it is worth accepting, as bits
    for amount, demand in zip(amounts, instance.demands, strict=True):
        units = zip(instance.capacity, demand, strict=True)
        before = tuple(slice(0, max(0, c + 1 - d)) for c, d in units)
        after = tuple(slice(d, None) for d in demand)
        with_it = best[before] + amount
        better = np.zeros(shape, dtype=np.bool_)
        np.greater(with_it, best[after], out=better[after])
        taken.append(np.packbits(better))
        best[after] = np.maximum(best[after], with_it)
    accepted, at = [], instance.capacity
    for t in range(len(taken) - 1, -1, -1):
        cell = int(np.ravel_multi_index(at, shape))
        if taken[t][cell >> 3] >> (7 - (cell & 7)) & 1:
            accepted.append(t)
            at = tuple(u - d for u, d in zip(at, instance.demands[t], strict=True))
    return accepted[::-1]


def _by_program(
    search: Search[AdversarialOnlineRunSolution], instance: AdversarialOnlineRunInstance
) -> None:
    model = packing.build(instance)
    solved = solve_model(model, "highs", search.clock.limits())
    search.versions.update(solved.versions)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason)
    if solved.values is not None:
        found = packing.decode(model, instance)
        _offer(search, instance, found.plays[0].accepted)
    if solved.bound is not None:
        search.prove(solved.bound)
    search.limit_hit = solved.limit_hit
