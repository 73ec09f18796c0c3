"""Exact search: bound and schedule approach each other, capacity by capacity.

A schedule of makespan at most C is a packing into m machines of capacity C. Cheap steps come first,
and most instances are closed by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...counting import combinatorial_bound
from ...formulations import arc_flow, patterns
from ...heuristics.local_search import PairSearch, first_schedule
from ...instance import ParallelMachinesInstance, ParallelMachinesSolution
from ..bounds.combinatorial import combinatorial_certificate
from ..bounds.dual_feasible import dual_feasible_bound
from ..bounds.pattern_bound import demand_of, raise_bound
from ..bounds.patterns import Pattern
from .diving import dive, schedule_of
from .enumeration import possible_patterns

Packer = Literal["highs", "cpsat"]

#: Dives at a capacity before an integer program decides it. Tuned: `benchmarks/constants.py`.
DIVES = 6


@method(
    kind="exact",
    reference="this project, after Dell'Amico and Martello 1995",
    formulation="bin_search",
)
def bin_search(
    instance: ParallelMachinesInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    packer: Packer = "highs",
    kicks: int = 200,
) -> MethodOutcome:
    """Bounds, local search, patterns; then packings, capacity by capacity.

    1. Bounds by counting and by dual feasible functions; between them and after them the local
       search.
    2. The bound of the linear pattern program, by column generation.
    3. From the bound on, one capacity after the other: dives look for a packing, and where they
       find none, an integer program decides: over the patterns whose reduced costs allow them, or
       the arc-flow model if they are too many.

    It ends when bound and schedule meet. The bounds of steps 1 and 2 have certificates; a capacity
    refuted by an integer program is claimed by its solver.

    Parameters
    ----------
    instance : ParallelMachinesInstance
    limits : Limits
    rng : numpy.random.Generator
        Used by the local search and the dives.
    packer : "highs" or "cpsat", default "highs"
        Solver of the integer programs.
    kicks : int, default 200
        Random exchanges of the local search without improvement.
    """
    search = _Search(instance, limits, rng)
    with search.interruptible():
        search.bound_by_counting()
        search.improve_pairs(0)
        if not search.closed:
            search.bound_by_functions()
        if not search.closed:
            search.improve_pairs(kicks)
        try:
            if not search.closed:
                search.bound_by_patterns()
            while not search.over:
                if not search.dive():
                    search.decide(packer)
        except ModelRefused as refusal:  # too large for patterns or arcs: what is known remains
            search.notes["refused"] = str(refusal)
    return search.outcome(search.best, **search.notes)


class _Search(Search[ParallelMachinesSolution]):
    """The search state, and the steps of the search.

    Attributes
    ----------
    pairs : PairSearch or None
        The local search, from its first run on.
    pool : dict
        The patterns generated so far, with their loads.
    """

    def __init__(
        self, instance: ParallelMachinesInstance, limits: Limits, rng: np.random.Generator
    ):
        super().__init__("min", limits, gap=0.0)
        self.instance, self.rng = instance, rng
        self.pairs: PairSearch | None = None
        self.pool: dict[Pattern, int] = {}
        self.notes: dict[str, str | int] = {}

    @property
    def makespan_s(self) -> int:
        """The makespan of the incumbent."""
        return int(self.value)

    @property
    def bound_s(self) -> int:
        """The lower bound."""
        return int(self.bound)

    def bound_by_counting(self) -> None:
        """Set the bound of counting."""
        with self.phase("counting"):
            certificate = combinatorial_certificate(self.instance)
            self.prove(combinatorial_bound(self.instance), certificate)

    def bound_by_functions(self) -> None:
        """Raise the bound by dual feasible functions."""
        with self.phase("functions"):
            self.prove(*dual_feasible_bound(self.instance, self.clock))

    def improve_pairs(self, kicks: int) -> None:
        """Improve the schedule by local search, the first time from the construction heuristics."""
        with self.phase("local search"):
            if self.pairs is None:
                first = first_schedule(self.instance, self.bound_s, self.clock)
                self.pairs = PairSearch(self.instance, first, self.rng)
            self.pairs.run(self.bound_s, kicks, self.clock)
            self.consider(ParallelMachinesSolution.of(self.pairs.jobs_of))

    def bound_by_patterns(self) -> None:
        """Raise the bound by the linear pattern program."""
        with self.phase("pattern bound"):
            raise_bound(self.instance, self, self.makespan_s, self.pool)

    def dive(self) -> bool:
        """Look for a schedule that meets the bound, else for better ones; True if one meets it."""
        with self.phase("dives"):
            if self._dive_at(self.bound_s, DIVES):
                return True
            low = self.bound_s  # a capacity at which dives fail
            while self.makespan_s - low > 1 and not self.clock.expired:
                capacity_s = (low + self.makespan_s) // 2
                if not self._dive_at(capacity_s, 1):
                    low = capacity_s
        return False

    def _dive_at(self, capacity_s: int, dives: int) -> bool:
        demand = demand_of(self.instance)
        for attempt in range(dives):
            rng = self.rng if attempt else None
            found = dive(demand, capacity_s, self.pool, rng, self.clock)
            if found is not None:
                self.consider(schedule_of(self.instance, found))
                return True
            if self.clock.expired:
                break
        return False

    def decide(self, packer: Packer) -> None:
        """Find a schedule that meets the bound, or raise the bound, by an integer program."""
        with self.phase("patterns possible"):
            demand = demand_of(self.instance)
            possible = possible_patterns(demand, self.bound_s, self.pool, self.clock)
        if self.clock.expired:
            return
        if possible is None:
            with self.phase("arc flow"):
                model = arc_flow.build_packing(self.instance, self.bound_s)
                self._decide_by(model, arc_flow, packer)
            return
        if not possible:
            self.prove(self.bound_s + 1)
            return
        with self.phase("patterns"):
            self.notes["patterns possible"] = len(possible)
            self._decide_by(patterns.build_packing(self.instance, possible), patterns, packer)

    def _decide_by(self, model: Any, formulation: Any, packer: Packer) -> None:
        solved = solve_model(model, packer, self.clock.limits(), seed=seed_of(self.rng))
        self.versions.update(solved.versions)
        if solved.status is Status.ERROR:
            raise SolverError(solved.reason)
        if solved.status is Status.INFEASIBLE:
            self.prove(self.bound_s + 1)
        elif solved.values is not None:
            self.consider(formulation.decode(model, self.instance))
        elif solved.limit_hit is not None:
            self.limit_hit = solved.limit_hit
        else:
            raise SolverError(f"{packer} ended with {solved.status} and without a limit")

    def consider(self, solution: ParallelMachinesSolution) -> None:
        """Keep a schedule if it is the best."""
        load_s = [0] * self.instance.used_machines
        for j, i in enumerate(solution.machine):
            load_s[i] += self.instance.processing_s[j]
        self.offer(max(load_s), solution)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a phase, and note that it is the last one so far."""
        self.notes["last phase"] = name
        with self.clock.phase(name):
            yield
