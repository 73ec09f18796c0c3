r"""Branch and bound around elimination: for memory limits, and for graphs of large width.

Each case restricts the signatures of some operators. Its bound is elimination with memory priced
in, :math:`\max_\lambda L(\lambda)`; without a memory limit and with small tables the first case is
closed by it. Else a case is divided at one operator:

- where elimination was too wide and messages leave a gap, at the operator of most labels and
  neighbours: one label against the rest;
- where memory leaves a gap, at the operator whose memory differs most between the cheapest
  assignment that fits and the one that does not, between the two amounts.

Where elimination is not too wide, labels that are part of no cheaper plan are taken away before
that: those whose min-marginal, with memory priced in, reaches the incumbent.

The plan of the compiler, one made by hand, or the one of least memory is the first incumbent. Where
the label-aggregated model of what is left is small, CP-SAT closes gaps sooner: what is open after
half a second, or at once where labels were taken away, is handed over to it. The better bound and
the better plan of the two are kept; told ours in advance, by hint, cutoff or row, CP-SAT takes
longer.
"""

from __future__ import annotations

import contextlib
import heapq
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.garbage import cycle_collector_paused
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.system.data import Solution
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.inference import compiler_greedy
from ...baselines.strategies import (
    megatron,
    model_parallel_col,
    model_parallel_row,
)
from ...instance import (
    OneFlowSbpInstance,
    OneFlowSbpSolution,
)
from ...subproblems.graph import (
    FORBIDDEN,
    LabelGraph,
)
from ...subproblems.label_graph import label_graph
from ..certificate.records import (
    MOST_FIXINGS,
    Fixing,
    OneFlowSbpCertificate,
)
from ..elimination import (
    MOST_CELLS,
    Elimination,
    OutOfTime,
    TooWide,
)
from ..lagrangian import (
    Ascent,
    Pricing,
)
from ..min_marginals import below
from ..order import elimination_order
from ..proof import ProofWriter
from .cases import (
    Case,
    tree_of,
)
from .division import (
    most_different,
    most_varied,
    widest,
)
from .mixing import mixed

if TYPE_CHECKING:
    from ...formulations.cp import LabelModel

#: First plans, until one fits the memory.
FIRST_PLANS = (compiler_greedy, megatron, model_parallel_row, model_parallel_col)
#: CP-SAT is asked if its model has at most this many pairs of labels; it has closed ten thousand
#: within seconds, and found no plan for twenty thousand. Tuned: `benchmarks/constants.py`.
MOST_LABEL_PAIRS = 12_000
#: Seconds before CP-SAT is asked; before it is, once labels were taken away.
#: Tuned: `benchmarks/constants.py`.
ALONE_S, ALONE_FIXED_S = 0.5, 0.05
#: Seconds of CP-SAT's first turn, and its part of the time that is left.
#: Tuned: `benchmarks/constants.py`.
FIRST_TURN_S, PART = 60.0, 0.9


@method(kind="exact", reference="3.7, 3.8 (ii); reconstructed", formulation="elimination")
def branch_and_bound(
    instance: OneFlowSbpInstance,
    limits: Limits,
    *,
    most_sums: int = 2**26,
) -> MethodOutcome:
    """Elimination with memory priced in; then cases, best bound first.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    limits : Limits
        With a gap, the search ends as soon as incumbent and bound are that close.
    most_sums : int
        Of an elimination; where it would take more, reweighted messages bound and reduce first.

    Returns
    -------
    MethodOutcome
        Its bound has a certificate, unless CP-SAT's is better; then the notes give the bound that
        our cases prove, `proved_bound`.
    """
    rng = fixed_rng()
    search = _Search(instance, limits, rng, most_sums)
    with contextlib.suppress(OutOfTime), search.interruptible():
        search.start()
        while not search.over:
            if search.clock.elapsed_s >= search.ask_at_s:
                search.ask_solver()
            else:
                search.divide()
    notes: dict[str, Any] = {"cases": len(search.cases), "first_gap": search.first_gap}
    if search.by_solver:
        notes["proved_bound"] = None if math.isinf(search.proved) else float(search.proved)
    else:
        with cycle_collector_paused():
            search.certificate = search.proof()
    outcome = search.outcome(search.best, **notes)
    if search.by_solver:
        outcome.formulation = "cp_labels"
    if not search.graph.exact:
        outcome.claimed_objective = None
    return outcome


class _Search(Search[OneFlowSbpSolution]):
    """The open cases, and the incumbent in units of 1 / scale.

    Attributes
    ----------
    proved : Number
        The bound of the cases.
    by_solver : bool
        True if CP-SAT's bound is better, or its word that nothing is feasible.
    ask_at_s : float
        When it is CP-SAT's turn; infinite if its model is too large.
    """

    def __init__(
        self,
        instance: OneFlowSbpInstance,
        limits: Limits,
        rng: np.random.Generator,
        most_sums: int,
    ):
        super().__init__("min", limits)
        self.instance, self.rng = instance, rng
        self.proved: Number = -math.inf
        self.by_solver = False
        self.ask_at_s, self.turn_s = ALONE_S, FIRST_TURN_S
        self.groups = len(instance.placements)
        self.most_sums = most_sums
        self.graph: LabelGraph = LabelGraph([], [], [], [], Fraction(1), True, [], [], None, 0)
        self.cases: list[Case] = []
        self.open: list[tuple[int, int]] = []
        self.divided: set[int] = set()
        self.writer: ProofWriter = ProofWriter(self.graph)
        self.fixings: list[Fixing] = []
        self.first_gap: float | None = None

    def start(self) -> None:
        """Bound the whole instance."""
        with cycle_collector_paused():
            with self.clock.phase("tables"):
                self.graph = label_graph(self.instance)
                self.writer = ProofWriter(self.graph)
            with self.clock.phase("first plan"):
                self._first_plan()
            with self.clock.phase("first bound"):
                self._add({}, (0,) * self.groups)
        self._raise_bound()
        if self.best is not None and self.value:
            self.first_gap = float(
                (Fraction(self.value) - Fraction(self.bound)) / Fraction(self.value)
            )
        with self.clock.phase("fixing"):
            while not self.over and self._fix():
                self._raise_bound()
                self.ask_at_s = ALONE_FIXED_S

    def _fix(self) -> bool:
        """Take away the labels of no cheaper plan, and bound what is left; return True if any."""
        point = self.cases[0].point
        if self.best is None or point is None or point.moved is not None:
            return False
        graph, multipliers = self.graph, point.multipliers
        order = elimination_order([len(d) for d in graph.domains], graph.edges)
        cutoff = Fraction(self.value)
        try:
            kept = below(graph, order, multipliers, math.ceil(cutoff * graph.scale))
        except (OverflowError, TooWide):
            return False
        if kept == {}:
            return False
        before = self.cases, self.open
        self.cases, self.open = [Case({}, FORBIDDEN)] if kept is None else [], []
        self.fixings.append(self.writer.fixing(multipliers, cutoff, order))
        try:
            if kept is not None:
                self.graph = graph.restricted(kept)
                self._add({}, multipliers)
        except (OutOfTime, KeyboardInterrupt):
            self.graph, (self.cases, self.open) = graph, before
            self.fixings.pop()
            raise
        return len(self.fixings) < MOST_FIXINGS

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

    def _first_plan(self) -> None:
        """Offer a plan of the compiler or one made by hand; if none fits, those of least memory."""
        for plan in FIRST_PLANS:
            self._consider_plan(plan(self.instance).solution)
            if self.best is not None:
                return
        pricing = Pricing(self.graph, self.groups, self.most_sums, self._expired)
        for group in range(self.groups if self.graph.limit_bytes is not None else 0):
            self._consider_labels(pricing.lightest(group).labels())

    def _consider_plan(self, plan: Solution | None) -> None:
        """Offer a plan of another method."""
        labels = self.graph.labels_of(plan) if isinstance(plan, OneFlowSbpSolution) else None
        if labels is not None:
            self._consider_labels(labels)

    def _consider_labels(self, labels: Sequence[int]) -> None:
        """Offer labels if they are allowed and fit."""
        limit = self.graph.limit_bytes
        if limit is None or max(self.graph.memory_bytes(labels, self.groups)) <= limit:
            self._offer(self.graph, labels, self.graph.value(labels))

    def ask_solver(self) -> None:
        """Give CP-SAT a turn; the next one comes after cases for an eighth of its time."""
        from gadgetopt.solvers.cpsat import solve_cp  # takes longer than most searches

        with self.clock.phase("cp_labels"):
            model = self._label_model()
            if model is None:
                self.ask_at_s = math.inf
                return
            limits = self.clock.limits(PART, self.turn_s)
            solved = solve_cp(model.model, limits, seed_of(self.rng), linearization_level=2)
        self.versions.update(solved.versions)
        if solved.limit_hit == "interrupted":
            self.limit_hit = "interrupted"
        if solved.values is not None:
            self._consider_plan(model.decode(solved.values))
        if solved.status is Status.INFEASIBLE and self.best is None:
            self.infeasible = self.by_solver = True
            return
        # What was taken away is no cheaper than the incumbent.
        bound: Number = math.inf if solved.bound is None else model.unscaled(solved.bound)
        if solved.status is Status.INFEASIBLE:
            bound = self.value
        if bound < math.inf and self.prove(min(bound, self.value)):
            self.by_solver = True
        self.turn_s *= 2
        self.ask_at_s = self.clock.elapsed_s + self.turn_s / 8

    def _label_model(self) -> LabelModel | None:
        """Return the model; None if it is large."""
        if len(self.instance.tables.edges) > MOST_LABEL_PAIRS:
            return None
        from ...formulations.cp import LabelModel  # loads CP-SAT

        try:
            model = LabelModel(self.instance, self.graph.domains[: self.graph.operators])
        except ModelRefused:
            return None
        if model.size > MOST_LABEL_PAIRS:
            return None
        model.state()
        return model

    def _add(self, kept: dict[int, tuple[int, ...]], multipliers: tuple[int, ...]) -> int:
        """Bound a case, and keep it open if it is not closed; return its number."""
        graph = self.graph.restricted(kept)
        decided = all(len(d) == 1 for d in graph.domains[: graph.operators])
        most_sums = MOST_CELLS if decided else self.most_sums
        pricing = Pricing(graph, self.groups, most_sums, self._expired, self.gap)
        case = Case(kept, FORBIDDEN, multipliers)
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

    def _crowded(self, pricing: Pricing) -> tuple[int, Elimination] | None:
        limit = self.instance.memory_limit_bytes
        if limit is None:
            return None
        for group in range(self.groups):
            lightest = pricing.lightest(group)
            if lightest.value > limit:
                return group, lightest
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
        found = widest(graph, ascent.bound) or most_different(graph, ascent) or most_varied(graph)
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
                least = [Fraction(bound, self.graph.scale) for bound in closed]
                self._proved(min(*least, Fraction(value)))
        else:
            self._proved(Fraction(self.open[0][0], self.graph.scale))

    def _proved(self, bound: Fraction) -> None:
        """Take a bound with its tree of cases: the messages of later cases may prove less."""
        if self.prove(bound) or bound >= self.bound:
            self.by_solver = False
        if bound > self.proved:
            self.proved = bound
            self.divided = {i for i, case in enumerate(self.cases) if case.children}

    def proof(self) -> OneFlowSbpCertificate | None:
        """Return the tree of cases as a certificate."""
        if not self.cases or self.infeasible:
            return None
        tree = tree_of(self.writer, self.graph, self.cases, self.divided)
        return self.writer.certificate(tree, self.fixings)
