"""Inner loops of the memetic search: crossover, repair, exchanges, the steady state.

A packing is a row of zeros and ones over the items. `items` are profit, weight and key of every
item, the capacities with what rounding may add, the items by falling utility, and the core.
`population` are the packings, their loads, profits and keys; a key is the exclusive or of the keys
of the items packed, and tells duplicates apart. Random numbers are those of POSIX's drand48.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled, taken_in
from gadgetopt.numbers.loop_pieces import least_place, put

Packings = npt.NDArray[np.int8]
#: profit, weight, key, capacity, order, core
Items = tuple[Floats, Floats, Ints, Floats, Ints, Ints]
#: packings, loads, profits, keys
Population = tuple[Packings, Floats, Floats, Ints]

#: Modulus less one, multiplier and increment of the 48-bit generator. By definition.
_MASK, _FACTOR, _STEP = 2**48 - 1, 0x5DEECE66D, 0xB
#: Random items flipped in every child. Tuned: `benchmarks/constants.py`.
_FLIPS = 2


@compiled
def _repair(packing: Packings, load: Floats, items: Items) -> None:
    """Drop items by rising utility until the rest fits; add what fits by falling utility."""
    _, weight, _, capacity, order, _ = items
    rows = len(capacity)
    over = False
    for r in range(rows):
        over = over or load[r] > capacity[r]
    k = len(order)
    while over and k > 0:
        k -= 1
        j = order[k]
        if packing[j]:
            packing[j] = 0
            over = False
            for r in range(rows):
                load[r] -= weight[j, r]
                over = over or load[r] > capacity[r]
    for j in order:
        if not packing[j]:
            r = 0
            while r < rows and load[r] + weight[j, r] <= capacity[r]:
                r += 1
            if r == rows:
                packing[j] = 1
                for r in range(rows):
                    load[r] += weight[j, r]


@compiled
def _exchange(packing: Packings, load: Floats, items: Items) -> None:
    """Exchange a packed item of the core for the best one that fits, as long as that gains."""
    profit, weight, _, capacity, _, core = items
    rows = len(capacity)
    improved = True
    while improved:
        improved = False
        for out in core:
            if not packing[out]:
                continue
            best, most = -1, profit[out]
            for j in core:
                if packing[j] or profit[j] <= most:
                    continue
                r = 0
                while r < rows and load[r] - weight[out, r] + weight[j, r] <= capacity[r]:
                    r += 1
                if r == rows:
                    best, most = j, profit[j]
            if best >= 0:
                packing[out], packing[best] = 0, 1
                improved = True
                for r in range(rows):
                    load[r] += weight[best, r] - weight[out, r]


@taken_in
def _cross(
    population: Population, child: Packings, load: Floats, weight: Floats, state: int
) -> int:
    """Cross the winners of two tournaments uniformly and flip two items; return the state."""
    packings, loads, profits, _ = population
    size, n = packings.shape
    parents = (0, 0)
    for _ in range(2):
        state = (state * _FACTOR + _STEP) & _MASK
        one = ((state >> 16) * size) >> 32
        state = (state * _FACTOR + _STEP) & _MASK
        other = ((state >> 16) * size) >> 32
        parents = (parents[1], other if profits[other] > profits[one] else one)
    mother, father = parents
    put(load, loads[mother])
    for j in range(n):
        bit = packings[mother, j]
        if bit != packings[father, j]:
            state = (state * _FACTOR + _STEP) & _MASK
            if state >> 47:
                bit = packings[father, j]
                sign = 1 if bit else -1
                for r in range(len(load)):
                    load[r] += sign * weight[j, r]
        child[j] = bit
    for _ in range(_FLIPS):
        state = (state * _FACTOR + _STEP) & _MASK
        j = ((state >> 16) * n) >> 32
        child[j] = 1 - child[j]
        sign = 1 if child[j] else -1
        for r in range(len(load)):
            load[r] += sign * weight[j, r]
    return state


@taken_in
def _profit_and_key(packing: Packings, items: Items) -> tuple[float, int]:
    profit, _, keys, _, _, _ = items
    total, key = 0.0, 0
    for j in range(len(packing)):
        if packing[j]:
            total += profit[j]
            key ^= keys[j]
    return total, key


@taken_in
def _holds(keys: Ints, key: int) -> bool:
    found = False
    for k in range(len(keys)):
        found = found or keys[k] == key
    return found


@compiled
def populate(items: Items, population: Population, chance: Floats, state: int) -> int:
    """Fill a population with repaired random packings; return the state of the generator.

    Parameters
    ----------
    chance : ndarray of float, shape (items,)
        Probability with which each item is packed before the repair.
    """
    weight = items[1]
    packings, loads, profits, keys = population
    size, n = packings.shape
    for k in range(size):
        loads[k] = 0.0
        for j in range(n):
            state = (state * _FACTOR + _STEP) & _MASK
            packings[k, j] = 1 if state < chance[j] * (_MASK + 1) else 0
            if packings[k, j]:
                for r in range(loads.shape[1]):
                    loads[k, r] += weight[j, r]
        _repair(packings[k], loads[k], items)
        profits[k], keys[k] = _profit_and_key(packings[k], items)
    return state


@compiled
def breed(
    items: Items,
    population: Population,
    state: int,
    children: int,
    margin: float,
    since: int,
    patience: int,
) -> tuple[int, int, int]:
    """Breed children; each better than the worst packing, and new, takes its place.

    Parameters
    ----------
    margin : float
        Children are improved by exchanges if they are less than this below the worst packing.
    since : int
        Children born since the best packing of the population was.
    patience : int
        Value of `since` at which to stop.

    Returns
    -------
    (int, int, int)
        State of the generator, children born, and `since`.
    """
    packings, loads, profits, keys = population
    child, load = packings[0].copy(), loads[0].copy()  # room
    worst, best = least_place(profits), profits[0]
    for profit in profits:
        best = max(best, profit)
    born = 0
    while born < children and since < patience:
        born += 1
        since += 1
        state = _cross(population, child, load, items[1], state)
        _repair(child, load, items)
        total, key = _profit_and_key(child, items)
        if total <= profits[worst] - margin:
            continue
        _exchange(child, load, items)
        total, key = _profit_and_key(child, items)
        if total <= profits[worst] or _holds(keys, key):
            continue
        for j in range(len(child)):
            packings[worst, j] = child[j]
        put(loads[worst], load)
        profits[worst], keys[worst] = total, key
        if total > best:
            best, since = total, 0
        worst = least_place(profits)
    return state, born, since
