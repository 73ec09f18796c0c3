"""Exact search: a bound and a schedule that approach each other, capacity by capacity.

A makespan of at most C is a packing into m machines of capacity C. What is cheap comes first, and
most instances are closed by it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
    TracePoint,
)

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
    search.bound_by_counting()
    search.improve_pairs(0)
    if not search.closed:
        search.bound_by_functions()
    if not search.closed:
        search.improve_pairs(kicks)
    try:
        if not search.closed:
            search.bound_by_patterns()
        while not search.closed and not search.over() and search.limit_hit is None:
            if not search.dive():
                search.decide(packer)
    except ModelRefused as refusal:  # too large for patterns or arcs: what is known remains
        search.notes["refused"] = str(refusal)
    if search.over() and search.limit_hit is None:
        search.limit_hit = "time_s"
    return search.outcome()


@dataclass
class _Search:
    """A lower bound and a schedule that approach each other.

    Attributes
    ----------
    bound, certificate
        No makespan is less; the certificate proves it, unless a solver said it.
    solution, makespan_s
        The best schedule so far.
    pairs : PairSearch or None
        The local search, once it has begun.
    limit_hit : str or None
        What stopped the search.
    """

    instance: ParallelMachinesInstance
    limits: Limits
    rng: np.random.Generator
    begin: float = field(default_factory=time.perf_counter)
    bound: int = 0
    certificate: ParallelMachinesCertificate | None = None
    solution: ParallelMachinesSolution | None = None
    makespan_s: int = 0
    pairs: PairSearch | None = None
    limit_hit: str | None = None
    pool: dict[Pattern, int] = field(default_factory=dict)
    trace: list[TracePoint] = field(default_factory=list)
    phases_s: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str | int] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def closed(self) -> bool:
        return self.solution is not None and self.bound >= self.makespan_s

    def left(self) -> Limits:
        """Return the limits, less the time that has passed."""
        if self.limits.time_s is None:
            return self.limits
        passed = time.perf_counter() - self.begin
        return replace(self.limits, time_s=max(0.0, self.limits.time_s - passed))

    def over(self) -> bool:
        return self.left().time_s == 0

    def bound_by_counting(self) -> None:
        """Set the bound of counting."""
        with self.phase("counting"):
            self.certificate = combinatorial_certificate(self.instance)
            self.bound = combinatorial_bound(self.instance)

    def bound_by_functions(self) -> None:
        """Raise the bound by dual feasible functions."""
        with self.phase("functions"):
            self.bound, self.certificate = dual_feasible_bound(self.instance, self.over)

    def improve_pairs(self, kicks: int) -> None:
        """Improve the schedule by the local search, which begins with the first schedules."""
        with self.phase("local search"):
            if self.pairs is None:
                first = first_schedule(self.instance, self.bound, self.over)
                self.pairs = PairSearch(self.instance, first, self.rng)
            self.pairs.run(self.bound, kicks, self.over)
            self.offer(ParallelMachinesSolution.of(self.pairs.jobs_of))

    def bound_by_patterns(self) -> None:
        """Raise the bound by the linear pattern program."""
        with self.phase("pattern bound"):
            assert self.certificate is not None, "counting always proves something"
            known = self.bound, self.certificate
            found = raise_bound(self.instance, known, self.makespan_s, self.over, self.left())
            self.bound, self.certificate, self.pool = found.bound, found.certificate, found.pool

    def dive(self) -> bool:
        """Look for a schedule that meets the bound, else for better ones; True if one meets it."""
        with self.phase("dives"):
            if self._dive_at(self.bound, DIVES):
                return True
            low = self.bound  # a capacity at which dives fail
            while self.makespan_s - low > 1 and not self.over():
                capacity_s = (low + self.makespan_s) // 2
                if not self._dive_at(capacity_s, 1):
                    low = capacity_s
        return False

    def _dive_at(self, capacity_s: int, dives: int) -> bool:
        demand = demand_of(self.instance)
        for attempt in range(dives):
            rng = self.rng if attempt else None
            found = dive(demand, capacity_s, self.pool, rng, self.over, self.left())
            if found is not None:
                self.offer(schedule_of(self.instance, found))
                return True
            if self.over():
                break
        return False

    def decide(self, packer: Packer) -> None:
        """Find a schedule that meets the bound, or raise the bound, by an integer program."""
        with self.phase("patterns possible"):
            demand = demand_of(self.instance)
            possible = possible_patterns(demand, self.bound, self.pool, self.over, self.left())
        if self.over():
            return
        if possible is None:
            with self.phase("arc flow"):
                self._decide_by(arc_flow.build_packing(self.instance, self.bound), arc_flow, packer)
            return
        if not possible:
            self.bound, self.certificate = self.bound + 1, None
            return
        with self.phase("patterns"):
            self.notes["patterns possible"] = len(possible)
            self._decide_by(patterns.build_packing(self.instance, possible), patterns, packer)

    def _decide_by(self, model: Any, formulation: Any, packer: Packer) -> None:
        seed = int(self.rng.integers(2**31 - 1))
        outcome = solve_model(model, packer, self.left(), seed=seed)
        self.versions.update(outcome.versions)
        if outcome.status is Status.ERROR:
            raise SolverError(outcome.reason)
        if outcome.status is Status.INFEASIBLE:
            self.bound, self.certificate = self.bound + 1, None
        elif outcome.values is not None:
            self.offer(formulation.decode(model, self.instance))
        elif outcome.limit_hit is not None:
            self.limit_hit = outcome.limit_hit
        else:
            raise SolverError(f"{packer} ended with {outcome.status} and without a limit")

    def offer(self, solution: ParallelMachinesSolution) -> None:
        """Take note of a schedule."""
        load_s = [0] * self.instance.used_machines
        for j, i in enumerate(solution.machine):
            load_s[i] += self.instance.processing_s[j]
        if self.solution is None or max(load_s) < self.makespan_s:
            self.solution, self.makespan_s = solution, max(load_s)

    def outcome(self) -> MethodOutcome:
        """Return what is known at the end."""
        return MethodOutcome(
            solution=self.solution,
            claimed_objective=self.makespan_s,
            dual_bound=self.bound,
            certificate=self.certificate,
            limit_hit=None if self.closed else self.limit_hit,
            trace=tuple(self.trace),
            phases_s=self.phases_s,
            versions=self.versions,
            notes=self.notes,
        )

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done in here, and record where it leaves bound and schedule."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            now = time.perf_counter()
            self.phases_s[name] = self.phases_s.get(name, 0.0) + now - begin
            known = None if self.solution is None else self.makespan_s
            self.trace.append(TracePoint(now - self.begin, known, self.bound))
            self.notes["last phase"] = name
