r"""Branch and bound around elimination: for memory limits, and for graphs of large width.

Each case restricts the signatures of some operators. Its bound is elimination with memory priced
in, :math:`\max_\lambda L(\lambda)`; without a memory limit and with small tables the first case is
closed by it. Else a case is divided at one operator:

- where elimination was too wide and messages leave a gap, at the operator of most labels and
  neighbours: one label against the rest;
- where memory leaves a gap, at the operator whose memory differs most between the cheapest
  assignment that fits and the one that does not, between the two amounts.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.state import Search
from gadgetopt.system.result import Limits, MethodOutcome

from ..certificate import Branch, Leaf, OneFlowSbpCertificate, leaf_of
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..subproblems.elimination import MOST_CELLS, OutOfTime
from ..subproblems.graph import FORBIDDEN, LabelGraph
from ..subproblems.label_graph import label_graph
from ..subproblems.lagrangian import Ascent, Point, Pricing
from ..subproblems.mixing import mixed


def branch_and_bound(
    instance: OneFlowSbpInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    most_sums: int = 2**26,
) -> MethodOutcome:
    """Solve an instance exactly.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
        With a gap, the search ends as soon as incumbent and bound are that close.
    rng : numpy.random.Generator
        Not used.
    most_sums : int
        Of an elimination; where it would take more, reweighted messages bound and reduce first.
    """
    search = _Search(instance, limits, most_sums)
    try:
        search.start()
        while not search.over:
            search.divide()
    except OutOfTime:
        pass
    search.certificate = search.proof()
    notes = {"cases": len(search.cases), "first_gap": search.first_gap}
    outcome = search.outcome(search.best, **notes)
    if not search.graph.exact:
        outcome.claimed_objective = None
    return outcome


@dataclass
class _Case:
    """A case of the search.

    Attributes
    ----------
    kept : dict
        Positions that restricted nodes keep, in the domains of the whole graph.
    bound : int
        Times scale; `FORBIDDEN` if nothing is allowed.
    multipliers : tuple of int
    crowded : int or None
        The placement whose memory nothing fits.
    point : Point or None
        Where the bound comes from.
    divide_at : (node, positions) or None
        Where it is divided, if it is not closed.
    children : list of int
        Numbers of the two cases it was divided into, and the node and positions of the first.
    """

    kept: dict[int, tuple[int, ...]]
    bound: int
    multipliers: tuple[int, ...] = ()
    crowded: int | None = None
    point: Point | None = None
    divide_at: tuple[int, tuple[int, ...]] | None = None
    children: list[int] = field(default_factory=list)


class _Search(Search[OneFlowSbpSolution]):
    """The open cases, and the incumbent in units of 1 / scale."""

    def __init__(self, instance: OneFlowSbpInstance, limits: Limits, most_sums: int):
        super().__init__("min", limits)
        self.instance = instance
        self.groups = len(instance.placements)
        self.most_sums = most_sums
        self.graph: LabelGraph = LabelGraph([], [], [], [], Fraction(1), True, [], [], None, 0)
        self.cases: list[_Case] = []
        self.open: list[tuple[int, int]] = []
        self.divided: set[int] = set()
        self.first_gap: float | None = None

    def start(self) -> None:
        """Bound the whole instance."""
        with self.clock.phase("tables"):
            self.graph = label_graph(self.instance)
        with self.clock.phase("first bound"):
            self._add({}, (0,) * self.groups)
        self._raise_bound()
        if self.best is not None and self.value:
            self.first_gap = float(
                (Fraction(self.value) - Fraction(self.bound)) / Fraction(self.value)
            )

    def divide(self) -> None:
        """Divide the open case of least bound."""
        with self.clock.phase("cases"):
            _, number = self.open[0]
            case = self.cases[number]
            assert case.divide_at is not None, "closed cases are not open"
            o, first = case.divide_at
            allowed = case.kept.get(o, tuple(range(len(self.graph.domains[o]))))
            second = tuple(p for p in allowed if p not in first)
            made = [self._add({**case.kept, o: part}, case.multipliers) for part in (first, second)]
            case.children.extend(made)
            self.open = [entry for entry in self.open if entry[1] != number]
            heapq.heapify(self.open)
        self._raise_bound()

    def _add(self, kept: dict[int, tuple[int, ...]], multipliers: tuple[int, ...]) -> int:
        """Bound a case, and keep it open if it is not closed; return its number."""
        graph = self.graph.restricted(kept)
        decided = all(len(d) == 1 for d in graph.domains[: graph.operators])
        most_sums = MOST_CELLS if decided else self.most_sums
        pricing = Pricing(graph, self.groups, most_sums, self._expired, self.gap)
        case = _Case(kept, FORBIDDEN, multipliers)
        first = pricing.at(multipliers)
        if not first.fits(graph.limit_bytes):
            case.crowded = self._crowded(pricing)
        if case.crowded is None:
            ascent = pricing.best(first, self._enough())
            point = ascent.bound
            case.bound, case.multipliers, case.point = point.bound, point.multipliers, point
            if point.bound < FORBIDDEN:
                self._consider(graph, ascent)
                case.divide_at = self._division(graph, ascent, kept)
        self.cases.append(case)
        number = len(self.cases) - 1
        if case.bound < FORBIDDEN and not self.closes(Fraction(case.bound, self.graph.scale)):
            heapq.heappush(self.open, (case.bound, number))
        return number

    def _enough(self) -> int:
        """Return a bound that closes a case, times scale."""
        if self.best is None:
            return FORBIDDEN
        least = Fraction(self.value) * (1 - Fraction(self.gap))
        return math.ceil(least * self.graph.scale)

    def _expired(self) -> bool:
        return self.clock.expired

    def _crowded(self, pricing: Pricing) -> int | None:
        limit = self.instance.memory_limit_bytes
        if limit is None:
            return None
        for group in range(self.groups):
            least = pricing.least_memory(group)
            if least > limit:
                return group
        return None

    def _consider(self, graph: LabelGraph, ascent: Ascent) -> None:
        """Offer the assignments of a case that fit, and mixtures of them with those that do not."""
        limit = graph.limit_bytes
        allowed = [p for p in ascent.points if p.cost < FORBIDDEN]
        fitting = sorted((p for p in allowed if p.fits(limit)), key=lambda p: p.cost)
        others = [p for p in allowed if not p.fits(limit)]
        for point in fitting[:1]:
            self._offer(graph, point.labels, point.cost)
        for point in fitting[:3]:
            for other in others:
                labels = mixed(graph, point.labels, other.labels, self.groups)
                self._offer(graph, labels, graph.value(labels))

    def _offer(self, graph: LabelGraph, labels: Sequence[int], cost: int) -> None:
        if cost < FORBIDDEN:
            self.offer(Fraction(cost, graph.scale), graph.solution(labels))

    def _division(
        self, graph: LabelGraph, ascent: Ascent, kept: dict[int, tuple[int, ...]]
    ) -> tuple[int, tuple[int, ...]] | None:
        """Return a node and the positions, in the whole graph, of its first case."""
        found = (
            _widest(graph, ascent.bound) or _most_different(graph, ascent) or _most_varied(graph)
        )
        if found is None:
            return None
        o, first = found
        whole = kept.get(o, tuple(range(len(self.graph.domains[o]))))
        return o, tuple(whole[p] for p in first)

    def _raise_bound(self) -> None:
        """Take the least bound of the open cases."""
        value = self.value
        self.open = [
            entry for entry in self.open if not self.closes(Fraction(entry[0], self.graph.scale))
        ]
        heapq.heapify(self.open)
        if not self.open:
            if self.best is None:
                self.infeasible = True
            else:
                closed = [c.bound for c in self.cases if not c.children and c.bound < FORBIDDEN]
                least = Fraction(min(closed), self.graph.scale)
                self._proved(min(least, Fraction(value)))
        else:
            self._proved(Fraction(self.open[0][0], self.graph.scale))

    def _proved(self, bound: Fraction) -> None:
        """Take a bound with its tree of cases: the messages of later cases may prove less."""
        if self.prove(bound):
            self.divided = {i for i, case in enumerate(self.cases) if case.children}

    def proof(self) -> OneFlowSbpCertificate | None:
        """Return the tree of cases as a certificate."""
        if not self.cases or self.infeasible:
            return None
        tree: list[Branch | Leaf] = []
        pending = [0]
        while pending:
            number = pending.pop()
            case = self.cases[number]
            if number in self.divided:
                assert case.divide_at is not None, "divided"
                o, first = case.divide_at
                signatures = tuple(self.graph.domains[o][p] for p in first)
                tree.append(Branch(operator=o, signatures=signatures))
                pending.extend(reversed(case.children))
            else:
                tree.append(self._leaf(case))
        return OneFlowSbpCertificate(tree=tuple(tree), most_cells=MOST_CELLS)

    def _leaf(self, case: _Case) -> Leaf:
        if case.crowded is not None or case.point is None:
            return Leaf(crowded=case.crowded)
        return leaf_of(self.graph, case.point)


def _widest(graph: LabelGraph, point: Point) -> tuple[int, tuple[int, ...]] | None:
    """Return the operator of most labels and neighbours, and its label in the assignment."""
    if point.attained:
        return None
    degree = [0] * len(graph.domains)
    for u, v, _ in graph.edges:
        degree[u] += 1
        degree[v] += 1
    wide = [o for o in range(graph.operators) if len(graph.domains[o]) > 1]
    if not wide:
        return None
    o = max(wide, key=lambda o: (degree[o] * len(graph.domains[o]), -o))
    return o, (point.labels[o],)


def _most_different(graph: LabelGraph, ascent: Ascent) -> tuple[int, tuple[int, ...]] | None:
    """Return the operator at which memory differs most, and its labels of less memory."""
    limit = graph.limit_bytes
    if limit is None:
        return None
    allowed = [p for p in ascent.points if p.cost < FORBIDDEN]
    fitting = [p for p in allowed if p.fits(limit)]
    others = [p for p in allowed if not p.fits(limit)]
    if not others:
        return None
    other = max(others, key=lambda p: p.bound)
    light = (
        max(fitting, key=lambda p: p.bound).labels
        if fitting
        else [int(graph.tables[t].argmin()) for t in graph.memory]
    )
    most, found = 0, None
    for o in range(graph.operators):
        memory = graph.tables[graph.memory[o]]
        less, more = sorted((int(memory[light[o]]), int(memory[other.labels[o]])))
        if more - less > most:
            most, found = more - less, (o, _at_most(memory, less))
    return found


def _most_varied(graph: LabelGraph) -> tuple[int, tuple[int, ...]] | None:
    """Return the operator of the largest range of memory, else of most labels, and one part."""
    spread = {
        o: (int(np.ptp(graph.tables[graph.memory[o]])), len(graph.domains[o]), -o)
        for o in range(graph.operators)
        if len(graph.domains[o]) > 1
    }
    if not spread:
        return None
    o = max(spread, key=spread.__getitem__)
    memory = graph.tables[graph.memory[o]]
    return o, _at_most(memory, int(memory.min())) if spread[o][0] else (0,)


def _at_most(memory: Ints, most: int) -> tuple[int, ...]:
    return tuple(p for p in range(len(memory)) if memory[p] <= most)
