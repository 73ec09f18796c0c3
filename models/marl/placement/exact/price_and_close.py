r"""Column generation, then the integer program over all contents that can be in an optimum.

Let v be the optimum of the configuration program's linear relaxation, with optimal prices, and U
the cost of a placement. A content whose reduced cost exceeds U - v is in no placement that is
better, so the integer program over the others (`closing_program`) has the optimum of all. U is
guessed: for a guess :math:`\delta` the program over the contents of reduced cost at most
:math:`\delta` either has an optimum of at most :math:`v + \delta`, which is then the optimum, or
there is none below :math:`v + \delta`, which is the new bound. Guesses grow until one is right.

Racks that differ only in their number are folded: first the program leaves racks out. If its
placement can be put into racks without a gang in two of them, it is optimal; otherwise the program
with racks follows, over the contents whose reduced cost the placement found so far allows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..bounds.column_generation import ColumnGeneration, Relaxation, near_optimal
from ..bounds.configuration import checked, price_of_jobs
from ..certificate import certificate_of
from ..evaluate import evaluate
from ..instance import PlacementInstance, PlacementSolution
from ..subproblems.content_search import Contents
from ..subproblems.layout import placed
from ..subproblems.terms import Terms
from .closing_program import ClosingProgram, Place

#: First guess of the gap, of the relaxation's value; and how much larger the next one is.
FIRST_GAP, GROWTH = 3e-5, 3.0
#: Columns of an integer program that is still tried.
MOST_COLUMNS = 60_000
#: Part of a guess that is allowed for rounding.
SLACK = 1e-7

Columns = list[tuple[int, Contents]]


def price_and_close(
    instance: PlacementInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Return an optimal placement, or the best one found and a bound.

    The bound of the linear relaxation has a certificate; that of the integer programs, when it is
    higher, is HiGHS's word.

    Raises
    ------
    ModelRefused
        If pricing needs too many states.
    """
    search: Search[PlacementSolution] = Search("min", limits)
    if not instance.jobs:
        search.offer(0, PlacementSolution(tasks=()))
        search.prove(0)
        return search.outcome(search.best)
    run = _Run(instance, search, seed_of(rng))
    with search.clock.phase("relaxation"):
        relaxed = run.generation.run()
    if relaxed.infeasible:
        search.infeasible = True
        return search.outcome(None)
    if relaxed.price is None:
        search.limit_hit = relaxed.limit_hit
        return search.outcome(None)
    with search.clock.phase("certificate"):
        certificate = certificate_of(price_of_jobs(run.terms, relaxed.price))
        root = checked(instance, certificate)
    search.prove(relaxed.bound / len(instance.jobs))
    with search.clock.phase("integer programs"):
        run.close(relaxed)
    outcome = search.outcome(
        search.best,
        relaxation=relaxed.value / len(instance.jobs),
        contents=sum(len(c) for _, c in run.generation.columns),
        guesses=run.guesses,
        columns=run.most_columns,
    )
    if root is not None and search.closes(root):
        outcome.certificate, outcome.dual_bound = certificate, None
    return outcome


class _Run:
    def __init__(
        self, instance: PlacementInstance, search: Search[PlacementSolution], seed: int
    ) -> None:
        self.instance, self.search, self.seed = instance, search, seed
        self.terms = Terms(instance)
        self.generation = ColumnGeneration(self.terms, search.clock)
        self.guesses = 0
        self.most_columns = 0

    def close(self, relaxed: Relaxation) -> None:
        """Raise the guess until the gap is closed, with racks where they matter."""
        if self._guess(relaxed, folded=True) and self.terms.racks_matter:
            self._guess(relaxed, folded=False)

    def _guess(self, relaxed: Relaxation, *, folded: bool) -> bool:
        """Close the program; return False if the placement is optimal or time is up."""
        search, jobs = self.search, len(self.instance.jobs)
        gap = FIRST_GAP * relaxed.value
        exhausted = False
        while not (search.closed or search.clock.expired or exhausted):
            known = float(search.value) * jobs - relaxed.bound
            gap = min(gap, known + SLACK * relaxed.value)
            columns = self._columns(relaxed, gap)
            if columns is None:
                # The largest guess that can be tried; it may not be enough.
                gap, columns = self._largest(relaxed, gap)
                exhausted = True
            elif math.isinf(gap):
                exhausted = True
            solved, value = self._solve(columns, folded=folded)
            lowest = min(relaxed.bound + gap, _bound_of(solved))
            if math.isfinite(lowest):
                search.prove(min(lowest / jobs, float(search.value)))
            elif solved.status is Status.INFEASIBLE and math.isinf(gap):
                search.infeasible = True
            if solved.limit_hit and solved.limit_hit != "gap":
                search.limit_hit = solved.limit_hit
                return False
            if value is not None and value <= relaxed.bound + gap:
                # The optimum of this program; without racks, a bound.
                return folded and not search.closed
            if value is not None:
                gap = max(gap, value - relaxed.bound)
            else:
                gap = gap * GROWTH if gap < relaxed.value else math.inf
        return not search.closed and folded and not exhausted

    def _columns(self, relaxed: Relaxation, gap: float) -> Columns | None:
        """Return the contents of reduced cost within a gap, None if they are too many."""
        return near_optimal(self.generation, relaxed, gap, MOST_COLUMNS)

    def _largest(self, relaxed: Relaxation, gap: float) -> tuple[float, Columns]:
        """Return a gap, smaller than one with too many contents, and its contents."""
        gap = min(gap, relaxed.value)
        while True:
            gap /= 2
            columns = self._columns(relaxed, gap)
            if columns is not None:
                return gap, columns

    def _solve(self, columns: Columns, *, folded: bool) -> tuple[SolverOutcome, float | None]:
        """Solve the program over some contents and keep its placement; return its optimum too."""
        self.guesses += 1
        self.most_columns = max(self.most_columns, sum(len(c) for _, c in columns))
        program = ClosingProgram(self.terms, columns, folded=folded)
        solved = program.solve(self.search.clock.limits(), self.seed)
        if solved.values is None:
            return solved, None
        servers = program.chosen(solved.values)
        self._offer(placed(self.terms, [(p.kind, p.rack, pairs) for p, pairs in servers]))
        if folded and self.terms.racks_matter:
            self._put_into_racks(servers)
        return solved, float(solved.objective or 0.0)

    def _put_into_racks(self, servers: Sequence[tuple[Place, list[tuple[int, int]]]]) -> None:
        """Find racks for the contents of a folded placement."""
        columns = contents_of_pairs(self.generation, [(p.kind, pairs) for p, pairs in servers])
        program = ClosingProgram(self.terms, columns, folded=False)
        solved = program.solve(self.search.clock.limits(0.5), self.seed)
        if solved.values is not None:
            chosen = program.chosen(solved.values)
            self._offer(placed(self.terms, [(p.kind, p.rack, pairs) for p, pairs in chosen]))

    def _offer(self, solution: PlacementSolution) -> None:
        evaluation = evaluate(self.instance, solution)
        if evaluation.feasible and evaluation.objective is not None:
            self.search.offer(evaluation.objective, solution)


def _bound_of(solved: SolverOutcome) -> float:
    """Return a program's lower bound; infinite if it has no solution."""
    if solved.status is Status.INFEASIBLE:
        return math.inf
    if solved.status is Status.OPTIMAL:
        return float(solved.objective or 0.0)
    return -math.inf if solved.bound is None else float(solved.bound)


def contents_of_pairs(
    generation: ColumnGeneration, servers: list[tuple[int, list[tuple[int, int]]]]
) -> Columns:
    """Return the contents with these pairs (lot, tasks) in servers of these kinds."""
    columns: Columns = []
    for k, search in enumerate(generation.searches):
        mine = sorted({tuple(sorted(pairs)) for kind, pairs in servers if kind == k})
        if mine:
            columns.append((k, search.of_pairs(mine)))
    return columns
