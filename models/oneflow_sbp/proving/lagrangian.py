r"""The memory limit priced into the costs: a bound from elimination, and its best multiplier.

.. math:: L(\lambda) = \min_x\ c(x) + \sum_g \lambda_g\, (m_g(x) - M^{max})

is a lower bound for all :math:`\lambda \ge 0` (one multiplier for each placement). Multipliers are
whole multiples of 1 / scale of the label graph, so that priced costs are integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from .elimination import (
    Elimination,
    OutOfTime,
    TooWide,
    eliminate,
)
from .order import order_and_sums
from .reweighted import MessageProof, Reweighter

#: Eliminations for the multiplier of one placement. Tuned: `benchmarks/constants.py`.
MOST_STEPS = 60
#: Sums of a bucket in the elimination for the least memory. Tuned: `benchmarks/constants.py`.
MOST_CELLS_OF_MEMORY = 2**20
#: An elimination is not tried if the average node alone would take so many times the sums.
#: Tuned: `benchmarks/configured_models.py`.
_HOPELESS = 8
#: Sweeps of messages where elimination is too wide. Tuned: `benchmarks/constants.py`.
MOST_SWEEPS = 200


@dataclass(frozen=True)
class Point:
    r"""An assignment of small priced cost, and the bound at its multipliers.

    Attributes
    ----------
    multipliers : tuple of int
    bound : int
        A lower bound on :math:`L(\lambda)`, times scale; at least `FORBIDDEN` if no assignment is
        allowed.
    attained : bool
        True if the assignment attains it.
    labels : list of int
        By position in the domains.
    cost : int
        Without the price of memory.
    memory_bytes : list of int
        Of every placement.
    order : list of int
        Of the elimination that gives the bound.
    moved : MessageProof or None
        Proof of the bound where elimination was too wide.
    """

    multipliers: tuple[int, ...]
    bound: int
    attained: bool
    labels: list[int]
    cost: int
    memory_bytes: list[int]
    order: list[int]
    moved: MessageProof | None = None

    def fits(self, limit: int | None) -> bool:
        """Return True if it is allowed and within the limit."""
        allowed = self.cost < FORBIDDEN
        return allowed and (limit is None or max(self.memory_bytes) <= limit)


class Pricing:
    """Optima of one graph under different multipliers.

    Parameters
    ----------
    graph : LabelGraph
    groups : int
        Number of placements.
    most_sums : int
        Of an elimination; where it would take more, messages are passed.
    expired : callable
    gap : float
        Relative gap at which messages are good enough.
    """

    gap: float
    graph: LabelGraph
    groups: int
    most_sums: int
    expired: Callable[[], bool]

    def __init__(
        self,
        graph: LabelGraph,
        groups: int,
        most_sums: int,
        expired: Callable[[], bool],
        gap: float = 0.0,
    ):
        self.graph, self.groups, self.gap = graph, groups, gap
        self.order: list[int]
        self.order, sums = order_and_sums([len(d) for d in graph.domains], graph.edges)
        self.most_sums, self.expired = most_sums, expired
        self.wide: bool = sums > _HOPELESS * most_sums * len(graph.domains)

    def at(self, multipliers: Sequence[int]) -> Point:
        """Return the optimum at these multipliers, or a bound and an assignment."""
        priced = self.graph.priced(multipliers)
        if not self.wide:
            try:
                done = eliminate(priced, self.order, expired=self.expired, most_sums=self.most_sums)
                return self._point(multipliers, done.value, done.value, done.labels())
            except TooWide:
                self.wide = True
        found = Reweighter(priced, FORBIDDEN, self.most_sums, self.expired).run(
            MOST_SWEEPS, self.gap
        )
        labels = found.labels or [0] * len(self.graph.domains)
        return self._point(multipliers, found.bound, found.value, labels, found.proof)

    def _point(
        self,
        multipliers: Sequence[int],
        bound: int,
        value: int,
        labels: list[int],
        moved: MessageProof | None = None,
    ) -> Point:
        memory_bytes = self.graph.memory_bytes(labels, self.groups)
        cost = value - sum(m * b for m, b in zip(multipliers, memory_bytes, strict=True))
        price = sum(multipliers) * (self.graph.limit_bytes or 0)
        return Point(
            tuple(multipliers),
            bound - price if bound < FORBIDDEN else FORBIDDEN,
            bound >= value,
            labels,
            cost if value < FORBIDDEN else FORBIDDEN,
            memory_bytes,
            self.order,
            moved,
        )

    def lightest(self, group: int) -> Elimination:
        """Minimise the bytes on a device of a placement; wide buckets are split."""
        graph = self.graph.memory_only(group)
        return eliminate(graph, self.order, MOST_CELLS_OF_MEMORY, self.expired)

    def best(self, first: Point | None = None, enough: int = FORBIDDEN) -> Ascent:
        """Return the multipliers of the largest bound, and the assignments met on the way.

        Parameters
        ----------
        first : Point, optional
            Where to start; without a price of memory otherwise.
        enough : int
            A bound that need not be raised.
        """
        return Ascent(self, first or self.at((0,) * self.groups), enough)


class Ascent:
    r"""The search for the multipliers of the largest bound.

    For one placement, :math:`L` is concave and piecewise linear. The multiplier at which the lines
    of the cheapest assignment that fits and of the cheapest one known that does not cross is tried
    next (Newton), until no assignment is below both lines. Several placements take turns.

    Attributes
    ----------
    bound : Point
        The largest bound found.
    points : list of Point
        All assignments met.
    """

    enough: int
    pricing: Pricing

    def __init__(self, pricing: Pricing, first: Point, enough: int):
        self.pricing, self.enough = pricing, enough
        self.limit: int | None = pricing.graph.limit_bytes
        self.points: list[Point] = [first]
        self.bound: Point = first
        if self.limit is None:
            return
        try:
            for _ in range(1 if pricing.groups == 1 else 3):
                before = self.bound.bound
                for group in range(pricing.groups):
                    self._climb(group)
                if self.bound.bound <= before:
                    break
        except OutOfTime:
            return

    def _at(self, group: int, multiplier: int) -> Point:
        prices = list(self.bound.multipliers)
        prices[group] = multiplier
        point = self.pricing.at(prices)
        self.points.append(point)
        if point.bound > self.bound.bound:
            self.bound = point
        return point

    def _climb(self, group: int) -> None:
        """Maximise over the multiplier of one placement."""
        limit = self.limit or 0
        rest = self.bound.multipliers

        def line(point: Point) -> tuple[int, int]:
            others = sum(
                prices * (used - limit)
                for g, (prices, used) in enumerate(zip(rest, point.memory_bytes, strict=True))
                if g != group
            )
            return point.cost + others, point.memory_bytes[group] - limit

        last = self.bound
        multiplier = rest[group]
        low = high = None
        for _ in range(MOST_STEPS):
            if last.cost >= FORBIDDEN or self.bound.bound >= self.enough:
                return
            cost, excess = line(last)
            if excess > 0:
                low = (cost, excess)
            else:
                high = (cost, excess)
                if multiplier == 0:
                    return
            if low is None:
                following = 0 if multiplier else -1
            elif high is None:
                following = max(2 * multiplier, 1 + abs(cost) // (4 * excess))
            else:
                following = max(0, (high[0] - low[0]) // (low[1] - high[1]))
            if following in (multiplier, -1):
                return
            try:
                last = self._at(group, following)
            except OverflowError:
                return
            multiplier = following
