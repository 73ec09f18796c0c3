"""The ladder: cheap bounds and heuristics first, exact models only for the remaining gap.

An exact method of ours (reconstructed). It climbs until the lower bound meets the makespan. Rungs:

1. heuristics: list schedules without sharing, LPT-ILS, and the paper's SJF-BCO;
2. bounds with certificates: energetic, the class bound, and the GPU-bin configuration LP;
3. above `FEW_JOBS` jobs, annealing on nested blocks towards the bound, gangs packed level by level
   within makespans from the bound on, and annealing again; up to as many, CP-W
   (`within.py`), some seconds of it: if contention does not decide, it often closes the gap;
4. on few jobs the bounds by configurations of a slot, with prices of iterations and of modes; they
   come before CP-W where they take a second at most;
5. CP-L and CP-U (see `formulations/cp_model.py`), whose schedules are simulated and dispatched: if
   an optimum without contention exists, the two meet; on few jobs the priced search, with annealing
   of orders, and more of CP-W come between the two;
6. CP-L2;
7. CP-E with the constraints of CP-L2, the last rung.

The rung on which the bounds met shows what was hard about an instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.system.data import Certificate, Solution
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...formulations.cp import (
    Constraints,
    exact_with_shared_slots,
    simulated,
    solve,
    with_shared_slots,
    without_contention,
    without_sharing,
)
from ...heuristics import gang_levels, nested_blocks
from ...heuristics.load_limits import sjf_bco_sweep
from ...heuristics.local_search import lpt_ils
from ...instance import (
    SjfBcoInstance,
    SjfBcoSolution,
)
from ...size_limits import refuse_many_pairs
from ...subproblems.greedy import upper_bound_schedule
from ..bounds import gpu_bin_lp
from ..bounds.class_bound import class_lp
from ..bounds.combinatorial import energetic
from ..bounds.instants import instants
from ..certificate.mode_prices import Modes
from . import priced_search
from .within import Within

#: Formulation behind the bound, by the rung that raised it last.
_FORMULATION_OF_RUNG = {"CP-L": "cp_l", "CP-L2": "cp_l2", "CP-E+L2": "cp_e_l2"}

#: Up to this many jobs the CP models need no nested blocks.
#: Tuned: `benchmarks/constants.py`.
FEW_JOBS = 40
#: Moves of the annealing: about a minute. Tuned: `benchmarks/constants.py`.
MOVES = 1_000_000_000

#: Share of the remaining time that a rung other than the last may take.
#: Tuned: `benchmarks/constants.py`.
_SHARE = 0.5

#: Shares of the remaining time that GPU bins, the first annealing, gangs level by level and the
#: second annealing may take. Tuned: `benchmarks/constants.py`.
_SHARE_OF_BINS, _SHARE_OF_FIRST, _SHARE_OF_LEVELS, _SHARE_OF_BLOCKS = 0.25, 0.15, 0.75, 0.9
#: Moves of the first annealing. Tuned: `benchmarks/constants.py`.
_FIRST_MOVES = 100_000_000

#: Rounds of CP-W before the bounds by configurations, half a minute at most, and after the priced
#: search. Tuned: `benchmarks/constants.py`.
_FIRST_ROUNDS, _MORE_ROUNDS = 3, 2

#: Share of the remaining time that the priced search may take. Tuned: `benchmarks/constants.py`.
_SHARE_OF_SEARCH = 0.8

#: Jobs up to which configurations of a slot are listed, and the priced search is tried.
#: Tuned: `benchmarks/constants.py`.
MOST_JOBS_OF_CONFIGURATIONS = 20
#: Jobs up to which that takes a second at most. Tuned: `benchmarks/constants.py`.
FEW_JOBS_OF_CONFIGURATIONS = 12


class _Search(Search[SjfBcoSolution]):
    """Search state: incumbent, bound, and the remaining time."""

    def __init__(self, instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator):
        super().__init__("min", limits, gap=0.0)
        self.instance, self.rng = instance, rng
        self.bound = 0
        self.bound_from: str | None = None
        #: Reasons why methods were skipped on a large instance.
        self.refused: list[str] = []
        #: What CP-W and the priced search did.
        self.notes: dict[str, Any] = {}
        self._modes = Modes(instance)
        self._within = Within(instance, rng)

    @property
    def upper(self) -> int | None:
        """Makespan of the incumbent."""
        return None if self.best is None else int(self.value)

    def raise_lower(self, bound: int, certificate: Certificate | None = None) -> None:
        """Record a proven bound; a bound beyond the horizon proves infeasibility."""
        self.prove(bound, certificate)
        self.infeasible |= self.bound > self.instance.horizon_slots

    def consider(self, schedule: Solution | None) -> None:
        """Simulate a schedule and keep it as incumbent if it is better."""
        found = simulated(self.instance, cast(SjfBcoSolution | None, schedule))
        if found:
            self.offer(*found)

    def limits_of_rung(self, rung_s: float | None) -> Limits:
        """Return the limits of a rung; the last rung (`rung_s` None) takes all remaining time."""
        return self.clock.limits() if rung_s is None else self.clock.limits(_SHARE, rung_s)

    @contextmanager
    def unless_refused(self) -> Iterator[None]:
        """Skip a method that refuses the instance, and record the reason."""
        try:
            yield
        except ModelRefused as error:
            self.refused.append(str(error))

    def heuristics(self) -> None:
        """Run rung 1."""
        with self.unless_refused():
            refuse_many_pairs(self.instance)
            self.consider(upper_bound_schedule(self.instance))
        with self.unless_refused():
            limits = self.limits_of_rung(rung_s=5.0)
            self.consider(lpt_ils(self.instance, limits, self.rng).solution)
        with self.unless_refused():
            limits = self.limits_of_rung(rung_s=5.0)
            self.consider(sjf_bco_sweep(self.instance, limits).solution)

    def energetic(self) -> None:
        """Run rung 2, its first bound."""
        self.take(energetic(self.instance))

    def classes(self) -> None:
        """Run rung 2, its second bound."""
        self.take(class_lp(self.instance, self.limits_of_rung(rung_s=5.0)))

    def configurations(self) -> None:
        """Run rung 4, its first bound."""
        self.take(instants(self.instance, self.limits_of_rung(rung_s=5.0)))

    def gpu_bins(self) -> None:
        """Run rung 2, its third bound."""
        limits = self.clock.limits(_SHARE_OF_BINS)
        self.take(gpu_bin_lp.gpu_bin_lp(self.instance, limits))

    def nested_blocks(self, share: float, moves: int) -> None:
        """Run rung 3, annealing."""
        limits = self.clock.limits(share)
        found = nested_blocks.anneal_from_bound(
            int(self.bound), self.instance, limits, self.rng, moves
        )
        self.consider(found.solution)
        if found.limit_hit == "interrupted":
            self.limit_hit = found.limit_hit

    def gang_levels(self) -> None:
        """Run rung 3, gangs packed level by level."""
        limits = self.clock.limits(_SHARE_OF_LEVELS)
        upper = self.instance.horizon_slots + 1 if self.upper is None else self.upper
        found = gang_levels.pack_from_bound(int(self.bound), upper, self.instance, limits, self.rng)
        self.consider(found.solution)
        if found.limit_hit == "interrupted":
            self.limit_hit = found.limit_hit

    def modes(self) -> None:
        """Run rung 4, its second bound."""
        with self._inner(self.clock.limits(_SHARE, 5.0)) as inner:
            priced_search.root(self._modes, inner)

    def priced_search(self) -> None:
        """Run the priced search of rung 5."""
        with self._inner(self.clock.limits(_SHARE_OF_SEARCH)) as inner:
            self.notes["priced_search"] = priced_search.close(self._modes, inner, self.rng)

    def within(self, share: float, rounds: int) -> None:
        """Run CP-W of rung 3 or 5."""
        with self._inner(self.clock.limits(share)) as inner:
            try:
                self._within.close(inner, rounds)
            finally:
                self.notes["within"] = self._within.notes
                self.versions.update(self._within.versions)

    @contextmanager
    def _inner(self, limits: Limits) -> Iterator[Search[SjfBcoSolution]]:
        """Start a search with what is known, and take what it finds."""
        inner = Search[SjfBcoSolution]("min", limits, gap=0.0)
        inner.prove(self.bound, self.certificate)
        if self.best is not None:
            inner.offer(self.value, self.best)
        try:
            yield inner
        finally:
            self.consider(inner.best)
            self.raise_lower(int(inner.bound), inner.certificate)
            if inner.limit_hit == "interrupted":
                self.limit_hit = inner.limit_hit

    def take(self, bound: MethodOutcome) -> None:
        """Record a bound with its certificate."""
        if bound.limit_hit == "interrupted":
            self.limit_hit = bound.limit_hit
        if bound.dual_bound is not None:
            self.raise_lower(int(bound.dual_bound), bound.certificate)
        self.versions.update(bound.versions)

    def cp(self, durations: Constraints, rung_s: float | None) -> None:
        """Run one CP model of rungs 5 to 7, with the incumbent's makespan as horizon."""
        limits = self.limits_of_rung(rung_s)
        lower, seed = int(self.bound), seed_of(self.rng)
        outcome, schedule = solve(self.instance, durations, limits, seed, lower, self.best)
        self.consider(schedule)
        self.versions.update(outcome.versions)
        last = rung_s is None
        if outcome.limit_hit == "interrupted" or (last and outcome.limit_hit):
            self.limit_hit = outcome.limit_hit
        if durations is without_sharing:
            return
        if outcome.status is Status.INFEASIBLE:
            self.infeasible = True
        elif outcome.bound is not None:
            self.raise_lower(round_up(outcome.bound))

    def rungs(
        self, rung_s: float, gpu_bins: bool, priced: bool, within: bool
    ) -> Iterator[tuple[str, Any]]:
        """Yield names and actions of the rungs, cheapest first."""
        yield "heuristics", self.heuristics
        yield "energetic", self.energetic
        yield "class_lp", self.classes
        jobs = len(self.instance.jobs)
        if gpu_bins:
            yield "gpu_bins", self.gpu_bins
            if jobs > FEW_JOBS:
                yield "nested_blocks", lambda: self.nested_blocks(_SHARE_OF_FIRST, _FIRST_MOVES)
                yield "gang_levels", self.gang_levels
                yield "nested_blocks", lambda: self.nested_blocks(_SHARE_OF_BLOCKS, MOVES)
        by_configurations: list[tuple[str, Any]] = []
        if jobs <= MOST_JOBS_OF_CONFIGURATIONS:
            by_configurations.append(("instants", self.configurations))
            if priced:
                by_configurations.append(("modes", self.modes))
        if jobs <= FEW_JOBS_OF_CONFIGURATIONS:
            yield from by_configurations
        if within and jobs <= FEW_JOBS:
            yield "CP-W", lambda: self.within(_SHARE, _FIRST_ROUNDS)
        if jobs > FEW_JOBS_OF_CONFIGURATIONS:
            yield from by_configurations
        yield "CP-L", lambda: self.cp(without_contention, rung_s)
        if priced and jobs <= MOST_JOBS_OF_CONFIGURATIONS:
            yield "priced_search", self.priced_search
        if within and jobs <= FEW_JOBS:
            yield "CP-W", lambda: self.within(_SHARE, _MORE_ROUNDS)
        yield "CP-U", lambda: self.cp(without_sharing, rung_s)
        yield "CP-L2", lambda: self.cp(with_shared_slots, rung_s)
        yield "CP-E+L2", lambda: self.cp(exact_with_shared_slots, None)


@method(
    kind="exact",
    reference="CP-L, CP-U, CP-L2, CP-E+L2 (reconstructed)",
    formulation="cp_e_l2",
    backend="cpsat",
)
def ladder(
    instance: SjfBcoInstance,
    limits: Limits,
    *,
    rung_s: float = 20.0,
    gpu_bins: bool = True,
    priced: bool = True,
    within: bool = True,
) -> MethodOutcome:
    """Heuristics, bounds and CP-SAT models in turn until the gap is closed.

    Return an optimal schedule, or the best schedule and bound within the time limit.

    The method is ours (reconstructed).

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
    rung_s : float, default 20
        Largest number of seconds for a rung other than the last, and at most half of the remaining
        time. GPU bins may take a quarter, gangs level by level 0.75, nested blocks 0.9 of the
        remaining time.
    gpu_bins : bool, default True
        Include the GPU-bin bound, and above `FEW_JOBS` jobs the annealing on nested blocks and
        gangs level by level.
    priced : bool, default True
        Include the priced search up to `MOST_JOBS_OF_CONFIGURATIONS` jobs.
    within : bool, default True
        Include CP-W up to `FEW_JOBS` jobs.

    Returns
    -------
    MethodOutcome
        Its notes give the bounds after each rung, the rung that closed the gap, and the methods
        skipped because the instance is too large for them. The bound is verified if a combinatorial
        bound or a checked priced search attains it.
    """
    rng = fixed_rng()
    search = _Search(instance, limits, rng)
    history: list[dict[str, Any]] = []
    for name, climb in search.rungs(rung_s, gpu_bins, priced, within):
        if search.closed or search.limit_hit:
            break
        if search.clock.expired:
            break
        lower = search.bound
        with search.interruptible(), search.clock.phase(name), search.unless_refused():
            climb()
        if search.bound > lower:
            search.bound_from = name
        history.append({"rung": name, "lower": search.bound, "upper": search.upper})
    closed_by = history[-1]["rung"] if search.closed else None
    outcome = search.outcome(search.best, closed_by=closed_by, rungs=history)
    outcome.notes.update({name: notes for name, notes in search.notes.items() if notes})
    if search.refused:
        outcome.notes["refused"] = search.refused
    outcome.dual_bound = search.bound or None
    outcome.formulation = _FORMULATION_OF_RUNG.get(search.bound_from or "")
    return outcome
