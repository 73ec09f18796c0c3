"""One method on one instance, over its seeds; and which methods are best there."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from gadgetopt.numbers.tolerance import TOLERANCE, Number, agrees, as_double
from gadgetopt.reporting.integrals import integral_of
from gadgetopt.runs.comparison import Entry
from gadgetopt.system.declaration import Sense
from gadgetopt.system.result import Status, Voucher
from gadgetopt.trust.infeasibility import infeasible_voucher
from gadgetopt.trust.ratio import Ratio
from gadgetopt.trust.theorems import Verdict, proven_ratio, verdict

#: Limits whose runs are unfinished; one that stopped at its requested gap is not.
_CUT_SHORT = ("time_s", "memory_mb")


@dataclass(slots=True)
class Outcome:
    """The runs of one method on one instance, one per seed, as one.

    Attributes
    ----------
    solved : bool
        True if every run found a feasible solution; objective and ratio are then the means.
    optimal : Voucher or None
        The weakest voucher of the runs' dual bounds, if every run is optimal.
    bound : Number or None
        The mean of the runs' dual bounds, if every run has one.
    gap : float or None
        The mean of the runs' gaps, if every run has one.
    low, high : float or None
        The ratio's interval; None if there is no ratio. `high` is infinite without a dual bound.
    distance : float or None
        Where every run found a solution and there is no ratio: the mean of the gaps to the best
        dual bound on the instance, infinite without one.
    infeasible : Voucher or None
        The weakest voucher of the runs' proofs of infeasibility, if every run has one.
    net_low, net_high : float or None
        The same of the ratio without the part of the objective that no decision changes.
    certified : Voucher or None
        Who vouches for the bound on which the ratio rests, if the interval is closed; without a
        ratio, if the optimum is known.
    guarantee : float or None
        The ratio that a proven theorem guarantees for every run.
    refuted, refuted_proven : int
        Runs that exceed the ratio of a theorem, and of a proven one.
    time_s : float
        Mean over the runs; a run that failed or hit a limit counts with its time limit.
    notes : mapping
        The means of the numbers that every run notes under a name.
    integral_s : float or None
        Mean of the runs' primal-dual integrals; None if a trace was not read.
    tightness : float or None
        The bound over the best objective on the instance, inverted for a maximisation; None if one
        is missing or they have no ratio.
    compared, won, tied : bool
        Whether other methods were run on the instance, and whether this one has the best
        objective, alone or with others.
    """

    runs: int
    not_applicable: int
    errors: int
    limits: int
    solved: bool
    bound_only: bool
    infeasible: Voucher | None
    optimal: Voucher | None
    objective: Number | None
    bound: Number | None
    gap: float | None
    low: float | None
    high: float | None
    distance: float | None
    net_low: float | None
    net_high: float | None
    certified: Voucher | None
    guarantee: float | None
    refuted: int
    refuted_proven: int
    time_s: float
    notes: Mapping[str, Number] = field(default_factory=dict)
    integral_s: float | None = field(default=None)
    tightness: float | None = field(default=None)
    compared: bool = field(default=False)
    won: bool = field(default=False)
    tied: bool = field(default=False)

    @property
    def at_optimum(self) -> bool:
        """True if the solution is known to be optimal, whoever proved it."""
        if self.high is None:
            return self.distance is not None and (self.optimal is not None or self.distance == 0)
        return self.high <= 1 + TOLERANCE


def outcome_of(entries: Sequence[Entry]) -> Outcome:
    """Return the runs of one method on one instance as one outcome."""
    made = [entry for entry in entries if not entry.result.refused]
    results = [entry.result for entry in made]
    objectives = [r.objective for r in results if r.objective is not None]
    solved = bool(results) and len(objectives) == len(results)
    optimal = solved and all(r.status is Status.OPTIMAL for r in results)
    bounds = [r.bound for r in results if r.bound is not None]
    gaps = [r.gap for r in results if r.gap is not None]
    low, high = _interval([e.ratio for e in made]) if solved else (None, None)
    net_low, net_high = _interval([e.net_ratio for e in made]) if solved else (None, None)
    guarantees = [as_double(p) for e in made if (p := proven_ratio(e.promises)) is not None]
    exceeded = [_exceeded(entry) for entry in made]
    return Outcome(
        runs=len(made),
        not_applicable=len(entries) - len(made),
        errors=sum(r.status is Status.ERROR for r in results),
        limits=sum(r.limit_hit in _CUT_SHORT for r in results),
        solved=solved,
        bound_only=bool(results) and all(r.state == "bound only" for r in results),
        infeasible=_weakest([infeasible_voucher(r) for r in results])
        if results and all(r.status is Status.INFEASIBLE for r in results)
        else None,
        optimal=_weakest([r.bound_voucher for r in results]) if optimal else None,
        objective=_mean(objectives) if solved else None,
        bound=_mean(bounds) if results and len(bounds) == len(results) else None,
        gap=math.fsum(gaps) / len(gaps) if results and len(gaps) == len(results) else None,
        low=low,
        high=high,
        distance=_distance([e.ratio for e in made]) if solved and low is None else None,
        net_low=net_low,
        net_high=net_high,
        certified=_certified(made) if solved else None,
        guarantee=max(guarantees) if made and len(guarantees) == len(made) else None,
        refuted=sum(bool(standings) for standings in exceeded),
        refuted_proven=sum("proven" in standings for standings in exceeded),
        time_s=sum(_time(entry) for entry in made) / len(made) if made else 0.0,
        notes=_notes([r.notes for r in results]),
        integral_s=_integral(made),
    )


def _notes(noted: Sequence[Mapping[str, object]]) -> dict[str, Number]:
    """Return the means of the numbers that all runs note."""
    numbers = [
        {k: x for k, x in notes.items() if isinstance(x, int | float) and not isinstance(x, bool)}
        for notes in noted
    ]
    shared = set(numbers[0]).intersection(*numbers) if numbers else set()
    return {name: _mean([own[name] for own in numbers]) for name in shared}


def compete(outcomes: Mapping[str, Outcome], sense: Sense) -> None:
    """Note which methods on one instance have the best objective, and how tight bounds are."""
    _compare_bounds(outcomes, sense)
    field_ = [o for o in outcomes.values() if o.runs and not o.bound_only]
    if len(field_) < 2 or any(o.infeasible for o in field_):
        return
    found = [o.objective for o in field_ if o.objective is not None]
    for outcome in field_:
        outcome.compared = True
    if not found:
        return
    best = min(found) if sense == "min" else max(found)
    leaders = [o for o in field_ if o.objective is not None and agrees(o.objective, best)]
    for leader in leaders:
        leader.won, leader.tied = len(leaders) == 1, len(leaders) > 1


def _compare_bounds(outcomes: Mapping[str, Outcome], sense: Sense) -> None:
    """Note each bound over the best objective."""
    found = [as_double(o.objective) for o in outcomes.values() if o.objective is not None]
    best = (min(found) if sense == "min" else max(found)) if found else 0.0
    for outcome in outcomes.values():
        bound = None if outcome.bound is None else as_double(outcome.bound)
        if bound is not None and best > 0 and (bound > 0 or sense == "min"):
            outcome.tightness = bound / best if sense == "min" else best / bound


def _interval(ratios: Sequence[Ratio | None]) -> tuple[float | None, float | None]:
    """Return the mean of the ends of ratios; None if one has no ratio."""
    found = [r for r in ratios if r is not None and r.low is not None]
    if not found or len(found) < len(ratios):
        return None, None
    lows = [as_double(r.low) for r in found if r.low is not None]
    highs = [math.inf if r.high is None else as_double(r.high) for r in found]
    return sum(lows) / len(lows), sum(highs) / len(highs)


def _distance(ratios: Sequence[Ratio | None]) -> float:
    """Return the mean gap to the best dual bound; infinite if there is none."""
    gaps = [math.inf if r is None or r.gap is None else r.gap for r in ratios]
    return sum(gaps) / len(gaps)


def _certified(made: Sequence[Entry]) -> Voucher | None:
    """Return the weakest voucher of runs whose distances to the optimum are all known."""
    found = [e.ratio for e in made if e.ratio is not None]
    closed = len(found) == len(made) and all(r.certified for r in found)
    return _weakest([r.voucher for r in found]) if closed else None


def _weakest(vouchers: Sequence[Voucher | None]) -> Voucher:
    strength = list(Voucher)
    return min((v or Voucher.SOLVER for v in vouchers), key=strength.index)


def _mean(values: Sequence[Number]) -> Number:
    if len(values) == 1:
        return values[0]
    if any(isinstance(x, float) for x in values):
        return math.fsum(map(as_double, values)) / len(values)
    return sum((Fraction(x) for x in values), Fraction(0)) / len(values)


def _exceeded(entry: Entry) -> set[str]:
    return {p.standing for p in entry.promises if verdict(p, entry.ratio) is Verdict.EXCEEDED}


def _time(entry: Entry) -> float:
    r, limit_s = entry.result, entry.limits.time_s
    unfinished = r.status is Status.ERROR or r.limit_hit in _CUT_SHORT
    return limit_s if unfinished and limit_s is not None else r.time_s


def _integral(made: Sequence[Entry]) -> float | None:
    integrals = [x for entry in made if (x := integral_of(entry)) is not None]
    return math.fsum(integrals) / len(made) if made and len(integrals) == len(made) else None
