"""Bound and assignment of a graph that is too wide for elimination, by reweighted messages.

Dominated labels are removed, then messages are passed. Every few sweeps, elimination among the
labels that the messages favour gives an assignment; labels that the bound rules out against it are
removed, and those that are dominated then. The next sweeps go on with what is left, until
elimination is exact among it.
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
from .order import order_and_sums

#: Sweeps between two bounds, and before the first. Tuned: `benchmarks/configured_models.py`.
_BETWEEN, _FIRST = 25, 50
#: Part of the gap: sweeps that raise the bound by less will not close it. Then an elimination among
#: the labels that are left may take so many times the sums.
#: Tuned: `benchmarks/configured_models.py`.
_SLOW, _MORE_SUMS = 0.05, 4
#: Layers of equal shape cost the time of one, so an elimination is tried if it would take at most
#: so many times the sums without that. Tuned: `benchmarks/configured_models.py`.
_ALIKE = 16
#: Part of the labels; if fewer are removed, the proof goes without.
#: Tuned: `benchmarks/configured_models.py`.
_WORTH_IT = 0.05
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
class Ruled:
    """Labels that were removed: dominated ones, then those that messages rule out.

    Attributes
    ----------
    replaced : list
        The dominated labels; see `Undominated`.
    messages : list of (int array, int array)
        For every pair of nodes of the graph without them.
    cutoff : int
        Labels that need at least this much are ruled out.
    """

    replaced: Replaced
    messages: list[Message]
    cutoff: int


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
    before : sequence of Ruled
        What was removed before; the bound is at most its cutoffs.
    """

    messages: list[Message]
    pairs: list[tuple[int, int]]
    replaced: Replaced
    cutoff: int | None = None
    replaced_then: Replaced = ()
    order: Sequence[int] | None = None
    before: Sequence[Ruled] = ()


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
        self.before: list[Ruled] = []
        self.reduced: LabelGraph = self.graph.restricted(self.kept)
        self.state: Reweighting = Reweighting(self.reduced)
        # Enough for one label of each node.
        self.most_sums: int = max(most_sums, 16 * (64 + len(graph.domains)))
        self.expired = expired
        self.upper = upper
        self.found: Reweighted = Reweighted(0, None, FORBIDDEN, self._proof(self.state.messages()))

    def run(self, most_sweeps: int, gap: float) -> Reweighted:
        """Return what is found after so many sweeps, or once the gap is closed."""
        gap = max(gap, _CLOSED)
        stalled, last, sweeps, fewer = 0, 0, _FIRST, False
        while self.found.sweeps < most_sweeps and stalled < 4 and not self.expired():
            before = self.found.bound
            for _ in range(sweeps):
                self.state.sweep()
            self.found.sweeps += sweeps
            messages = self.state.messages()
            moved = Reparametrisation(self.reduced, messages)
            self._keep(moved, messages)
            room = max(0, self._least - moved.bound)
            if self._least >= FORBIDDEN:
                self._assign(2, 0.0, gap)
            if not fewer:
                self._assign(3, room / 100, gap)
            slow = moved.bound - last < _SLOW * (self._least - moved.bound)
            if slow:
                self._assign(6, room / 20, gap)
            rounds = len(self.before)
            if self._closed(gap) or self._finish(moved, messages, _MORE_SUMS if slow else 1):
                break
            fewer = len(self.before) > rounds
            risen = self.found.bound - before
            stalled = stalled + 1 if risen <= 1e-7 * abs(self.found.bound) else 0
            last, sweeps = moved.bound, _BETWEEN
        return self.found

    @property
    def _least(self) -> int:
        """What is known to be enough."""
        return min(self.upper, self.found.value)

    def _closed(self, gap: float) -> bool:
        return self._least - self.found.bound <= gap * abs(self._least)

    def _keep(self, moved: Reparametrisation, messages: list[Message]) -> None:
        """Keep what messages prove if it is more than before."""
        bound = min(moved.bound, *(ruled.cutoff for ruled in self.before), FORBIDDEN)
        if bound > self.found.bound or self.found.sweeps == _FIRST:
            self.found.bound, self.found.proof = bound, self._proof(messages)

    def _assign(self, labels: int, excess: float, gap: float) -> None:
        """Unless the gap is closed, look for an assignment among labels that messages favour.

        They are so many of each node, or fewer, as none exceeds the node's least by more.
        """
        if not self._closed(gap):
            nearly = excess + 1 + 1e-9 * abs(self.found.bound)
            kept = self.state.likely(labels, nearly)
            self._solve(self.reduced.restricted(kept), kept, 1 / 16)

    def _proof(
        self,
        messages: list[Message],
        cutoff: int | None = None,
        replaced_then: Replaced = (),
        order: Sequence[int] | None = None,
    ) -> MessageProof:
        pairs = [(u, v) for u, v, _ in self.reduced.edges]
        return MessageProof(
            messages, pairs, self.replaced, cutoff, replaced_then, order, tuple(self.before)
        )

    def _solve(
        self, left: LabelGraph, kept: dict[int, tuple[int, ...]], more: float
    ) -> tuple[int, list[int]] | None:
        """Take the best assignment of a graph among some labels of the reduced one.

        Return its value and the order; None if it is too wide. It may take so many times the sums.
        """
        most_sums = int(more * self.most_sums)
        order, sums = order_and_sums([len(d) for d in left.domains], left.edges)
        if sums > _ALIKE * most_sums:
            return None
        try:
            done = eliminate(left, order, MOST_CELLS, self.expired, most_sums)
        except (TooWide, OutOfTime):
            return None
        if done.value < self.found.value:
            positions = composed(self.kept, kept)
            self.found.value = done.value
            self.found.labels = [
                positions[o][x] if o in positions else x for o, x in enumerate(done.labels())
            ]
        return done.value, order

    def _finish(self, moved: Reparametrisation, messages: list[Message], more: int) -> bool:
        """Eliminate what the bound does not rule out, or go on with that; return True if done.

        The elimination may take so many times the sums.
        """
        cutoff = self._least
        if cutoff >= FORBIDDEN:
            return False
        kept = moved.below(cutoff)
        if kept is None:
            self.found.bound = cutoff
            self.found.proof = self._proof(messages, cutoff)
            return True
        left = self.reduced.restricted(kept)
        again = undominated(left)
        kept, left = composed(kept, again.kept), left.restricted(again.kept)
        solved = self._solve(left, kept, more)
        if solved is not None:
            value, order = solved
            self.found.bound = min(cutoff, value)
            self.found.proof = self._proof(messages, cutoff, again.replaced, order)
            return True
        labels = sum(map(len, self.reduced.domains))
        if labels - sum(map(len, left.domains)) > _WORTH_IT * labels:
            self.before.append(Ruled(self.replaced, messages, cutoff))
            self.replaced, self.kept = again.replaced, composed(self.kept, kept)
            self.reduced, self.state = left, self.state.restricted(left, kept)
        return False
