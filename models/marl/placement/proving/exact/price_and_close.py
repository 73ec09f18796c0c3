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

Where a guess leaves many contents, large-neighbourhood search finds a placement first. Where it
leaves too many, the largest guess that does not is tried for a part of the time, and branch and
price (`branching`) raises the bound in the rest.

Rings inside servers only make a placement cost more, so all of this bounds an instance with boards,
too. Where its best placement pays for a ring, F2 with the GPUs of jobs follows (`patterns`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.data import Certificate
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...evaluate import evaluate
from ...formulations.assignment import check_plain
from ...heuristics.lns import lns
from ...instance import (
    PlacementInstance,
    PlacementSolution,
)
from ..bounds.column_generation import (
    ColumnGeneration,
    Relaxation,
    near_optimal,
)
from ..bounds.configuration import (
    certified,
    price_of_jobs,
)
from ..certificate.check import prices_of
from ..content_search import Contents
from ..formulations import patterns
from ..layout import placed
from ..terms import Terms
from .branching import (
    ContentPool,
    search_tree,
)
from .closing_program import (
    ClosingProgram,
    Place,
)
from .closing_proof import (
    proof_of_optimum,
    proof_over_patterns,
)

#: First guess of the gap, of the relaxation's value; and how much larger the next one is.
#: Tuned: `benchmarks/constants.py`.
FIRST_GAP, GROWTH = 3e-5, 3.0
#: Columns of an integer program before which a placement is searched; those of one that is tried
#: to its end, those of one that is tried else; and columns of a tree.
#: Tuned: `benchmarks/constants.py`.
MANY_COLUMNS, MOST_COLUMNS, SOME_COLUMNS, TREE_COLUMNS = 3_000, 25_000, 3_000, 250_000
#: Columns for each second left: HiGHS's presolve of more does not look at the time.
#: Tuned: `benchmarks/constants.py`.
COLUMNS_PER_S = 3_000
#: Part of the time that the relaxation may take. Tuned: `benchmarks/constants.py`.
RELAXATION = 0.6
#: Rounds of the search for a placement, the part of the time and the seconds that it may take.
#: Tuned: `benchmarks/constants.py`.
ROUNDS, PART, MOST_S = 100, 0.2, 15.0
#: Seconds that a proof may take, or the part of the search's time if that is more.
#: Tuned: `benchmarks/constants.py`.
PROVE_S, PROVE_PART = 15.0, 0.5
#: Part of a guess that is allowed for rounding. Tuned: `benchmarks/constants.py`.
SLACK = 1e-7

Columns = list[tuple[int, Contents]]


@method(
    kind="exact",
    reference="(C1)-(C5), (L1)-(L8) (reconstructed)",
    formulation="configuration",
    backend="highs",
)
def price_and_close(
    instance: PlacementInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Column generation, then an integer program over all contents within the gap.

    Return an optimal placement, or the best one found and a bound.

    The bound of the linear relaxation has a certificate; that of the integer programs, when it is
    higher, is HiGHS's word.

    Raises
    ------
    ModelRefused
        If pricing needs too many states.
    """

    def close(run: _Run, relaxed: Relaxation) -> None:
        with run.search.clock.phase("integer programs"):
            open_ = run.close(relaxed)
        if open_ and instance.boards:
            with run.search.clock.phase("F2"):
                run.close_rings()
        elif open_:
            with run.search.clock.phase("tree"):
                run.branch(relaxed)

    return _solved(instance, limits, rng, close)


@method(
    kind="exact",
    reference="(C1)-(C5), (L1)-(L8), branching (reconstructed)",
    formulation="configuration",
    backend="highs",
)
def branch_and_price(
    instance: PlacementInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Column generation, then a tree that branches on the costs of gangs.

    Return an optimal placement, or the best one found and a bound, by the tree alone.

    Raises
    ------
    ModelRefused
        If there are boards, or pricing needs too many states.
    """
    check_plain(instance)

    def close(run: _Run, relaxed: Relaxation) -> None:
        with run.search.clock.phase("placement"):
            run.find_placement()
        with run.search.clock.phase("tree"):
            run.branch(relaxed)

    return _solved(instance, limits, rng, close)


def _solved(
    instance: PlacementInstance,
    limits: Limits,
    rng: np.random.Generator,
    close: Callable[[_Run, Relaxation], None],
) -> MethodOutcome:
    """Solve the relaxation, close the gap, and return the outcome with its certificate."""
    search: Search[PlacementSolution] = Search("min", limits)
    if not instance.jobs:
        search.offer(0, PlacementSolution(tasks=()))
        search.prove(0)
        return search.outcome(search.best)
    run = _Run(instance, search, rng)
    with search.clock.phase("relaxation"):
        relaxed = run.generation.run()
    if relaxed.infeasible:
        search.infeasible = True
        return search.outcome(None)
    with search.clock.phase("certificate"):
        root, certificate = certified(run.terms, relaxed)
    search.prove(root)
    with search.interruptible():
        if relaxed.price is None:
            if relaxed.limit_hit != "interrupted":
                run.find_placement(part=1.0)  # nothing else is left to do
            search.limit_hit = relaxed.limit_hit
        else:
            search.prove(relaxed.bound / len(instance.jobs))
            close(run, relaxed)
    outcome = search.outcome(
        search.best,
        contents=sum(len(c) for _, c in run.generation.columns),
        guesses=run.guesses,
        columns=run.most_columns,
        nodes=run.nodes,
    )
    if search.closes(root) or root >= search.bound:
        outcome.certificate, outcome.dual_bound = certificate, None
    elif search.closed and search.best is not None:
        with search.interruptible(), search.clock.phase("certificate"):
            proof = _proof(run, relaxed)
            if proof is not None:
                # What the tree proves, to tolerance, is the bound.
                outcome.certificate, outcome.dual_bound = proof, None
    return outcome


def _proof(run: _Run, relaxed: Relaxation) -> Certificate | None:
    """Return a proof of the optimum, if it is short."""
    clock, instance = run.search.clock, run.instance
    if instance.boards:
        return None  # what rings cost is in no tree
    own = Clock(clock.limits(at_most_s=max(PROVE_S, PROVE_PART * clock.elapsed_s)))
    best = Fraction(run.search.value)
    if not instance.additive:
        return proof_over_patterns(instance, best, lambda: own.left_s)
    if relaxed.price is None:
        return None
    return proof_of_optimum(
        instance,
        prices_of(price_of_jobs(run.terms, relaxed.price)),
        best * len(instance.jobs),
        lambda: own.left_s,
        folded=not run.in_racks,
    )


class _Run:
    def __init__(
        self,
        instance: PlacementInstance,
        search: Search[PlacementSolution],
        rng: np.random.Generator,
    ) -> None:
        self.instance, self.search = instance, search
        self.seed, self.rng = seed_of(rng), rng
        self.terms = Terms(instance)
        self.generation = ColumnGeneration(self.terms, Clock(search.clock.limits(RELAXATION)))
        self.guesses = self.most_columns = self.nodes = 0
        #: True once the bound needs a program with racks.
        self.in_racks = False
        self._searched = False

    def close(self, relaxed: Relaxation) -> bool:
        """Raise the guess until the gap is closed, with racks where they matter.

        Return True if too many contents are left for that.
        """
        servers = self.generation.whole_contents()
        if servers is not None and not self.terms.racks_matter:
            self._offer(placed(self.terms, [(kind, None, pairs) for kind, pairs in servers]))
        if self._guess(relaxed, folded=True) and self.terms.racks_matter:
            self.in_racks = True
            self._guess(relaxed, folded=False)
        return not (self.search.closed or self.search.limit_hit or self.search.clock.expired)

    def find_placement(self, part: float = PART) -> None:
        """Search a placement, once, in a part of the time that is left."""
        if self._searched:
            return
        self._searched = True
        found = lns(
            self.instance,
            self.search.clock.limits(part, MOST_S),
            self.rng,
            order="big",
            rounds=ROUNDS,
        )
        if isinstance(found.solution, PlacementSolution):
            self._offer(found.solution)

    def close_rings(self) -> None:
        """Solve F2 with the GPUs of jobs."""
        search = self.search
        try:
            model = patterns.build(self.instance)
        except ModelRefused:
            search.limit_hit = search.limit_hit or "contents"
            return
        solved = solve_model(model, "highs", search.clock.limits(), seed=self.seed)
        search.versions.update(solved.versions)
        search.limit_hit = solved.limit_hit
        if solved.status in (Status.OPTIMAL, Status.FEASIBLE):
            self._offer(patterns.decode(model, self.instance))
        if solved.bound is not None:
            self._prove(float(solved.bound))

    def branch(self, relaxed: Relaxation) -> None:
        """Raise the bound by branch and price."""
        search, jobs = self.search, len(self.instance.jobs)
        gap = float(search.value) * jobs - relaxed.bound
        columns = near_optimal(self.generation, relaxed, gap, TREE_COLUMNS)
        if columns is None or not sum(len(contents) for _, contents in columns):
            search.limit_hit = search.limit_hit or "contents"
            return
        pool = ContentPool(self.terms, columns)

        def closed(some: Columns) -> float:
            return _bound_of(self._solve(some, folded=True)[0])

        decided = search_tree(
            pool,
            relaxed.bound,
            search.clock,
            best=lambda: float(search.value) * jobs,
            close=closed,
            prove=lambda bound: self._prove(bound / jobs),
        )
        self.nodes = pool.nodes
        if decided and search.best is None:
            search.infeasible = True

    def _prove(self, bound: float) -> None:
        if math.isfinite(bound):
            self.search.prove(min(bound, float(self.search.value)))

    def _guess(self, relaxed: Relaxation, *, folded: bool) -> bool:
        """Close the program; return True if it was, and the placement is not optimal yet."""
        search, jobs = self.search, len(self.instance.jobs)
        gap = FIRST_GAP * relaxed.value
        while not (search.closed or search.clock.expired):
            gap = min(gap, float(search.value) * jobs - relaxed.bound + SLACK * relaxed.value)
            most = min(MOST_COLUMNS, int(COLUMNS_PER_S * min(search.clock.left_s, MOST_COLUMNS)))
            columns = self._columns(relaxed, gap, most)
            unknown = search.best is None and columns is not None
            if not self._searched and (
                columns is None or (unknown and _number(columns) > MANY_COLUMNS)
            ):
                self.find_placement()
                continue
            part = 1.0
            last = columns is None
            if columns is None:
                gap, columns = self._largest(relaxed, gap)
                part = PART
            solved, value = self._solve(columns, folded=folded, part=part)
            self._prove(min(relaxed.bound + gap, _bound_of(solved)) / jobs)
            if solved.status is Status.INFEASIBLE and math.isinf(gap):
                search.infeasible = True
                return False
            if last or solved.limit_hit not in (None, "gap"):
                return False
            if value is not None and value <= relaxed.bound + gap:
                # The optimum of this program; without racks, a bound.
                return not search.closed
            if value is not None:
                # Of few contents even the best placement may be a bad one.
                gap = min(GROWTH * gap, value - relaxed.bound)
            elif _number(columns) == self.generation.number_of_contents:
                gap = math.inf
            else:
                gap *= GROWTH
        return False

    def _columns(self, relaxed: Relaxation, gap: float, most: int) -> Columns | None:
        """Return the contents of reduced cost within a gap, None if they are too many."""
        return near_optimal(self.generation, relaxed, gap, most)

    def _largest(self, relaxed: Relaxation, gap: float) -> tuple[float, Columns]:
        """Return a gap, smaller than one with too many contents, and its contents."""
        gap = min(gap, relaxed.value)
        while True:
            gap /= 1.5
            columns = self._columns(relaxed, gap, SOME_COLUMNS)
            if columns is not None:
                return gap, columns

    def _solve(
        self, columns: Columns, *, folded: bool, part: float = 1.0
    ) -> tuple[SolverOutcome, float | None]:
        """Solve the program over some contents and keep its placement; return its optimum too."""
        self.guesses += 1
        self.most_columns = max(self.most_columns, _number(columns))
        program = ClosingProgram(self.terms, columns, folded=folded)
        solved = program.solve(self.search.clock.limits(part), self.seed)
        if solved.values is None:
            _stop_if_interrupted(solved)
            return solved, None
        servers = program.chosen(solved.values)
        self._offer(placed(self.terms, [(p.kind, p.rack, pairs) for p, pairs in servers]))
        if folded and self.terms.racks_matter:
            self._put_into_racks(servers)
        _stop_if_interrupted(solved)
        return solved, float(solved.objective or 0.0)

    def _put_into_racks(self, servers: Sequence[tuple[Place, list[tuple[int, int]]]]) -> None:
        """Find racks for the contents of a folded placement."""
        columns = contents_of_pairs(self.generation, [(p.kind, pairs) for p, pairs in servers])
        program = ClosingProgram(self.terms, columns, folded=False)
        solved = program.solve(self.search.clock.limits(0.5), self.seed)
        if solved.values is not None:
            chosen = program.chosen(solved.values)
            self._offer(placed(self.terms, [(p.kind, p.rack, pairs) for p, pairs in chosen]))
        _stop_if_interrupted(solved)

    def _offer(self, solution: PlacementSolution) -> None:
        evaluation = evaluate(self.instance, solution)
        if evaluation.feasible and evaluation.objective is not None:
            self.search.offer(evaluation.objective, solution)


def _stop_if_interrupted(solved: SolverOutcome) -> None:
    """Go on with a Ctrl-C that stopped a solver."""
    if solved.limit_hit == "interrupted":
        raise KeyboardInterrupt


def _number(columns: Columns) -> int:
    return sum(len(contents) for _, contents in columns)


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
