r"""Depth-first enumeration of choices in blocks, pruned by Lagrangian bounds at many prices.

Every level takes one of its options. A node is a residual capacity :math:`\rho` and, at prices
:math:`\lambda`, the number :math:`b = v + \lambda^\top \rho`, with v the profit so far. Taking an
option adds its reduced profit to b, and

.. math::
    b + \sum_{\text{levels left}} \max_o (\pi_o - \lambda^\top a_o)

bounds the profit of the choices below the node. Levels whose second-best option costs most come
first, so that nodes seldom deviate from the best options: with :math:`\Delta` the gap and
:math:`\delta` options lost per unit of it, of the order of :math:`e^{2 \sqrt{\delta \Delta}}` nodes
remain. Deeper down, where residual capacities differ, nodes are also bounded at the prices of
linear programs over the levels left.

Thousands of nodes of one depth are handled together as arrays. All numbers are whole, so that all
sums are exact and pruning is proved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.knapsack.enumeration_loops import Places, children
from gadgetopt.pieces.knapsack.tail_prices import TailLp
from gadgetopt.search.clock import Clock

#: Most numbers in the children of nodes handled together, so that they stay in the cache. More
#: nodes are split by bound, the better half first. Tuned: `benchmarks/constants.py`.
BLOCK_NUMBERS = 1 << 18
#: Blocks with fewer nodes get no linear programs. Tuned: `benchmarks/constants.py`.
LEAST_SAMPLED = 2048
#: Further prices are computed once each where the levels left have this many bits: the logarithm of
#: the number of their choices. Below fewer bits there is too little to prune.
#: Tuned: `benchmarks/constants.py`.
SAMPLED_BITS = (60, 48, 38, 30, 24, 19, 15, 12)


@dataclass(frozen=True)
class Levels:
    """Options of each level, in whole numbers.

    Attributes
    ----------
    profit : sequence of ndarray of float, each of shape (options,)
    weight : sequence of ndarray of float, each of shape (options, rows)
        Of any sign.
    capacity : ndarray of float, shape (rows,)
    reach : ndarray of float, shape (rows,)
        No residual capacity is larger in absolute value.
    profit_reach : float
        Nor any sum of profits.
    scale : float
        Factor by which profits were multiplied.
    """

    profit: Sequence[Floats]
    weight: Sequence[Floats]
    capacity: Floats
    reach: Floats
    profit_reach: float
    scale: float

    def reordered(self, order: Ints) -> Levels:
        """Return the levels in another order."""
        return Levels(
            [self.profit[i] for i in order],
            [self.weight[i] for i in order],
            self.capacity,
            self.reach,
            self.profit_reach,
            self.scale,
        )


@dataclass(frozen=True)
class Enumerated:
    """Best choice of at least the profit needed.

    Attributes
    ----------
    profit : float or None
        None if no such choice exists or none was found in time.
    options : list of int or None
        Option taken at each level.
    nodes : int
    finished : bool
        True if all nodes were expanded or pruned.
    further : mapping from int to ndarray of float, shape (prices, rows)
        Further prices by the number of levels left from which on they bounded nodes.
    """

    profit: float | None
    options: list[int] | None
    nodes: int
    finished: bool
    further: Mapping[int, Floats] = field(default_factory=dict)


class _Trail(NamedTuple):
    """Options and parents of the nodes of a block."""

    before: _Trail | None
    option: Places
    parent: Places


class _Block(NamedTuple):
    depth: int
    worth: Floats
    residual: Floats
    trail: _Trail | None


@dataclass
class _Prices:
    """Further prices, their difference to the main ones, and their bounds on the levels left."""

    difference: Floats
    rest: Floats


def enumerate_levels(
    levels: Levels,
    prices: Floats,
    need: float,
    step: float,
    clock: Clock,
    most_nodes: float = np.inf,
) -> Enumerated:
    """Return the best choice whose profit is at least `need`.

    Parameters
    ----------
    levels : Levels
    prices : ndarray of float, shape (rows,)
        Whole and non-negative, at the scale of the profits.
    need : float
        Least profit of interest, a whole number.
    step : float
        Least improvement on a choice found, positive and whole.
    clock : Clock
    most_nodes : float
        Number of nodes after which to stop.
    """
    order = _order(levels, prices)
    sorted_levels = levels.reordered(order)
    search = _Search(sorted_levels, prices, need, step, clock)
    finished = search.run(most_nodes)
    options: list[int] | None = None
    if search.options is not None:
        options = [0] * len(order)
        for level, option in zip(order.tolist(), search.options, strict=True):
            options[level] = option
    further = {left: known.difference + prices for left, known in search.further.items()}
    return Enumerated(search.best, options, search.nodes, finished, further)


def _order(levels: Levels, prices: Floats) -> Ints:
    """Return the levels by falling loss of their second-best option."""
    losses = np.full(len(levels.profit), np.inf)
    for i, (profit, weight) in enumerate(zip(levels.profit, levels.weight, strict=True)):
        if len(profit) > 1:
            worth = np.sort(profit - weight @ prices)
            losses[i] = worth[-1] - worth[-2]
    return np.argsort(-losses, kind="stable").astype(np.int64)


class _Search:
    def __init__(
        self, levels: Levels, prices: Floats, need: float, step: float, clock: Clock
    ) -> None:
        self.levels, self.prices, self.need, self.step = levels, prices, need, step
        self.clock = clock
        self.worths = [p - w @ prices for p, w in zip(levels.profit, levels.weight, strict=True)]
        self.rest = _suffix_sums(np.array([w.max() for w in self.worths]))
        rows = len(levels.capacity)
        least = np.array([w.min(axis=0) for w in levels.weight]).reshape(-1, rows)
        self.least = _suffix_sums(least)
        #: Numbers of levels left at which further prices are computed.
        self.sampled = _sampled([len(w) for w in self.worths])
        #: Nodes handled together at each depth.
        self.most = [max(512, BLOCK_NUMBERS // (rows * len(w))) for w in self.worths]
        self.tail_lp: TailLp | None = None
        self.further: dict[int, _Prices] = {}
        self.best: float | None = None
        self.options: list[int] | None = None
        self.nodes = 0

    def run(self, most_nodes: float) -> bool:
        """Search; return True if the search is complete."""
        capacity = self.levels.capacity
        if any(len(profit) == 0 for profit in self.levels.profit):
            return True
        root = _Block(0, np.array([self.prices @ capacity]), capacity[:, None].copy(), None)
        if np.any(capacity < self.least[0]) or root.worth[0] + self.rest[0] < self.need:
            return True
        stack = [root]
        while stack:
            block = stack.pop()
            while len(block.worth):
                if block.depth == len(self.worths):
                    self._finish(block)
                    break
                while len(block.worth) > self.most[block.depth]:
                    worse, block = _split(block)
                    stack.append(worse)
                block = self._next(block)
                self.nodes += len(block.worth)
                if self.clock.expired or self.nodes > most_nodes:
                    return False
        return True

    def _next(self, block: _Block) -> _Block:
        """Return the children of the nodes that no bound prunes."""
        depth = block.depth + 1
        left = len(self.worths) - depth
        prices = self._prices_at(left)
        if not COMPILED or (left in self.sampled and left not in self.further):
            return self._prune(self._expand(block))
        worth, residual, option, parent = children(
            (block.worth, np.ascontiguousarray(block.residual)),
            (self.worths[block.depth], np.ascontiguousarray(self.levels.weight[block.depth])),
            float(self.rest[depth]),
            self.least[depth],
            float(self.need),
            (np.ascontiguousarray(prices.difference), np.ascontiguousarray(prices.rest[:, depth])),
        )
        return _Block(depth, worth, residual, _Trail(block.trail, option, parent))

    def _prices_at(self, left: int) -> _Prices:
        """Return the further prices that suit a number of levels left, if any."""
        at_least = [known for known in self.further if known >= left]
        if not at_least or not left:
            return _Prices(np.empty((0, len(self.prices))), np.empty((0, len(self.rest))))
        return self.further[min(at_least)]

    def _expand(self, block: _Block) -> _Block:
        """Take every option of the next level in all nodes that can reach the profit needed."""
        depth = block.depth
        rest, least = self.rest[depth + 1], self.least[depth + 1][:, None]
        worths, residuals, options, parents = [], [], [], []
        weights = self.levels.weight[depth]
        for option, worth in enumerate(self.worths[depth].tolist()):
            parent = np.flatnonzero(block.worth >= self.need - (worth + rest))
            residual = block.residual[:, parent] - weights[option][:, None]
            fits = (residual >= least).all(axis=0)
            if not fits.all():
                parent, residual = parent[fits], residual[:, fits]
            worths.append(block.worth[parent] + worth)
            residuals.append(residual)
            options.append(np.full(len(parent), option, dtype=np.int32))
            parents.append(parent.astype(np.int32))
        trail = _Trail(block.trail, np.concatenate(options), np.concatenate(parents))
        return _Block(depth + 1, np.concatenate(worths), np.concatenate(residuals, axis=1), trail)

    def _prune(self, block: _Block) -> _Block:
        """Bound the nodes at the further prices that suit this depth."""
        left = len(self.worths) - block.depth
        if left in self.sampled and left not in self.further and len(block.worth) > LEAST_SAMPLED:
            self.further[left] = self._sample(block)
        prices = self._prices_at(left)
        for difference, rest in zip(prices.difference, prices.rest[:, block.depth], strict=True):
            # Without BLAS, whose threads would ignore the limit.
            bound = block.worth + np.einsum("r,rn->n", difference, block.residual)
            keep = np.flatnonzero(bound >= self.need - rest)
            if len(keep) < len(block.worth):
                block = _taken(block, keep)
        return block

    def _sample(self, block: _Block) -> _Prices:
        """Return further prices: duals of the levels left at some of the nodes, those that prune.

        They join the prices found higher up in the tree.
        """
        if self.tail_lp is None:
            self.tail_lp = TailLp(self.levels)
        candidates = self.tail_lp.duals(block.depth, block.residual, self.clock)
        above = [known for known in self.further if known > len(self.worths) - block.depth]
        rests = np.array([self._rest(prices) for prices in candidates])
        differences = np.array([prices - self.prices for prices in candidates])
        if above:
            known = self.further[min(above)]
            rests = np.concatenate([rests.reshape(-1, known.rest.shape[1]), known.rest])
            differences = np.concatenate(
                [differences.reshape(-1, len(self.prices)), known.difference]
            )
        if not len(rests):
            return _Prices(np.empty((0, len(self.prices))), np.empty((0, len(self.rest))))
        chosen = self._choose(block, differences, rests[:, block.depth])
        return _Prices(differences[chosen], rests[chosen])

    def _choose(self, block: _Block, differences: Floats, rests: Floats) -> list[int]:
        """Return the prices that, one after the other, prune most of a sample of the nodes."""
        some = np.linspace(0, len(block.worth) - 1, LEAST_SAMPLED).astype(np.int64)
        bounds = np.einsum("kr,rn->kn", differences, block.residual[:, some])
        pruned = block.worth[some] + bounds + rests[:, None] < self.need
        alive = np.ones(len(some), dtype=bool)
        chosen: list[int] = []
        while True:
            gains = pruned[:, alive].sum(axis=1)
            k = int(gains.argmax())
            # Must prune enough to pay for one more product per node.
            if gains[k] <= 0.03 * alive.sum():
                return chosen
            chosen.append(k)
            alive &= ~pruned[k]

    def _rest(self, prices: Floats) -> Floats:
        levels = zip(self.levels.profit, self.levels.weight, strict=True)
        return _suffix_sums(np.array([(p - w @ prices).max() for p, w in levels]))

    def _finish(self, block: _Block) -> None:
        profit = block.worth - np.einsum("r,rn->n", self.prices, block.residual)
        node = int(profit.argmax())
        if profit[node] < self.need:
            return
        self.best = float(profit[node])
        self.need = self.best + self.step
        options = []
        trail = block.trail
        while trail is not None:
            options.append(int(trail.option[node]))
            node = int(trail.parent[node])
            trail = trail.before
        self.options = options[::-1]


def _sampled(options: Sequence[int]) -> set[int]:
    """Return, for each of the bits, the largest number of last levels that have no more."""
    bits = np.cumsum(np.log2(np.maximum(1, options[::-1])))
    return {int(np.searchsorted(bits, most, side="right")) for most in SAMPLED_BITS}


def _split(block: _Block) -> tuple[_Block, _Block]:
    """Return two halves of the nodes: lower bounds and higher bounds."""
    half = len(block.worth) // 2
    order = np.argpartition(block.worth, half)
    return _taken(block, order[:half]), _taken(block, order[half:])


def _taken(block: _Block, keep: Ints) -> _Block:
    trail = block.trail
    if trail is not None:
        trail = _Trail(trail.before, trail.option[keep], trail.parent[keep])
    return _Block(block.depth, block.worth[keep], block.residual[:, keep], trail)


def _suffix_sums(numbers: Floats) -> Floats:
    """Return the sums from every place to the end, and a final zero; shape (places + 1, ...)."""
    zero = np.zeros((1, *numbers.shape[1:]))
    return np.concatenate([np.cumsum(numbers[::-1], axis=0)[::-1], zero])
