"""The ladder: cheap bounds and schedules first, the exact model only for what is left open.

An exact method of ours (reconstructed). Its rungs, until the lower bound meets the makespan:

1. heuristics: list schedules without sharing, LPT-ILS, and the paper's SJF-BCO;
2. combinatorial bounds: energetic, then the certified class bound;
3. CP-L and CP-U, whose schedules are simulated and dispatched: where an optimum without contention
   exists, the two meet;
4. CP-L2;
5. CP-E with CP-L2, which ends the search.

On which rung the two met says what was hard about an instance.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from gadgetopt.data import Certificate, Solution
from gadgetopt.errors import ModelRefused
from gadgetopt.numbers import round_up
from gadgetopt.result import Limits, MethodOutcome, Status, TracePoint

from .algorithms import sjf_bco
from .bounds import energetic
from .class_bound import class_lp
from .cp import (
    Constraints,
    exact_with_shared_slots,
    simulated,
    solve,
    with_shared_slots,
    without_contention,
    without_sharing,
)
from .greedy import upper_bound_schedule
from .instance import SjfBcoInstance, SjfBcoSolution
from .local_search import lpt_ils

#: What the bound rests on when a rung has raised it last.
_FORMULATION_OF_RUNG = {"CP-L": "cp_l", "CP-L2": "cp_l2", "CP-E+L2": "cp_e_l2"}

#: Share of the remaining time that a rung before the last may take.
_SHARE = 0.5


@dataclass
class _Search:
    """What is known so far, and what is left of the time."""

    instance: SjfBcoInstance
    limits: Limits
    rng: np.random.Generator
    lower: int = 0
    certificate: Certificate | None = None  # of `lower`, where there is one
    upper: int | None = None
    best: SjfBcoSolution | None = None
    infeasible: bool = False
    limit_hit: str | None = None
    bound_from: str | None = None
    began: float = field(default_factory=time.perf_counter)
    versions: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)  # what is not made for an instance so large

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began

    @property
    def out_of_time(self) -> bool:
        return self.limits.time_s is not None and self.elapsed >= self.limits.time_s

    @property
    def closed(self) -> bool:
        """Whether nothing is left to find out."""
        return self.infeasible or (self.upper is not None and self.lower >= self.upper)

    def raise_lower(self, bound: int, certificate: Certificate | None = None) -> None:
        """Take note of a proven bound; beyond the horizon it proves infeasibility."""
        if bound > self.lower:
            self.lower, self.certificate = bound, certificate
        self.infeasible |= self.lower > self.instance.horizon_slots

    def consider(self, schedule: Solution | None) -> None:
        """Simulate a schedule and keep it if it is the best."""
        found = simulated(self.instance, cast(SjfBcoSolution | None, schedule))
        if found and (self.upper is None or found[0] < self.upper):
            self.upper, self.best = found

    def limits_of_rung(self, rung_s: float | None) -> Limits:
        """The time a rung may take; the last one, without `rung_s`, takes all that is left."""
        left = None if self.limits.time_s is None else max(0.0, self.limits.time_s - self.elapsed)
        if rung_s is not None:
            left = rung_s if left is None else min(rung_s, _SHARE * left)
        return Limits(left, self.limits.threads, self.limits.memory_mb, self.limits.rel_gap)

    @contextmanager
    def unless_refused(self) -> Iterator[None]:
        """Do without what is not made for the instance, and note the reason."""
        try:
            yield
        except ModelRefused as error:
            self.refused.append(str(error))

    def heuristics(self) -> None:
        """Rung 1."""
        self.consider(upper_bound_schedule(self.instance))
        with self.unless_refused():
            limits = self.limits_of_rung(rung_s=5.0)
            self.consider(lpt_ils(self.instance, limits, self.rng).solution)
        with self.unless_refused():
            limits = self.limits_of_rung(rung_s=5.0)
            self.consider(sjf_bco(self.instance, limits, self.rng, theta_search="sweep").solution)

    def energetic(self) -> None:
        """Rung 2, first half."""
        self.take(energetic(self.instance, self.limits, self.rng))

    def classes(self) -> None:
        """Rung 2, second half."""
        self.take(class_lp(self.instance, self.limits_of_rung(rung_s=5.0), self.rng))

    def take(self, bound: MethodOutcome) -> None:
        """Take note of a bound that comes with its certificate."""
        if bound.dual_bound is not None:
            self.raise_lower(int(bound.dual_bound), bound.certificate)
        self.versions.update(bound.versions)

    def cp(self, durations: Constraints, rung_s: float | None) -> None:
        """Rungs 3 to 5: one of the CP models, on the best makespan so far as horizon."""
        limits = self.limits_of_rung(rung_s)
        seed = int(self.rng.integers(2**31))
        outcome, schedule = solve(self.instance, durations, limits, seed, self.lower, self.best)
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

    def rungs(self, rung_s: float) -> Iterator[tuple[str, Any]]:
        """Names and actions, cheapest first."""
        yield "heuristics", self.heuristics
        yield "energetic", self.energetic
        yield "class_lp", self.classes
        yield "CP-L", lambda: self.cp(without_contention, rung_s)
        yield "CP-U", lambda: self.cp(without_sharing, rung_s)
        yield "CP-L2", lambda: self.cp(with_shared_slots, rung_s)
        yield "CP-E+L2", lambda: self.cp(exact_with_shared_slots, None)


def ladder(
    instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator, *, rung_s: float = 20.0
) -> MethodOutcome:
    """Return an optimal schedule, or the best schedule and bound when time ran out.

    Parameters
    ----------
    instance : SjfBcoInstance
    limits : Limits
    rng : numpy.random.Generator
        Seeds the solvers.
    rung_s : float, default 20
        Most seconds that a rung before the last may take; no more than half of what is left of
        `limits.time_s` either.

    Returns
    -------
    MethodOutcome
        Its notes give the bounds after each rung, the rung that closed the gap, and what was left
        out because the instance is too large for it. The bound is verified when a combinatorial
        bound reaches it.
    """
    search = _Search(instance, limits, rng)
    history: list[dict[str, Any]] = []
    trace: list[TracePoint] = []
    phases: dict[str, float] = {}
    for name, climb in search.rungs(rung_s):
        if search.closed or search.limit_hit:
            break
        if search.out_of_time:
            search.limit_hit = "time_s"
            break
        before, lower = search.elapsed, search.lower
        try:
            with search.unless_refused():
                climb()
        except KeyboardInterrupt:
            search.limit_hit = "interrupted"
        if search.lower > lower:
            search.bound_from = name
        phases[name] = search.elapsed - before
        history.append({"rung": name, "lower": search.lower, "upper": search.upper})
        trace.append(TracePoint(search.elapsed, search.upper, search.lower))
    notes = {"closed_by": history[-1]["rung"] if search.closed else None, "rungs": history}
    if search.refused:
        notes["refused"] = search.refused
    return MethodOutcome(
        solution=search.best,
        claimed_objective=search.upper,
        dual_bound=search.lower or None,
        certificate=search.certificate,
        proved=Status.INFEASIBLE if search.infeasible else None,
        limit_hit=None if search.closed else search.limit_hit,
        formulation=_FORMULATION_OF_RUNG.get(search.bound_from or ""),
        trace=tuple(trace),
        phases_s=phases,
        versions=search.versions,
        notes=notes,
    )
