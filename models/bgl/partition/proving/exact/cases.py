"""Cases of pairs of nodes: two training nodes are together, or they are apart.

The linear program is that of `subproblems/cut_lp.py`; its cuts hold everywhere and stay for all
cases. A case is solved, cut until little is gained, and if its bound is below the incumbent, split
at the pair for which the lesser of the two bounds rises most. What comes out is a tree of cases
with the prices of their cuts, which is the certificate.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.result import Status

from ...instance import (
    BglPartitionInstance,
    BglPartitionSolution,
)
from ...subproblems.local_search import Weighted
from ..certificate.check import BglPartitionCertificate
from ..certificate.cuts import (
    Branch,
    Cuts,
    Leaf,
    Pair,
    leaf_bound,
)
from ..cut_lp import CutLp
from ..cut_separation import separate
from .cut_rounding import rounded

#: A case is cut no more once so many rounds have closed less than this share of its gap.
#: Tuned: `benchmarks/constants.py`.
ROOT_ROUNDS, ROOT_SHARE = 10, 0.02
ROUNDS, SHARE = 4, 0.1
#: Pairs whose two cases are solved before one is chosen, at the root and deep down.
#: Tuned: `benchmarks/constants.py`.
MOST_TRIED, LEAST_TRIED = 8, 3
#: Cases of a tree; its certificate holds the prices of all leaves.
#: Tuned: `benchmarks/constants.py`.
MOST_CASES = 4000


@dataclass
class _Case:
    """What is decided, the prices that bound it, the bound, and what it was split into."""

    fixed: dict[Pair, int]
    leaf: Leaf
    bound: float
    split: Pair | None = None
    children: list[int] = field(default_factory=list)


class Cases:
    """The tree of cases; `search` gets partitions, and the bound in the end.

    Parameters
    ----------
    instance : BglPartitionInstance
    weighted : Weighted
    search : Search
    clock : Clock
        When to stop: that of the search, or earlier.
    rng : numpy.random.Generator

    Raises
    ------
    ModelRefused
        If there are too many pairs.
    """

    instance: BglPartitionInstance
    rng: np.random.Generator
    search: Search[BglPartitionSolution]
    weighted: Weighted

    def __init__(
        self,
        instance: BglPartitionInstance,
        weighted: Weighted,
        search: Search[BglPartitionSolution],
        clock: Clock,
        rng: np.random.Generator,
    ):
        self.instance, self.weighted, self.search, self.rng = instance, weighted, search, rng
        self.clock = clock
        self.lp: CutLp = CutLp(instance)
        self.scale: int = instance.pair_weights.scale
        self.tree: list[_Case] = [_Case({}, Leaf(), 0)]

    def run(self, most_cases: int = MOST_CASES) -> None:
        """Solve the root and split cases, the one of the least bound first."""
        with self.search.clock.phase("cuts"):
            self._solve(0)
        self._prove()
        open_cases = [(self.tree[0].bound, 0)]
        with self.search.clock.phase("cases"):
            while open_cases and not self.clock.expired and len(self.tree) < most_cases:
                bound, at = heapq.heappop(open_cases)
                if self._closed(bound):
                    break
                self._split(at)
                for child in self.tree[at].children:
                    heapq.heappush(open_cases, (self.tree[child].bound, child))
        self._prove()

    def _closed(self, bound: float) -> bool:
        return math.isinf(bound) or self.search.closes(Fraction(bound) / self.scale)

    # -- a case --------------------------------------------------------------------------------

    def _solve(self, at: int, *, to_the_end: bool = False) -> None:
        """Cut a case until little is gained, or until no cut is violated, and take its bound."""
        case, lp, clock = self.tree[at], self.lp, self.clock
        rounds, share = (ROUNDS, SHARE) if case.fixed else (ROOT_ROUNDS, ROOT_SHARE)
        lp.fix(case.fixed)
        values: list[float] = []
        while not clock.expired:
            status = lp.solve(clock.limits())
            if status is not Status.OPTIMAL:
                self._take(at, empty=status is Status.INFEASIBLE)
                return
            value = lp.lp.objective * lp.unit
            values.append(value)
            if len(values) % 8 == 1:
                self._offer_rounded()
            if self._closed(value):
                break
            gap = max(float(self.search.value) * self.scale - value, 1e-9)
            if (
                not to_the_end
                and len(values) > rounds
                and value - values[-1 - rounds] < share * gap
            ):
                break
            cuts = separate(lp)
            if not cuts or clock.expired:
                break
            if value > max(values[:-1], default=-math.inf):
                lp.purge()
            if not lp.add(cuts):
                lp.solve(clock.limits())
                break
        self._take(at)
        self._offer_rounded()

    def _take(self, at: int, *, empty: bool = False) -> None:
        """Take the prices of the last solve if they prove more than those of the parent."""
        case, lp = self.tree[at], self.lp
        case.bound = max(case.bound, self._bound_of(case.leaf, case.fixed))
        leaf = lp.leaf(empty=empty)
        if leaf is None:
            return
        bound = self._bound_of(leaf, case.fixed)
        if bound > case.bound or not case.leaf.cuts:
            case.leaf, case.bound = leaf, max(0.0, bound)

    def _bound_of(self, leaf: Leaf, fixed: dict[Pair, int]) -> float:
        """Return the bound that prices prove, in scaled weights, a whole number; inf if empty."""
        found = leaf_bound(self.lp.weights, self.lp.inequalities, leaf, self.lp.digits, fixed)
        if leaf.empty:
            return math.inf if found > 0 else 0
        return max(0, -(-found // self.lp.digits))

    def _offer_rounded(self) -> None:
        part = rounded(self.instance, self.weighted, self.lp, self.clock, self.rng)
        if part is not None:
            self._offer(part)

    def _offer(self, part: Ints) -> None:
        cost = self.instance.pair_weights.cut(part)
        self.search.offer(cost, BglPartitionSolution.of(part.tolist()))

    # -- branching -----------------------------------------------------------------------------

    def _split(self, at: int) -> None:
        """Split a case into two and solve both; without an open pair its bound stays."""
        case = self.tree[at]
        self.lp.fix(case.fixed)
        if self.lp.solve(self.clock.limits()) is not Status.OPTIMAL:
            return
        asked = self._pair(case)
        if asked is None:  # cuts that this case needs have left the program
            self._solve(at, to_the_end=True)
            if self._closed(case.bound):
                return
            asked = self._pair(case)
        if asked is None or self.clock.expired:
            return
        case.split = asked
        for apart in (0, 1):
            child = _Case(case.fixed | {asked: apart}, case.leaf, case.bound)
            case.children.append(len(self.tree))
            self.tree.append(child)
        for child_at in case.children:
            self._solve(child_at)

    def _pair(self, case: _Case) -> Pair | None:
        """Return the open pair whose cases promise most, after one solve of each."""
        lp = self.lp
        values = lp.lp.values
        base = lp.lp.objective
        open_by = np.minimum(values, 1 - values)
        among = np.isin(lp.ends, lp.trained).all(axis=1) & (open_by > 1e-6)
        if not among.any():
            among = open_by > 1e-6
        columns = np.flatnonzero(among)
        if not len(columns):
            return None
        tried = max(LEAST_TRIED, MOST_TRIED - len(case.fixed))
        pulls = np.bincount(lp.ends[: lp.weighted].ravel(), minlength=len(lp.nodes))
        heavy = pulls[lp.ends[columns]].sum(axis=1)
        order = np.lexsort((columns, -heavy, -np.round(open_by[columns], 2)))
        best: tuple[float, Pair] | None = None
        for asked in lp.pairs_of(columns[order[:tried]].tolist()):
            if self.clock.expired and best:
                break
            rises = []
            for apart in (0, 1):
                lp.fix(case.fixed | {asked: apart})
                status = lp.solve(self.clock.limits())
                known = status is Status.OPTIMAL
                rises.append(lp.lp.objective - base if known else math.inf)
            score = min(*rises, 1e6) + 0.1 * min(max(rises), 1e6)
            if best is None or score > best[0]:
                best = score, asked
        return best[1] if best else None

    # -- the certificate -----------------------------------------------------------------------

    def _prove(self) -> None:
        """Give the search the least bound of all leaves, with the tree as its certificate."""
        leaves = [case for case in self.tree if case.split is None]
        bound = min(case.bound for case in leaves)
        if math.isinf(bound):
            return
        self.search.prove(
            Fraction(int(bound), self.scale), BglPartitionCertificate(proof=self._proof(leaves))
        )

    def _proof(self, leaves: list[_Case]) -> Cuts:
        cuts, number = self.lp.used(case.leaf for case in leaves)
        return Cuts(cuts=cuts, tree=tuple(self._nodes(number)), unit=self.lp.digits)

    def _nodes(self, number: dict[int, int]) -> Iterator[Branch | Leaf]:
        for case in self.tree:
            if case.split is not None:
                together, apart = case.children
                yield Branch(pair=case.split, together=together, apart=apart)
            else:
                renumbered = tuple(number[c] for c in case.leaf.cuts)
                yield case.leaf.model_copy(update={"cuts": renumbered})
