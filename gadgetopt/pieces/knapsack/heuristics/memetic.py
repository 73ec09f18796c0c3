r"""Memetic search of single items: a steady-state genetic algorithm with repair and exchanges.

The genetic algorithm is that of Chu and Beasley (1998): two binary tournaments, uniform crossover,
two flips, and a repair in the order of the utilities :math:`\pi_j / \sum_r \lambda_r a^r_j`, with
:math:`\lambda` the duals of the linear relaxation. Ours: a start near the relaxation, exchanges of
two items for children close to the worst of the population, and restarts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.knapsack.heuristics.memetic_loops import Items, Population, breed, populate
from gadgetopt.pieces.knapsack.integral import decimal_unit
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import (
    Relaxation,
    only_items,
    reduced_profits,
    usable_items,
)
from gadgetopt.search.clock import Clock

#: Packings in the population. Tuned: `benchmarks/constants.py`.
POPULATION = 100
#: Items that are exchanged: those of the smallest absolute reduced profit.
#: Tuned: `benchmarks/constants.py`.
CORE = 60
#: Children without a better packing after which a population starts again.
#: Tuned: `benchmarks/constants.py`.
PATIENCE = 150_000
#: Children bred between two looks at whether the search has settled.
#: Tuned: `benchmarks/constants.py`.
STEP = 10_000
#: Items of all children bred between two looks at the clock; fewer where loops are not compiled.
BATCH_ITEMS = 500_000 if COMPILED else 2_000
#: An item is packed at the start with a chance between this and one less this.
#: Tuned: `benchmarks/constants.py`.
LEAST_CHANCE = 0.1


class MemeticSearch:
    """A search of single items that can be continued.

    Equal seeds and numbers of children give equal packings.

    Parameters
    ----------
    knapsack : Knapsack
        Every group has one item and may be left out.
    relaxation : Relaxation
        Solved to optimality.
    chosen : ndarray of int or None
        A choice that fits; the search never returns a worse one.
    seed : int
    found : callable, optional
        Is told of the profit of each better choice.

    Attributes
    ----------
    chosen : ndarray of int or None
        The best choice so far.
    value : float
        Its profit.
    children, populations : int
        Bred so far, and begun.
    """

    def __init__(
        self,
        knapsack: Knapsack,
        relaxation: Relaxation,
        chosen: Ints | None,
        seed: int,
        found: Callable[[float], None] = lambda _: None,
    ) -> None:
        assert relaxation.duals is not None
        self.knapsack = knapsack
        self._found = found
        self.chosen: Ints | None = chosen
        self.value: float = -math.inf if chosen is None else knapsack.value(chosen)
        self.children: int = 0
        self.populations: int = 0
        self._kept = np.flatnonzero(usable_items(knapsack))
        usable = only_items(knapsack, self._kept)
        self._limit: Floats = knapsack.capacity + knapsack.sum_tolerance
        reduced = np.abs(reduced_profits(usable, relaxation.duals))
        rng = np.random.default_rng(seed)
        self._state = int(rng.integers(2**48))
        self._items: Items = _items(usable, relaxation.duals, reduced, self._limit, rng)
        y = np.clip(relaxation.y[self._kept], 0.0, 1.0)
        self._chance: Floats = LEAST_CHANCE + (1 - 2 * LEAST_CHANCE) * y
        near = min(len(reduced), len(knapsack.capacity) + 10)
        self._margin = 2.0 * float(np.partition(reduced, near - 1)[near - 1]) if near else 0.0
        self._enough = _most(knapsack, relaxation)
        rows = len(knapsack.capacity)
        self._population: Population = (
            np.zeros((POPULATION, len(self._kept)), dtype=np.int8),
            np.zeros((POPULATION, rows)),
            np.zeros(POPULATION),
            np.zeros(POPULATION, dtype=np.int64),
        )
        self._since: int = PATIENCE
        self._improved_in: int = 0
        if chosen is not None:
            self._found(self.value)

    @property
    def finished(self) -> bool:
        """True if no choice can be better by the relaxation's bound, or there are no items."""
        return not len(self._kept) or self.value >= self._enough

    def run(self, clock: Clock, children: float = math.inf) -> None:
        """Breed until the time is up, so many more children are bred, or nothing can be better."""
        end = self.children + children
        while self.children < end and not self.finished and not clock.expired:
            if self._since >= PATIENCE:
                self._state = populate(self._items, self._population, self._chance, self._state)
                self._since = 0
                self.populations += 1
                self._keep_best()
            most = int(min(max(1, BATCH_ITEMS // len(self._kept)), end - self.children))
            self._state, born, self._since = breed(
                self._items,
                self._population,
                int(self._state),
                most,
                self._margin,
                int(self._since),
                PATIENCE,
            )
            self.children += born
            self._keep_best()

    def settle(self, clock: Clock, populations: int) -> None:
        """Breed until so many populations in a row have ended without a better choice."""
        while not (self.finished or clock.expired):
            # A step may end one population and begin the next, which then does not count yet.
            ended = self.populations - (self._since < PATIENCE)
            if ended - self._improved_in >= populations:
                return
            self.run(clock, STEP)

    def _keep_best(self) -> None:
        packings, _, profits, _ = self._population
        for k in _better(profits, self.value):
            chosen = self._kept[np.flatnonzero(packings[k])]
            # Summed again: loads of decimals drift over generations.
            if np.all(self.knapsack.weight[chosen].sum(axis=0) <= self._limit):
                value = self.knapsack.value(chosen)
                if value > self.value:
                    self.chosen, self.value = chosen, value
                    self._improved_in = self.populations
                    self._found(value)
                return


def _better(profits: Floats, value: float) -> Iterable[int]:
    """Return the packings worth more than a value, the best one first."""
    if profits.max(initial=-math.inf) <= value:
        return []
    order = np.argsort(-profits, kind="stable")
    return [int(k) for k in order[profits[order] > value]]


def _items(
    usable: Knapsack, duals: Floats, reduced: Floats, limit: Floats, rng: np.random.Generator
) -> Items:
    """Return what the loops know of the items."""
    price = usable.weight @ duals
    # An item whose weight has no price comes first, by profit; no quotient exceeds 1e300.
    least = 1e-9 * float(price.max(initial=0.0)) + 1e-300 * float(usable.profit.max(initial=1.0))
    utility = usable.profit / np.maximum(price, least)
    return (
        np.ascontiguousarray(usable.profit, dtype=np.float64),
        np.ascontiguousarray(usable.weight, dtype=np.float64),
        rng.integers(1, 2**62, size=usable.num_items),
        np.asarray(limit, dtype=np.float64),
        np.argsort(-utility, kind="stable").astype(np.int64),
        np.argsort(reduced, kind="stable")[:CORE].astype(np.int64),
    )


def _most(knapsack: Knapsack, relaxation: Relaxation) -> float:
    """Return the largest profit that the relaxation's bound allows."""
    unit = decimal_unit(knapsack.profit)
    return relaxation.bound if unit is None else math.floor(relaxation.bound * unit) / unit
