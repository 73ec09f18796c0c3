"""The exact method of every model: the sweep, or labels, each with a certificate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...evaluate import evaluate
from ...instance import (
    AdspRatesInstance,
    AdspRatesSolution,
    MomentumCap,
)
from ...tables import (
    momentum_limit,
    momentum_terms,
    solution_of,
)
from ..bounds.lagrangian import lagrangian_certificate
from ..bounds.momentum_multipliers import Multipliers, multipliers
from ..certificate.check import (
    AdspRatesCertificate,
    Labels,
    Stairs,
)
from ..certificate.momentum_labels import TooManyLabels, whole_window, window_starts
from .label_search import cheapest
from .sweep import sweep

#: Part by which a claimed bound stays below the optimum, so that rounding does not refute it.
#: Tuned: `benchmarks/constants.py`.
_SLACK = Fraction(1, 2**32)

#: More steps than any decision loses. By definition.
_NO_LIMIT = Fraction(2**200)

#: Multipliers of a window without a decision that meets the momentum cap.
_ANY = Multipliers(1.0, 0.0, 0.0)


@method(kind="exact", reference="this project", formulation="exact_rates")
def exact_rates(instance: AdspRatesInstance, limits: Limits) -> MethodOutcome:
    """Threshold sweep; under the momentum cap, labels within the Lagrangian gap.

    Return the best rates with a certificate that no others are better.

    Under the error bound and the time to accuracy by the threshold sweep, which is polynomial;
    under the momentum cap, a knapsack, by labels within the gap of the Lagrangian bound.

    Notes
    -----
    The sweep computes in doubles; certificates are checked in whole numbers. A bound is claimed
    2^-32 of the optimum below it.
    """
    if not instance.last_window_start:
        return MethodOutcome(proved=Status.INFEASIBLE)
    if isinstance(instance.model, MomentumCap):
        return _labels(instance, limits)
    clock = Clock(limits)
    with clock.phase("sweep"):
        swept = sweep(instance, clock)
    if math.isinf(swept.value):
        proved = Status.INFEASIBLE if swept.complete else None
        return MethodOutcome(proved=proved, limit_hit=None if swept.complete else "time_s")
    solution = solution_of(swept.commits)
    certificate = None
    if swept.complete:
        bound = shortened(Fraction(evaluate(instance, solution).objective or swept.value))
        certificate = AdspRatesCertificate(proof=Stairs(bound=bound))
    return MethodOutcome(
        solution=solution,
        claimed_objective=swept.value,
        certificate=certificate,
        limit_hit=None if swept.complete else "time_s",
        phases_s=clock.phases_s,
    )


def shortened(value: Fraction) -> Fraction:
    """Return a number of few digits that is just below a positive one."""
    below = value * (1 - _SLACK)
    if below <= 0:
        return Fraction(0)
    # 40 binary digits: 2^-39 off at most.
    shift = 40 - (below.numerator.bit_length() - below.denominator.bit_length())
    unit = Fraction(2) ** shift
    return Fraction(math.floor(below * unit)) / unit


def _labels(instance: AdspRatesInstance, limits: Limits) -> MethodOutcome:
    search: Search[AdspRatesSolution] = Search("min", limits)
    with search.clock.phase("multipliers"):
        found = {c: multipliers(instance, c) for c in window_starts(instance)}
        for c, known in found.items():
            if known is not None:
                _offer(instance, search, _repaired(instance, known.commits, c))
    _bound(instance, search, [m for m in found.values() if m is not None])
    try:
        with search.clock.phase("labels"):
            # Windows of small bounds first: what they find closes the others.
            for c, known in sorted(found.items(), key=_bound_of):
                if search.clock.expired:
                    raise TooManyLabels("time is up")
                window = whole_window(instance, c, *(known or _ANY).both)
                below = Fraction(search.value) if search.best is not None else _NO_LIMIT
                better = cheapest(window, shortened(below), lambda: search.clock.expired)
                if better is not None:
                    _offer(instance, search, better)
    except TooManyLabels:
        search.limit_hit = "time_s" if search.clock.expired else None
        return search.outcome(search.best)
    if search.best is None:
        search.infeasible = True
    elif search.value:
        bound = shortened(Fraction(search.value))
        windows = tuple((known or _ANY).both for known in found.values())
        search.prove(bound, AdspRatesCertificate(proof=Labels(bound=bound, windows=windows)))
    return search.outcome(search.best)


def _bound_of(pair: tuple[int, Multipliers | None]) -> float:
    """Return the bound of a window; infinite if it has no decision."""
    return math.inf if pair[1] is None else pair[1].bound


def _offer(
    instance: AdspRatesInstance, search: Search[AdspRatesSolution], commits: Ints | None
) -> None:
    """Take commits as the incumbent if the evaluator accepts them."""
    if commits is None:
        return
    solution = solution_of(commits)
    evaluation = evaluate(instance, solution)
    if evaluation.feasible and evaluation.objective is not None:
        search.offer(evaluation.objective, solution)


def _bound(
    instance: AdspRatesInstance, search: Search[AdspRatesSolution], found: list[Multipliers]
) -> None:
    """Prove the Lagrangian bound of the window that needs the fewest steps."""
    if not found:
        return
    search.prove(*lagrangian_certificate(instance, found))


def _repaired(instance: AdspRatesInstance, commits: Ints, start: int) -> Ints | None:
    """Return commits raised, cheapest terms first, until the momentum cap is met."""
    terms, q = momentum_terms(instance), momentum_limit(instance)
    most = np.minimum(np.array(instance.most_commits), start + instance.window)
    cost = np.array([w.comm_time_s / w.step_time_s for w in instance.workers]) + 1e-300
    commits = commits.copy()
    excess = float((terms / commits).sum()) - q
    while excess > 0:
        gains = np.where(commits < most, terms / commits - terms / (commits + 1), 0.0)
        i = int((np.minimum(gains, excess) / cost).argmax())
        if gains[i] <= 0 or commits.sum() >= instance.cap:
            return None
        commits[i] += 1
        excess = float((terms / commits).sum()) - q
    return commits if int(commits.sum()) <= instance.cap else None
