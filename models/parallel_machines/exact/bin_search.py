"""Exact search: a bound and a schedule that approach each other, capacity by capacity.

A makespan of at most C is a packing into m machines of capacity C. What is cheap comes first, and
most instances are closed by it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..baselines.local_search import PairSearch, first_schedule
from ..bounds.combinatorial import combinatorial_bound, combinatorial_certificate
from ..bounds.dual_feasible import dual_feasible_bound
from ..bounds.pattern_bound import demand_of, raise_bound
from ..bounds.patterns import Pattern
from ..certificate import ParallelMachinesCertificate
from ..formulations import arc_flow, patterns
from ..instance import ParallelMachinesInstance, ParallelMachinesSolution
from .diving import dive, schedule_of
from .enumeration import possible_patterns

Packer = Literal["highs", "cpsat"]

#: Dives at a capacity before an integer program decides whether it is enough.
DIVES = 6


def bin_search(
    instance: ParallelMachinesInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    packer: Packer = "highs",
    kicks: int = 200,
) -> MethodOutcome:
    """Solve an instance exactly.

    1. Bounds by counting and by dual feasible functions; between them and after them the local
       search.
    2. The bound of the linear pattern program, by column generation.
    3. From the bound on, one capacity after the other: dives look for a packing, and where they
       find none, an integer program decides: over the patterns whose reduced costs allow them, or
       the arc-flow model if they are too many.

    It ends when bound and schedule meet. The bound of 1 and 2 has a certificate; what an integer
    program refutes is its solver's word.

    Parameters
    ----------
    instance : ParallelMachinesInstance
    limits : Limits
    rng : numpy.random.Generator
        Of the local search and the dives.
    packer : "highs" or "cpsat", default "highs"
        What solves the integer programs.
    kicks : int, default 200
        Of the local search.
    """
    search = _Search(instance, limits, rng)
    state = search.state
    search.bound_by_counting()
    search.improve_pairs(0)
    if not state.closed:
        search.bound_by_functions()
    if not state.closed:
        search.improve_pairs(kicks)
    try:
        if not state.closed:
            search.bound_by_patterns()
        while not state.over:
            if not search.dive():
                search.decide(packer)
    except ModelRefused as refusal:  # too large for patterns or arcs: what is known remains
        search.notes["refused"] = str(refusal)
    return state.outcome(state.best, **search.notes)


class _Search:
    """A lower bound and a schedule that approach each other.

    Attributes
    ----------
    state : Search
        Bound and schedule; a bound without a certificate is a solver's word.
    pairs : PairSearch or None
        The local search, once it has begun.
    pool : dict
        Patterns known, with their loads.
    """

    def __init__(
        self, instance: ParallelMachinesInstance, limits: Limits, rng: np.random.Generator
    ):
        self.instance, self.rng = instance, rng
        self.state: Search[ParallelMachinesSolution] = Search("min", limits, gap=0.0)
        self.clock = self.state.clock
        self.pairs: PairSearch | None = None
        self.pool: dict[Pattern, int] = {}
        self.notes: dict[str, str | int] = {}

    @property
    def bound_s(self) -> int:
        return int(self.state.bound)

    @property
    def makespan_s(self) -> int:
        return int(self.state.value)

    def bound_by_counting(self) -> None:
        """Set the bound of counting."""
        with self.phase("counting"):
            certificate = combinatorial_certificate(self.instance)
            self.state.prove(combinatorial_bound(self.instance), certificate)

    def bound_by_functions(self) -> None:
        """Raise the bound by dual feasible functions."""
        with self.phase("functions"):
            self.state.prove(*dual_feasible_bound(self.instance, self.clock))

    def improve_pairs(self, kicks: int) -> None:
        """Improve the schedule by the local search, which begins with the first schedules."""
        with self.phase("local search"):
            if self.pairs is None:
                first = first_schedule(self.instance, self.bound_s, self.clock)
                self.pairs = PairSearch(self.instance, first, self.rng)
            self.pairs.run(self.bound_s, kicks, self.clock)
            self.offer(ParallelMachinesSolution.of(self.pairs.jobs_of))

    def bound_by_patterns(self) -> None:
        """Raise the bound by the linear pattern program."""
        with self.phase("pattern bound"):
            certificate = self.state.certificate
            assert isinstance(certificate, ParallelMachinesCertificate), "counting proves something"
            known = self.bound_s, certificate
            found = raise_bound(self.instance, known, self.makespan_s, self.clock)
            self.state.prove(found.bound, found.certificate)
            self.pool = found.pool

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
                self.offer(schedule_of(self.instance, found))
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
                self._decide_by(
                    arc_flow.build_packing(self.instance, self.bound_s), arc_flow, packer
                )
            return
        if not possible:
            self.state.prove(self.bound_s + 1)
            return
        with self.phase("patterns"):
            self.notes["patterns possible"] = len(possible)
            self._decide_by(patterns.build_packing(self.instance, possible), patterns, packer)

    def _decide_by(self, model: Any, formulation: Any, packer: Packer) -> None:
        outcome = solve_model(model, packer, self.clock.limits(), seed=seed_of(self.rng))
        self.state.versions.update(outcome.versions)
        if outcome.status is Status.ERROR:
            raise SolverError(outcome.reason)
        if outcome.status is Status.INFEASIBLE:
            self.state.prove(self.bound_s + 1)
        elif outcome.values is not None:
            self.offer(formulation.decode(model, self.instance))
        elif outcome.limit_hit is not None:
            self.state.limit_hit = outcome.limit_hit
        else:
            raise SolverError(f"{packer} ended with {outcome.status} and without a limit")

    def offer(self, solution: ParallelMachinesSolution) -> None:
        """Take note of a schedule."""
        load_s = [0] * self.instance.used_machines
        for j, i in enumerate(solution.machine):
            load_s[i] += self.instance.processing_s[j]
        self.state.offer(max(load_s), solution)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done in here, and record where it leaves bound and schedule."""
        try:
            with self.clock.phase(name):
                yield
        finally:
            self.state.note()
            self.notes["last phase"] = name
