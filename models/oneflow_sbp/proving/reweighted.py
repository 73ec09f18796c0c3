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
from .dominance import Replaced, undominated
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

#: Sweeps between two bounds, every second of which comes with a look for an assignment; a look
#: takes as long as fifty sweeps. Tuned: `benchmarks/configured_models.py`.
_BETWEEN = 25
#: Part of the gap: sweeps between two bounds that raise them by less will not close it. Then an
#: elimination among the labels that are left may take so many times the sums.
#: Tuned: `benchmarks/configured_models.py`.
_SLOW, _MORE_SUMS = 0.05, 4
#: Part of the labels of the last elimination that was too wide; with more of them none is tried.
#: Tuned: `benchmarks/constants.py`.
_FEWER = 0.7
#: Relative gap that whole messages leave. Tuned: `benchmarks/constants.py`.
_CLOSED = 1e-9


def composed(
    first: dict[int, tuple[int, ...]], second: dict[int, tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Return the positions that are kept by two restrictions, the second of the first's graph."""
    kept = dict(first)
    for o, left in second.items():
        kept[o] = tuple(first[o][p] for p in left) if o in first else left
    return kept


@dataclass(frozen=True)
class MessageProof:
    """Why a bound of messages holds.

    Attributes
    ----------
    messages : list of (int array, int array)
        For every pair of nodes of the merged graph without dominated labels.
    pairs : list of (int, int)
        These pairs.
    replaced : list
        The labels that were dominated; see `Undominated`.
    cutoff : int or None
        If given, labels that need at least this much are left out, elimination bounds the rest,
        and the bound is at most the cutoff.
    replaced_then : list
        The labels that were dominated among the rest.
    order : list of int or None
        Of that elimination.
    """

    messages: list[Message]
    pairs: list[tuple[int, int]]
    replaced: Replaced
    cutoff: int | None = None
    replaced_then: Replaced = ()
    order: Sequence[int] | None = None


@dataclass
class Reweighted:
    """The best bound and assignment found.

    Attributes
    ----------
    bound : int
    labels : list of int or None
        Positions in the graph's domains.
    proof : MessageProof
    sweeps : int
    """

    bound: int
    labels: list[int] | None
    value: int
    proof: MessageProof
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
        without = undominated(self.graph)
        self.kept: dict[int, tuple[int, ...]] = without.kept
        self.replaced: Replaced = without.replaced
        self.reduced: LabelGraph = self.graph.restricted(self.kept)
        self.state: Reweighting = Reweighting(self.reduced)
        # Enough for one label of each node.
        self.most_sums: int = max(most_sums, 16 * (64 + len(graph.domains)))
        self.expired = expired
        self.upper = upper
        self.found: Reweighted = Reweighted(0, None, FORBIDDEN, self._proof(self.state.messages()))
        self._most_labels: float = sum(map(len, self.reduced.domains)) - 1

    def run(self, most_sweeps: int, gap: float) -> Reweighted:
        """Return what is found after so many sweeps, or once the gap is closed."""
        gap = max(gap, _CLOSED)
        stalled = 0
        while self.found.sweeps < most_sweeps and stalled < 4 and not self.expired():
            before = self.found.bound
            halfway = self._swept().bound
            moved = self._swept()
            room = max(0, self._least - moved.bound)
            self._assign(2, 0.0, gap)
            self._assign(3, room / 100, gap)
            slow = moved.bound - halfway < _SLOW * (self._least - moved.bound)
            if slow:
                self._assign(6, room / 20, gap)
            if self._closed(gap) or self._finish(moved, _MORE_SUMS if slow else 1):
                break
            risen = self.found.bound - before
            stalled = stalled + 1 if risen <= 1e-7 * abs(self.found.bound) else 0
        return self.found

    @property
    def _least(self) -> int:
        """What is known to be enough."""
        return min(self.upper, self.found.value)

    def _closed(self, gap: float) -> bool:
        return self._least - self.found.bound <= gap * abs(self._least)

    def _swept(self) -> Reparametrisation:
        """Pass messages, and keep what they prove if it is more than before."""
        for _ in range(_BETWEEN):
            self.state.sweep()
        messages = self.state.messages()
        moved = Reparametrisation(self.reduced, messages)
        if moved.bound > self.found.bound or self.found.sweeps == 0:
            self.found.bound, self.found.proof = moved.bound, self._proof(messages)
        self.found.sweeps += _BETWEEN
        return moved

    def _assign(self, labels: int, excess: float, gap: float) -> None:
        """Unless the gap is closed, look for an assignment among labels that messages favour.

        They are so many of each node, or fewer, as none exceeds the node's least by more.
        """
        if not self._closed(gap):
            nearly = excess + 1 + 1e-9 * abs(self.found.bound)
            self._solve(self.state.likely(labels, nearly), self.most_sums // 16)

    def _proof(
        self,
        messages: list[Message],
        cutoff: int | None = None,
        replaced_then: Replaced = (),
        order: Sequence[int] | None = None,
    ) -> MessageProof:
        pairs = [(u, v) for u, v, _ in self.reduced.edges]
        return MessageProof(messages, pairs, self.replaced, cutoff, replaced_then, order)

    def _solve(
        self, kept: dict[int, tuple[int, ...]], most_sums: int
    ) -> tuple[int, Replaced, list[int]] | None:
        """Take the best assignment among some labels.

        Return its value, which labels were dominated, and the order; None if it is too wide.
        """
        left = self.reduced.restricted(kept)
        again = undominated(left)
        left = left.restricted(again.kept)
        order = elimination_order([len(d) for d in left.domains], left.edges)
        try:
            done = eliminate(left, order, MOST_CELLS, self.expired, most_sums)
        except (TooWide, OutOfTime):
            return None
        if done.value < self.found.value:
            positions = composed(composed(self.kept, kept), again.kept)
            self.found.value = done.value
            self.found.labels = [
                positions[o][x] if o in positions else x for o, x in enumerate(done.labels())
            ]
        return done.value, again.replaced, order

    def _finish(self, moved: Reparametrisation, more: int) -> bool:
        """Eliminate what the bound does not rule out, if that is little enough.

        It may take so many times the sums.
        """
        cutoff = self._least
        if cutoff >= FORBIDDEN:
            return False
        kept = moved.below(cutoff)
        if kept is None:
            solved: tuple[int, Replaced, list[int]] | None = (cutoff, (), [])
        else:
            left = sum(len(kept.get(o, d)) for o, d in enumerate(self.reduced.domains))
            if left > self._most_labels * more:
                return False
            self._most_labels = _FEWER * left
            solved = self._solve(kept, more * self.most_sums)
        if solved is None:
            return False
        value, replaced_then, order = solved
        self.found.bound = min(cutoff, value)
        self.found.proof = self._proof(self.state.messages(), cutoff, replaced_then, order or None)
        return True
