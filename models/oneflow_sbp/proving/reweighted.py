"""Bound and assignment of a graph that is too wide for elimination, by reweighted messages.

Dominated labels are removed, then messages are passed. Every few sweeps, elimination among the
labels that the messages favour gives an assignment; labels that the bound rules out against it are
removed, and once few enough are left, elimination is exact among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from .dominance import undominated
from .elimination import (
    MOST_CELLS,
    OutOfTime,
    TooWide,
    eliminate,
)
from .messages import (
    Message,
    Reparametrisation,
    Reweighting,
)
from .order import elimination_order

#: Sweeps between two looks at bound and assignment.
_BETWEEN = 5
#: Relative gap that whole messages leave.
_CLOSED = 1e-9


def composed(
    first: dict[int, tuple[int, ...]], second: dict[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Return the positions that are kept by two restrictions, the second of the first's graph."""
    kept = dict(first)
    for o, left in second.items():
        kept[o] = tuple(first[o][p] for p in left) if o in first else left
    return kept


def bound_of_leaf(
    graph: LabelGraph, messages: Sequence[Message], cutoff: int | None, most_cells: int
) -> int:
    """Return the lower bound that messages prove after dominated labels are removed.

    Parameters
    ----------
    graph : LabelGraph
    messages : sequence of (int array, int array)
        For every pair of nodes, with the labels that are not dominated.
    cutoff : int or None
        If given, labels that need at least this much are left out, elimination bounds the rest,
        and the bound is at most the cutoff.
    most_cells : int

    Raises
    ------
    ValueError
        If the messages do not fit.
    """
    merged = graph.merged()
    reduced = merged.restricted(undominated(merged))
    moved = Reparametrisation(reduced, messages)
    if cutoff is None or moved.bound >= cutoff:
        return moved.bound
    return max(moved.bound, min(cutoff, _rest(reduced, moved, cutoff, most_cells)))


def _rest(reduced: LabelGraph, moved: Reparametrisation, cutoff: int, most_cells: int) -> int:
    kept = moved.below(cutoff)
    if kept is None:
        return cutoff
    left = reduced.restricted(kept)
    left = left.restricted(undominated(left))
    order = elimination_order([len(d) for d in left.domains], left.edges)
    return eliminate(left, order, most_cells).value


@dataclass
class Reweighted:
    """The best bound and assignment found.

    Attributes
    ----------
    bound : int
    labels : list of int or None
        Positions in the graph's domains.
    messages : list of (int array, int array)
    cutoff : int or None
        As for `bound_of_leaf`.
    sweeps : int
    """

    bound: int
    labels: list[int] | None
    value: int
    messages: list[Message]
    cutoff: int | None = None
    sweeps: int = 0


class Reweighter:
    """Passes messages on one graph.

    Parameters
    ----------
    graph : LabelGraph
    upper : int
        An assignment of this value is known, or `FORBIDDEN`.
    most_sums : int
        Of an elimination.
    expired : callable
    """

    def __init__(self, graph: LabelGraph, upper: int, most_sums: int, expired: Callable[[], bool]):
        self.graph: LabelGraph = graph.merged()
        self.kept: dict[int, tuple[int, ...]] = undominated(self.graph)
        self.reduced: LabelGraph = self.graph.restricted(self.kept)
        self.state: Reweighting = Reweighting(self.reduced)
        # Enough for one label of each node.
        self.most_sums: int = max(most_sums, 16 * (64 + len(graph.domains)))
        self.expired = expired
        self.upper = upper
        self.found: Reweighted = Reweighted(0, None, FORBIDDEN, self.state.messages())
        self._tried = sum(map(len, self.reduced.domains))

    def run(self, most_sweeps: int, gap: float) -> Reweighted:
        """Return what is found after so many sweeps, or once the gap is closed."""
        gap = max(gap, _CLOSED)
        stalled = 0
        while self.found.sweeps < most_sweeps and stalled < 4 and not self.expired():
            for _ in range(_BETWEEN):
                self.state.sweep()
            self.found.sweeps += _BETWEEN
            before = self.found.bound
            moved = self._look()
            if self._closed(gap) or self._finish(moved):
                break
            risen = self.found.bound - before
            stalled = stalled + 1 if risen <= 1e-7 * abs(self.found.bound) else 0
        return self.found

    def _closed(self, gap: float) -> bool:
        least = min(self.upper, self.found.value)
        return least - self.found.bound <= gap * abs(least)

    def _look(self) -> Reparametrisation:
        messages = self.state.messages()
        moved = Reparametrisation(self.reduced, messages)
        if moved.bound > self.found.bound or self.found.sweeps == _BETWEEN:
            self.found.bound, self.found.messages = moved.bound, messages
        room = max(0, min(self.upper, self.found.value) - moved.bound)
        for labels, excess in ((2, 0.0), (3, room / 100), (6, room / 20)):
            kept = self.state.likely(labels, excess + 1 + 1e-9 * abs(moved.bound))
            self._solve(kept, self.most_sums // 16)
        return moved

    def _solve(self, kept: dict[int, tuple[int, ...]], most_sums: int) -> int | None:
        """Take the best assignment among some labels; return its value, None if too wide."""
        left = self.reduced.restricted(kept)
        again = undominated(left)
        left = left.restricted(again)
        order = elimination_order([len(d) for d in left.domains], left.edges)
        try:
            done = eliminate(left, order, MOST_CELLS, self.expired, most_sums)
        except (TooWide, OutOfTime):
            return None
        if done.value < self.found.value:
            positions = composed(composed(self.kept, kept), again)
            self.found.value = done.value
            self.found.labels = [
                positions[o][x] if o in positions else x for o, x in enumerate(done.labels())
            ]
        return done.value

    def _finish(self, moved: Reparametrisation) -> bool:
        """Eliminate what the bound does not rule out, if that is little enough."""
        cutoff = min(self.upper, self.found.value)
        if cutoff >= FORBIDDEN:
            return False
        kept = moved.below(cutoff)
        if kept is None:
            value: int | None = cutoff
        else:
            left = sum(len(kept.get(o, d)) for o, d in enumerate(self.reduced.domains))
            if left > 0.97 * self._tried:
                return False
            self._tried = left
            value = self._solve(kept, self.most_sums)
        if value is None:
            return False
        self.found.bound = min(cutoff, value)
        self.found.cutoff = cutoff
        self.found.messages = self.state.messages()
        return True
