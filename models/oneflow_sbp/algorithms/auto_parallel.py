"""The auto-parallel search: eliminations, merging, a feasible start, neighbourhoods, memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import OneFlowSbpInstance
from ..subproblems.graph import FORBIDDEN, LabelGraph
from ..subproblems.label_graph import label_graph
from .inference import signatures_of
from .neighbourhood import feasible_start, improve
from .reduction import Reduction

Memory = Literal["off", "slight", "moderate", "heavy", "adaptive"]
#: Weights of a byte of memory against a byte moved.
WEIGHTS: dict[Memory, float] = {
    "off": 0.0,
    "slight": 0.4,
    "moderate": 4.3,
    "heavy": 11.0,
    "adaptive": 0.0,
}
#: Of the adaptive weight: its first value above 0, and its last. By definition.
_FLOOR, _CEILING = 0.1, 22.0
#: Nodes up to which every change is noted in the trace; of k times as many, every k-th.
#: By definition.
_NOTED = 64
#: From this excess over the memory that is available the weight goes to its last value at once.
#: By definition.
_FAR_TOO_MUCH = 1.4


@method(kind="heuristic", reference="released source, auto-parallel")
def auto_parallel(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    memory: Memory = "adaptive",
) -> MethodOutcome:
    r"""Eliminations and merging, then search of neighbourhoods; memory by weight.

    Return the best signatures of OneFlow's auto-parallel search.

    Without shared boxing and with adaptive memory it is the same result as `plain`, tested.

    1. Costs of operators, of conversions, and a constant for every conversion that moves anything
       (`costs.wait`) make a graph of tables; a byte of memory is added with a weight.
    2. Nodes of at most two neighbours are eliminated, which is exact; where there are none, two
       nodes are merged into one, while that has few labels, and eliminations go on.
    3. If the first label of every node that is left is not feasible, a depth-first search finds
       labels that are.
    4. The labels of a node and of a few neighbours at a time are chosen anew until no choice
       improves.
    5. The eliminated nodes get their labels.
    6. With the adaptive weight: if a device needs more memory than is available, the weight is
       doubled, between 0.1 and 22, and the search repeated; it goes to 22 at once if the memory is
       exceeded by 40 %.

    There is no guarantee; where step 2 eliminates all nodes and memory has no weight, the result is
    optimal. Left out of the released source: waiting times reduced off the critical chain ("trunk")
    and shared conversions during the search ("collector"); an instance with shared boxing is
    searched with it.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
    memory : "off", "slight", "moderate", "heavy" or "adaptive"
        Weight of memory: 0, 0.4, 4.3, 11, or as step 6 says.
    """
    return search(instance, limits, memory, Steps())


@dataclass(frozen=True)
class Steps:
    """What the search does, and its constants.

    Attributes
    ----------
    reduce : bool
        Steps 2 and 5.
    most_merged : int
        Labels that a merged node may have; the pair of the fewest is merged first (reconstructed).
    start : "first" or "greedy"
        The first labels, or the compiler's greedy ones, if nodes are neither eliminated nor merged.
    ring : int
        Neighbours whose labels are chosen together with a node's.
    reserve : float
        The memory that is available is the limit divided by this.
    """

    reduce: bool = True
    most_merged: int = 100
    start: Literal["first", "greedy"] = "first"
    ring: int = 3
    reserve: float = 1.04 * 1.06

    def __post_init__(self) -> None:
        if self.most_merged < 0 or not 0 <= self.ring <= 6:
            raise ModelRefused("most_merged, ring: expected at least 0, and at most 6 neighbours")
        if not self.reserve >= 1:
            raise ModelRefused(f"reserve: {self.reserve}, expected at least 1")


def search(
    instance: OneFlowSbpInstance, limits: Limits, memory: Memory, steps: Steps
) -> MethodOutcome:
    """Return the best signatures of the search with these steps."""
    clock = Clock(limits)
    # No `Search`: the result is what the steps end with, not the best labels that they pass.
    trace = Trace(limits, clock)
    with clock.phase("tables"):
        graph = label_graph(instance)
    run = _Run(instance, graph, clock, steps, trace)
    limit = instance.memory_limit_bytes
    available = None if limit is None else limit / steps.reserve
    weight = WEIGHTS[memory]
    best: tuple[int, list[int]] | None = None
    weights = []
    while True:
        weights.append(weight)
        labels = run.search(weight)
        used = max(graph.memory_bytes(labels, run.groups)) if labels is not None else None
        if labels is not None and used is not None and (limit is None or used <= limit):
            found = graph.value(labels), labels
            best = found if best is None else min(best, found)
        if memory != "adaptive" or used is None or available is None or used <= available:
            break
        if weight >= _CEILING or clock.expired:
            break
        far = used > _FAR_TOO_MUCH * available
        weight = _CEILING if far else min(_CEILING, max(_FLOOR, 2 * weight))
    return MethodOutcome(
        solution=None if best is None else graph.solution(best[1]),
        claimed_objective=None
        if best is None or not graph.exact
        else Fraction(best[0], graph.scale),
        limit_hit="time_s" if clock.expired else None,
        phases_s=clock.phases_s,
        trace=tuple(trace.points),
        notes={"memory_weights": weights, "nodes_left": run.nodes_left},
    )


def _coarser(graph: LabelGraph, shift: int) -> LabelGraph:
    """Return the graph whose costs are divided by a power of two and rounded down."""
    if not shift:
        return graph
    bytes_of = set(graph.memory)
    tables = [
        t if k in bytes_of else np.where(t >= FORBIDDEN, FORBIDDEN, t >> shift)
        for k, t in enumerate(graph.tables)
    ]
    return replace(graph, tables=tables)


class _Run:
    """Steps 2 to 5 for one weight of memory."""

    def __init__(
        self,
        instance: OneFlowSbpInstance,
        graph: LabelGraph,
        clock: Clock,
        steps: Steps,
        trace: Trace,
    ):
        self.instance, self.graph, self.clock = instance, graph, clock
        self.steps = steps
        self.groups = len(instance.placements)
        self.nodes_left = len(graph.domains)
        self._trace = trace
        self._least: int | None = None  # of the labels that fit the memory, so far

    def search(self, weight: float) -> list[int] | None:
        """Return labels of all nodes by their positions, None if no feasible ones were found."""
        clock = self.clock
        reduced = Reduction(self._weighted(weight))
        if self.steps.reduce:
            with clock.phase("reduction"):
                reduced.reduce(self.steps.most_merged, lambda: clock.expired)
        self.nodes_left = len(reduced.costs)
        with clock.phase("start"):
            labels = self._start(reduced)
        if labels is None:
            return None
        with clock.phase("neighbourhoods"):
            self._note(reduced.unfolded(labels))
            # To evaluate labels takes as long as there are nodes, and so do the changes.
            changes, stride = count(1), max(1, self.nodes_left // _NOTED)

            def told(better: dict[int, int]) -> None:
                if next(changes) % stride == 0:
                    self._note(reduced.unfolded(better))

            labels = improve(reduced, labels, self.steps.ring, lambda: clock.expired, told)
            self._note(reduced.unfolded(labels))
        found = reduced.unfolded(labels)
        return found if self.graph.value(found) < FORBIDDEN else None

    def _note(self, labels: list[int]) -> None:
        """Note labels that fit the memory and are the best so far."""
        value, limit = self.graph.value(labels), self.instance.memory_limit_bytes
        if value >= FORBIDDEN or (self._least is not None and value >= self._least):
            return
        if limit is None or max(self.graph.memory_bytes(labels, self.groups)) <= limit:
            self._least = value
            self._trace.note(Fraction(value, self.graph.scale), None)

    def _weighted(self, weight: float) -> LabelGraph:
        """Return the graph whose costs have memory added, in as fine units as 64 bits allow."""
        for shift in count(step=4):
            try:
                return _coarser(self.graph, shift).priced(self._prices(weight, shift))
            except OverflowError:
                continue
        raise AssertionError("costs of nothing fit")

    def _prices(self, weight: float, shift: int) -> list[int]:
        """Return the cost of a byte of memory in every group, times the graph's scale."""
        costs = self.instance.costs
        price = Fraction(weight) * self.graph.scale / 2**shift
        prices = []
        for placement in self.instance.placements:
            if costs.unit == "seconds":
                rate = Fraction(costs.link_bytes_per_s or 1) * placement.devices
                prices.append(round(price / rate))
            else:
                prices.append(round(price))
        return prices

    def _start(self, reduced: Reduction) -> dict[int, int] | None:
        labels = dict.fromkeys(reduced.costs, 0)
        if self.steps.start == "greedy" and not self.steps.reduce:
            labels = self._greedy(labels) or labels
        if reduced.value(labels) < FORBIDDEN:
            return labels
        return feasible_start(reduced, lambda: self.clock.expired)

    def _greedy(self, labels: dict[int, int]) -> dict[int, int] | None:
        """Return the compiler's signatures as labels; auxiliary nodes are converted."""
        signature, _ = signatures_of(self.instance, {})
        if signature is None:
            return None
        positions = self._positions(signature)
        return {o: positions.get(o, 1) for o in labels}

    def _positions(self, signature: Sequence[int]) -> dict[int, int]:
        return {
            o: self.graph.domains[o].index(k)
            for o, k in enumerate(signature)
            if k in self.graph.domains[o]
        }
