r"""Trees of bounded depth: column generation with exact hop-constrained pricing.

Formulation F8f. Columns are pairs p of an in-tree and an out-tree whose heights, in logical hops,
add up to at most H (a collective of one stage has one tree of height at most H):

.. math:: \max \sum_p x_p \quad \text{s.t.} \quad \sum_p n_i(p)\, x_p \le c_i \ \ (\text{rows } i),
          \quad \sum_{p \ni r} x_p = \omega_r \sum_p x_p \text{ where a share } \omega_r \text{ is
          given.}

For any prices y >= 0, with :math:`\pi_r(y)` the price of the cheapest such pair at root r,

.. math:: R \le \frac{\sum_i c_i y_i}{\min_r \pi_r(y)}, \qquad
          R \le \frac{\sum_i c_i y_i}{\sum_r \omega_r \pi_r(y)} \text{ with given shares.}

Pricing is a dynamic program over sets of workers (`shallow_trees`) on the cheapest paths through
switches. The bound is evaluated at prices rounded to integers, in exact arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
)

from ...instance import ForestPackingCertificate, ForestPackingInstance, ShallowPrices
from ...network import Network
from ...packing import (
    Pair,
    Route,
    required_shares,
)
from ...subproblems.closure import Closure
from ...subproblems.exact_rates import (
    read_exactly,
    row_uses,
)
from ...subproblems.price_certificates import roundings
from ..proved_outcome import proved_outcome
from .rational_duals import singletons_certificate
from .shallow_trees import (
    MOST_NODES,
    ShallowTrees,
)

#: Relative agreement of rate and bound at which generation ends. Tuned: `benchmarks/constants.py`.
AGREEMENT = 1e-9
#: Feasibility of rows and reduced costs of the scaled LP. Tuned: `benchmarks/constants.py`.
FEASIBILITY = 1e-10
#: Integer prices in sums below this are added without error in doubles. By definition.
EXACT = 2**50


@dataclass(frozen=True)
class PricedPair:
    """A cheapest pair at a root: its price, and its trees as routes."""

    price: float
    root: int
    reduce: tuple[Route, ...]
    broadcast: tuple[Route, ...]

    def with_rate(self, rate: Fraction) -> Pair:
        """Return the pair with a rate."""
        return Pair(self.root, self.reduce, self.broadcast, rate)


class ShallowPairs:
    """Pricing oracle: the cheapest pairs of depth at most H under prices of the rows."""

    instance: ForestPackingInstance
    network: Network

    def __init__(self, instance: ForestPackingInstance, depth: int):
        self.instance, self.network = instance, instance.network
        self.N = self.network.num_workers
        self.trees: ShallowTrees = ShallowTrees(self.N)
        self.closure: Closure = Closure(self.network)
        # Both trees need at least one hop and at most N - 1.
        self.depth = depth
        self.height: int = min(self.N - 1, depth - len(instance.stages) + 1)

    def _arc_prices(self, y: Floats) -> Floats:
        prices = np.zeros(len(self.network.arcs))
        for i, row in enumerate(self.network.rows):
            prices[list(row.arcs)] += y[i]
        return prices

    def prices(self, y: Floats) -> Floats:
        """Return pi_r(y) of every worker, infinite where there is no pair, shape (N,)."""
        return np.array([p.price for p in self._solve(y, build=False)])

    def pairs(self, y: Floats) -> list[PricedPair]:
        """Return a cheapest pair at every root that has one."""
        return [p for p in self._solve(y, build=True) if math.isfinite(p.price)]

    def _solve(self, y: Floats, *, build: bool) -> list[PricedPair]:
        if self.height < 1:
            return [PricedPair(math.inf, r, (), ()) for r in range(self.N)]
        dist = self.closure.update(self._arc_prices(y))
        stages = self.instance.stages
        solved = {
            stage: self.trees.solve(
                dist.T.copy() if stage == "reduce" else dist.copy(), self.height
            )
            for stage in stages
        }
        found = []
        for r in range(self.N):
            splits = self._splits()
            costs = [
                sum(solved[stage].cost_of[h, r] for stage, h in zip(stages, split, strict=True))
                for split in splits
            ]
            best = int(np.argmin(costs))
            routes: dict[str, tuple[Route, ...]] = {}
            if build and math.isfinite(costs[best]):
                for stage, h in zip(stages, splits[best], strict=True):
                    routes[stage] = tuple(
                        self.closure.route(v, u) if stage == "reduce" else self.closure.route(u, v)
                        for u, v in solved[stage].tree(r, h)
                    )
            found.append(
                PricedPair(
                    float(costs[best]), r, routes.get("reduce", ()), routes.get("broadcast", ())
                )
            )
        return found

    def _splits(self) -> list[tuple[int, ...]]:
        """Return how the depth can be divided between the stages."""
        if len(self.instance.stages) == 1:
            return [(self.height,)]
        return [
            (h, min(self.height, self.depth - h))
            for h in range(1, self.height + 1)
            if self.depth - h >= 1
        ]


class _Master:
    """The restricted master LP."""

    def __init__(self, instance: ForestPackingInstance, most_rate: float):
        self.instance, self.network = instance, instance.network
        self.lp = PersistentLp(
            "max",
            primal_feasibility_tolerance=FEASIBILITY,
            dual_feasibility_tolerance=FEASIBILITY,
        )
        self._pool: ColumnPool[PricedPair] = ColumnPool(self.lp)
        capacity = self.network.row_capacity_float
        self.scale = most_rate
        # A pair uses a row 2 (N - 1) times at most; twice that never binds.
        capacity = np.minimum(capacity, 4 * self.network.num_workers * most_rate)
        self.num_rows = len(capacity)
        zeros = np.zeros(self.num_rows)
        self.lp.add_rows(zeros - INFINITY, capacity / self.scale, zeros, [], [])
        shares = required_shares(instance)
        self.row_of_root: dict[int, int] = {}
        if shares is not None:
            # The rates of root r are w_r R; columns at other roots are never added.
            first = self.num_rows
            new = np.zeros(len(shares))
            self.lp.add_rows(new, new, new, [], [])
            self.row_of_root = {r: first + i for i, r in enumerate(shares)}
            self.lp.add_columns(
                [1.0],
                [0.0],
                [INFINITY],
                [0],
                list(self.row_of_root.values()),
                [-float(w) for w in shares.values()],
            )
        self.shares = shares

    def add(self, pairs: Iterable[PricedPair]) -> int:
        """Add the columns that are new; return how many."""
        cost = 0.0 if self.shares is not None else 1.0
        for p in pairs:
            if self.shares is not None and p.root not in self.row_of_root:
                continue
            uses = row_uses(self.instance, p.with_rate(self.network.unit))
            if self.shares is not None:
                uses[self.row_of_root[p.root]] = 1
            key = (p.root, p.reduce, p.broadcast)
            self._pool.add(key, p, cost, list(uses), [float(n) for n in uses.values()])
        return self._pool.enter()

    @property
    def columns(self) -> list[PricedPair]:
        """The pairs found so far."""
        return self._pool.payloads

    @property
    def rates(self) -> Floats:
        """Rates of the columns in GB/s."""
        return self._pool.values * self.scale

    @property
    def prices(self) -> Floats:
        """Prices of the network's rows."""
        return np.maximum(self.lp.row_duals[: self.num_rows], 0.0)


@dataclass
class _Run:
    """State of the column generation."""

    bound: float = math.inf
    prices: Floats | None = None
    rounds: int = 0
    limit_hit: str | None = None


@method(kind="exact", reference="F8f", formulation="bounded_depth", backend="highs")
def bounded_depth(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    """Trees of bounded depth: columns priced exactly.

    Return an optimal packing of pairs whose heights add up to at most `max_depth` (F8f).

    Exact for any network, also with switches, of up to 12 workers.

    Parameters
    ----------
    instance : ForestPackingInstance
        `max_depth` is set, `tree_budget` and `equal_share` are not.
    limits : Limits

    Raises
    ------
    ModelRefused
        If the instance is not of this kind, its stages take turns, its switches copy and sum, or
        there are too many workers.
    """
    depth = _check(instance)
    clock = Clock(limits)
    if not instance.network.rows:  # no links, no trees
        return proved_outcome(instance, [], certificate=singletons_certificate(instance))
    pricing = ShallowPairs(instance, depth)
    # No `Search`: rates and bounds are floats; plan and bound are read exactly once, at the end.
    run, trace = _Run(), Trace(limits, clock)
    start = pricing.pairs(1.0 / instance.network.row_capacity_float)
    if not _connects(instance, start):
        return proved_outcome(
            instance,
            [],
            certificate=ForestPackingCertificate(proof=ShallowPrices()),
            notes={"disconnected": f"no pair of trees of depth {depth} spans the workers"},
        )
    price = _price(instance, {p.root: p.price for p in start})
    master = _Master(instance, float(len(instance.network.rows) / price))
    master.add(start)
    while True:
        status = master.lp.solve(clock.limits())
        if status is not Status.OPTIMAL:
            run.limit_hit = master.lp.limit_hit
            break
        rate = master.lp.objective * master.scale
        new = _price_and_add(instance, pricing, master, run)
        trace.note(rate, run.bound)
        if rate >= run.bound * (1 - AGREEMENT) or not new:
            break
        if clock.expired:
            run.limit_hit = "time_s"
            break
    generated_s = clock.elapsed_s
    unit = instance.network.unit
    certificate = _certificate(instance, pricing, run)
    return proved_outcome(
        instance,
        read_exactly(instance, [p.with_rate(unit) for p in master.columns], master.rates.tolist()),
        certificate=certificate,
        limit_hit=run.limit_hit,
        trace=tuple(trace.points),
        notes={"rounds": run.rounds, "columns": len(master.columns)},
        phases_s={"columns": generated_s, "bound": clock.elapsed_s - generated_s},
    )


def _check(instance: ForestPackingInstance) -> int:
    if instance.max_depth is None:
        raise ModelRefused("bounded_depth: max_depth: none, expected a number of hops")
    reasons = {
        f"tree_budget: {instance.tree_budget}, expected none": instance.tree_budget is not None,
        "equal_share: true, expected false": instance.equal_share,
        "stage_mode: 'sequential', expected 'overlap'": instance.sequential,
        "in_network: true, expected false": instance.in_network,
        f"workers: {len(instance.workers)}, expected at most {MOST_NODES}": (
            len(instance.workers) > MOST_NODES
        ),
    }
    for reason, holds in reasons.items():
        if holds:
            raise ModelRefused(f"bounded_depth: {reason}")
    return instance.max_depth


def _connects(instance: ForestPackingInstance, pairs: list[PricedPair]) -> bool:
    roots, shares = {p.root for p in pairs}, required_shares(instance)
    return bool(roots) if shares is None else roots.issuperset(shares)


def _price_and_add(
    instance: ForestPackingInstance, pricing: ShallowPairs, master: _Master, run: _Run
) -> int:
    """Price at the duals, add the cheapest pair of every root, and keep the best bound."""
    y = master.prices
    found = pricing.pairs(y)
    run.rounds += 1
    price = _price(instance, {p.root: p.price for p in found})
    if price > 0:
        bound = float(instance.network.row_capacity_float @ y) / float(price)
        if bound < run.bound:
            run.bound, run.prices = bound, y
    return master.add(found)


def _price(instance: ForestPackingInstance, by_root: dict[int, float]) -> Fraction:
    """Return min_r pi_r, or sum_r w_r pi_r where shares are given."""
    shares = required_shares(instance)
    if shares is None:
        return Fraction(min(by_root.values()))
    return sum((w * Fraction(by_root[r]) for r, w in shares.items()), Fraction(0))


def _certificate(
    instance: ForestPackingInstance, pricing: ShallowPairs, run: _Run
) -> ForestPackingCertificate | None:
    """Return the prices of the best bound of several roundings to integers."""
    if run.prices is None:
        return None
    rows = instance.network.rows
    best: tuple[Fraction, list[int]] | None = None
    for read in roundings(run.prices):
        whole = math.lcm(*(y.denominator for y in read))
        y = [int(value * whole) for value in read]
        if sum(y) * 2 * len(rows) * instance.network.num_nodes > EXACT:
            continue
        by_root = pricing.prices(np.array(y, dtype=np.float64))
        price = _price(instance, {r: p for r, p in enumerate(by_root.tolist()) if p < math.inf})
        if price > 0:
            capital = sum((v * row.capacity for v, row in zip(y, rows, strict=True)), Fraction(0))
            bound = capital / price
            if best is None or bound < best[0]:
                best = bound, y
    if best is None:
        return None
    prices = {row.name: Fraction(v) for row, v in zip(rows, best[1], strict=True) if v}
    return ForestPackingCertificate(proof=ShallowPrices(prices=prices))
