"""The exact method: heuristics, elimination, cuts, and CP-SAT for what is left."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...formulations.clauses import (
    ClauseModel,
    Units,
    unscaled,
)
from ...formulations.coefficients import check_size
from ...heuristics.annealing import annealed
from ...heuristics.multi_start import best_start, metis_start
from ...instance import (
    BglPartitionInstance,
    BglPartitionSolution,
)
from ...subproblems.completion import complete
from ...subproblems.local_search import (
    Weighted,
    improve,
)
from ..bounds.elimination_bound import certificate_of
from ..bounds.group_bound import group_proof
from ..bounds.semidefinite import semidefinite_proof
from ..certificate.check import (
    BglPartitionCertificate,
    Proof,
    Stars,
    check_bound,
)
from ..elimination import (
    Eliminated,
    Elimination,
)
from ..elimination_order import narrow_order
from ..terms import terms_of
from .cases import Cases

#: Partial partitions of the first elimination, and the factor from one to the next.
#: Tuned: `benchmarks/constants.py`.
FIRST_STATES, MORE = 2**14, 8
#: Partitions of the training nodes that are compared one by one. Tuned: `benchmarks/constants.py`.
MOST_PLACED = 2**19
#: Part of the time left that eliminations may use, and cuts after them; the rest is CP-SAT's.
#: Tuned: `benchmarks/constants.py`.
ELIMINATION_SHARE, CUT_SHARE = 0.4, 0.8
#: Part of the time left that prices of groups and the semidefinite program may each use.
#: Tuned: `benchmarks/constants.py`.
RELAXATION_SHARE = 0.3
#: Cuts come before an elimination that would take more than this part of the time left.
#: Tuned: `benchmarks/constants.py`.
NEXT_SHARE = 0.25
#: Proposals for each node in the first annealing, the factor from one to the next, and proposals
#: for all nodes in the last; the part of the time left that the next one may be expected to take.
#: Tuned: `benchmarks/constants.py`.
FIRST_SWEEPS, MORE_SWEEPS, MOST_PROPOSALS, ANNEALING_SHARE = 1_000, 4, 2 * 10**8, 0.5


@method(kind="exact", reference="this project", formulation="elimination")
def elimination(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    starts: int = 1,
    most_states: int = 2**21,
) -> MethodOutcome:
    """Multi-start, elimination of the training nodes, cuts, CP-SAT for what is left.

    1. BGL's partition from some random starts, of many nodes METIS's by requests if it is
       installed, refined, and a short annealing.
    2. Elimination of the training nodes (`elimination.py`), leaving out what costs as much as the
       incumbent. Where there are more partial partitions than a number, frontier nodes are
       forgotten, and what comes out is a bound and one more start; the number grows from 16,384 to
       `most_states`. The other nodes are placed at the least cost. Longer annealings follow where
       a gap is left. After the first one the relaxations: prices of the groups of training nodes
       where these can be listed, and the semidefinite program over the training nodes.
    3. Cuts (`cases.py`), as soon as the next elimination would take long.
    4. Where only the node cap is open and there are two parts, all partitions of the training nodes
       that might be better are compared.
    5. Else CP-SAT goes on from the incumbent.

    The bounds of steps 2 to 4 have certificates; what CP-SAT closes is its claim.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        Step 2 uses at most two fifths of the time.
    rng : numpy.random.Generator
        Draws the sources of the fronts.
    starts : int, default 1
    most_states : int, default 2^21
    """
    search = _Ladder(instance, limits, rng)
    with search.interruptible():
        search.climb(starts, most_states)
    return search.outcome(search.best, **search.notes)


class _Ladder(Search[BglPartitionSolution]):
    """The search state, and the rungs."""

    def __init__(self, instance: BglPartitionInstance, limits: Limits, rng: np.random.Generator):
        super().__init__("min", limits)
        self.instance, self.rng = instance, rng
        self.weighted = Weighted.of(instance)
        self.notes: dict[str, str | int] = {}
        #: True once an elimination has forgotten nothing, so that only the node cap is open.
        self.all_kept = False
        #: True once cuts have had their turn.
        self.was_cut = False
        #: True once the relaxations have had their turn.
        self.was_relaxed = False
        self.sweeps = FIRST_SWEEPS
        self.prove(0, BglPartitionCertificate(proof=Stars()))

    def climb(self, starts: int, most_states: int) -> None:
        """Take one rung after the other until the gap is closed or the time is up."""
        self.start(starts)
        if not self.over:
            self.eliminate(most_states)
        self._anneal_once()
        self.relax()
        if not self.over and self.all_kept:
            self.charge_node_cap()
        if not self.over and not self.was_cut:
            self.cut()
        self.anneal()
        if not self.over:
            self.hand_over()

    def start(self, starts: int) -> None:
        """Take the best of several partitions, annealed shortly."""
        if not starts:
            return
        given = (self.instance, self.weighted)
        with self.clock.phase("starts"):
            self.consider(best_start(*given, starts, self.clock, self.rng, memory=False))
            part = metis_start(*given, self.clock, self.rng)
            if part is not None:
                self.consider(part)
        self._anneal_once()

    def relax(self) -> None:
        """Raise the bound by prices of groups and by the semidefinite program, once."""
        if self.over or self.was_relaxed or self.best is None:
            return
        self.was_relaxed = True
        part = np.array(self.best.part, dtype=np.int64)

        def by_groups(clock: Clock) -> Proof | None:
            return group_proof(self.instance, clock)

        def by_program(clock: Clock) -> Proof | None:
            return semidefinite_proof(self.instance, part, clock)

        for name, prove in (("groups", by_groups), ("semidefinite", by_program)):
            if self.over:
                return
            with self.clock.phase(name):
                try:
                    proof = prove(Clock(self.clock.limits(RELAXATION_SHARE)))
                except ModelRefused as refusal:
                    self.notes[f"no {name}"] = str(refusal)
                    continue
                if proof is None:
                    continue
                certificate = BglPartitionCertificate(proof=proof)
                bound = check_bound(self.instance, certificate)
                if bound is not None:
                    self.prove(bound, certificate)

    def anneal(self) -> None:
        """Anneal for longer and longer, as far as the time allows."""
        took_s = 0.0
        while (
            not self.over
            and self.best is not None
            and MORE_SWEEPS * took_s <= ANNEALING_SHARE * self.clock.left_s
            and self.sweeps * self.instance.num_nodes <= MOST_PROPOSALS
        ):
            begin_s = self.clock.elapsed_s
            self._anneal_once()
            took_s = self.clock.elapsed_s - begin_s

    def _anneal_once(self) -> None:
        """Anneal the incumbent; the next annealing is longer."""
        if self.over or self.best is None:
            return
        with self.clock.phase("annealing"):
            start = np.array(self.best.part, dtype=np.int64)
            given = (self.instance, self.weighted, start, self.sweeps)
            self.consider(annealed(*given, self.clock, self.rng))
        self.sweeps *= MORE_SWEEPS

    def consider(self, part: Ints) -> None:
        """Take a partition if it is the best."""
        found = BglPartitionSolution.of(part.tolist())
        self.offer(self.instance.pair_weights.cut(part), found)

    def eliminate(self, most_states: int) -> None:
        """Raise the bound, and find better partitions, until nothing is forgotten."""
        terms = terms_of(self.instance)
        order = narrow_order(terms, lambda: self.clock.expired)
        last_s = self.clock.elapsed_s + ELIMINATION_SHARE * self.clock.left_s
        states = min(FIRST_STATES, most_states)
        while not self.over:
            value = Fraction(self.value) if math.isfinite(self.value) else None
            begin_s = self.clock.elapsed_s

            def late(until_s: float = last_s) -> bool:
                return self.clock.elapsed_s > until_s

            with self.clock.phase("elimination"):
                try:
                    run = Elimination(terms, order, self._limit(value)).run(states, stop=late)
                except ModelRefused as refusal:  # too many parts for the codes
                    self.notes["refused"] = str(refusal)
                    return
            took_s = self.clock.elapsed_s - begin_s
            if not run.finished:
                return
            self._take(order, run, value)
            self.all_kept = not any(run.forgotten)
            if self.all_kept or states == most_states:
                return
            self.relax()
            if states == MORE * FIRST_STATES:
                self._anneal_once()
            states = min(most_states, MORE * states)
            too_long = MORE * took_s > NEXT_SHARE * self.clock.left_s
            if not self.over and states > MORE * FIRST_STATES and too_long:
                if self.was_cut:
                    return
                self.cut()
                last_s = self.clock.elapsed_s + ELIMINATION_SHARE * self.clock.left_s

    def cut(self) -> None:
        """Branch and cut, from the incumbent."""
        self.was_cut = True
        clock = Clock(self.clock.limits(CUT_SHARE))
        try:
            with self.clock.phase("cuts"):
                cases = Cases(self.instance, self.weighted, self, clock, self.rng)
        except ModelRefused as refusal:
            self.notes["no cuts"] = str(refusal)
            return
        cases.run()
        self.notes["cuts"] = len(cases.lp.cuts)
        self.notes["cases"] = len(cases.tree)

    def charge_node_cap(self) -> None:
        """With two parts: compare all partitions of the training nodes that might be better."""
        terms = terms_of(self.instance)
        order = narrow_order(terms, lambda: self.clock.expired)
        value = Fraction(self.value)
        with self.clock.phase("node cap"):
            try:
                run = Elimination(terms, order, self._limit(value), placed=True).run(
                    MOST_PLACED,
                    ((),) * len(order),
                    stop=lambda: self.clock.expired,
                    expand_at_most=MOST_PLACED,
                )
            except ModelRefused:  # more parts, or too many such partitions
                return
        if run.finished:
            self._take(order, run, value, placed=True)

    def _limit(self, value: Fraction | None) -> int:
        """Return the scaled cost from which on partial partitions are left out."""
        weights = self.instance.pair_weights
        if value is None:
            return int(weights.scaled.sum()) + 1
        return math.floor(value * weights.scale)

    def _take(
        self, order: list[int], run: Eliminated, value: Fraction | None, *, placed: bool = False
    ) -> None:
        """Take the bound of a run, and its partition, completed and refined."""
        self.notes["partial partitions"] = run.most_states
        bound = Fraction(run.bound, self.instance.pair_weights.scale)
        self.prove(bound, certificate_of(order, run, value, placed=placed))
        if run.part is None:
            return
        whole = complete(self.instance, run.part)
        if whole is not None:
            self.consider(improve(self.weighted, whole, self.clock, self.rng))

    def hand_over(self) -> None:
        """Let CP-SAT go on from the incumbent; nodes without weight are placed at the end."""
        try:
            check_size(self.instance)
        except ModelRefused as refusal:
            self.notes["refused"] = str(refusal)
            return
        self._solve(*self._units())

    def _units(self) -> tuple[list[int], Units]:
        weights = self.instance.pair_weights
        there = sorted(
            {*weights.first.tolist(), *weights.second.tolist(), *self.instance.train_nodes}
        )
        block = np.full(self.instance.num_nodes, -1, dtype=np.int64)
        block[there] = np.arange(len(there))
        return there, Units.of_blocks(self.instance, block)

    def _solve(self, there: list[int], units: Units) -> None:
        with self.clock.phase("build"):
            model = ClauseModel(units)
            model.complete()
            if self.best is not None:
                model.hint([self.best.part[v] for v in there])
        with self.clock.phase("CP-SAT"):
            solved = solve_cp(model.model, self.clock.limits(), seed_of(self.rng))
        self.versions.update(solved.versions)
        self.limit_hit = solved.limit_hit
        if solved.values is not None:
            parts = dict(zip(there, model.decode(solved.values), strict=True))
            whole = complete(self.instance, parts)
            if whole is not None:
                self.consider(whole)
        if solved.bound is not None and math.isfinite(solved.bound):
            self.prove(unscaled(self.instance, solved.bound))
