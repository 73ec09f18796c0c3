"""The worst sequence by Dinkelbach's iteration over an integer or constraint program."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from gadgetopt.errors import SolverError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import Trace
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...formulations import (
    posted_prices,
    resources,
)
from ...formulations.amounts import amounts
from ...formulations.cp import sequence_model
from ...instance import (
    AdversarialOnlineSequenceInstance,
    AdversarialOnlineSequenceSolution,
)
from ...subproblems.welfare import (
    single_request,
    unbounded,
    welfare,
)

Solved = tuple[SolverOutcome, AdversarialOnlineSequenceSolution | None, Number | None]

#: Solves one model, of p and q within limits; also returns the bound on q OPT - p ALG, in money.
Solver = Callable[[int, int, Limits], Solved]


@method(kind="exact", reference="(3), reconstructed", formulation="posted_prices", backend="highs")
def dinkelbach_highs(instance: AdversarialOnlineSequenceInstance, limits: Limits) -> MethodOutcome:
    """Integer program (3) under Dinkelbach, by HiGHS.

    Return a worst sequence by (3) and HiGHS, for demands of one unit of one resource.

    Raises
    ------
    ModelRefused
        If demands are not of one unit of one resource, or the model is too large.
    """
    rng = fixed_rng()
    seed = seed_of(rng)

    def solve(p: int, q: int, left: Limits) -> Solved:
        model = posted_prices.gap_model(instance, p, q)
        outcome = solve_model(model, "highs", left, seed)
        found = None if outcome.values is None else posted_prices.decode(model, instance)
        return outcome, found, _in_money(instance, outcome.bound)

    return _dinkelbach(instance, limits, solve)


@method(
    kind="exact",
    reference="Dinkelbach 1967 (reconstructed)",
    formulation="resources",
    backend="highs",
)
def dinkelbach_resources(
    instance: AdversarialOnlineSequenceInstance, limits: Limits
) -> MethodOutcome:
    """Integer program of several resources under Dinkelbach, by HiGHS.

    Raises
    ------
    ModelRefused
        If the policy is a lottery, or the model is too large.
    """
    rng = fixed_rng()
    seed = seed_of(rng)

    def solve(p: int, q: int, left: Limits) -> Solved:
        model = resources.gap_model(instance, p, q)
        outcome = solve_model(model, "highs", left, seed)
        found = None if outcome.values is None else resources.decode(model, instance)
        return outcome, found, _in_money(instance, outcome.bound)

    return _dinkelbach(instance, limits, solve)


@method(
    kind="exact", reference="(3), reconstructed", formulation="posted_prices_cp", backend="cpsat"
)
def dinkelbach_cpsat(instance: AdversarialOnlineSequenceInstance, limits: Limits) -> MethodOutcome:
    """Constraint program of (3) under Dinkelbach, by CP-SAT.

    Return a worst sequence by (C1)-(C5) and CP-SAT, for demands of one unit of one resource.

    Raises
    ------
    ModelRefused
        If demands are not of one unit of one resource, or amounts do not fit into 64 bits.
    """
    rng = fixed_rng()
    seed = seed_of(rng)

    def solve(p: int, q: int, left: Limits) -> Solved:
        model = sequence_model(instance, p, q)
        outcome = solve_cp(model.model, left, seed, linearization_level=2)
        found = None if outcome.values is None else model.decode(outcome.values)
        return outcome, found, _in_money(instance, outcome.bound)

    return _dinkelbach(instance, limits, solve)


def _dinkelbach(
    instance: AdversarialOnlineSequenceInstance, limits: Limits, solve: Solver
) -> MethodOutcome:
    r"""Iterate over ratios until no sequence has a larger one, by a solver's word.

    If :math:`q\,OPT - p\,ALG \le B` for all sequences, then :math:`OPT / ALG \le p/q + B/(q A)`
    with the least positive ALG, A. A regret takes one model, and its bound is B.
    """
    if instance.payoff == "ratio" and instance.refused:
        return unbounded(instance)
    clock, ratio = Clock(limits), instance.payoff == "ratio"
    best = single_request(instance)
    rounds = 0
    versions: dict[str, str] = {}
    bound: Number | None = None
    limit_hit = None
    # No `Search`: the last round's bound is exact, and it may only equal an earlier one in floats.
    trace = Trace(limits, clock)
    while True:
        trace.note(best.objective(instance.payoff), bound)
        rounds += 1
        p, q = best.objective("ratio").as_integer_ratio() if ratio else (1, 1)
        with clock.phase("models"):
            outcome, found, gap = solve(p, q, clock.limits())
        if outcome.status is Status.ERROR:
            raise SolverError(outcome.reason)
        versions |= outcome.versions
        limit_hit = outcome.limit_hit
        if gap is not None:
            bound = _bound(instance, Fraction(p, q), q, gap) if ratio else gap
        again = False
        if found is not None:
            improved = welfare(instance, found.arrivals)
            again = improved.objective(instance.payoff) > best.objective(instance.payoff)
            best = improved if again else best
        if not ratio or not again or limit_hit is not None:
            break
        if clock.expired:
            limit_hit = "time_s"
            break
    return MethodOutcome(
        solution=AdversarialOnlineSequenceSolution(arrivals=best.arrivals),
        claimed_objective=best.objective(instance.payoff),
        dual_bound=bound,
        limit_hit=limit_hit,
        trace=tuple(trace.points),
        phases_s=clock.phases_s,
        versions=versions,
        notes={"ratios tried": rounds},
    )


def _in_money(instance: AdversarialOnlineSequenceInstance, gap: Number | None) -> Number | None:
    """Return a bound on the gap in money; exact if it is a whole amount."""
    unit = amounts(instance).unit
    if isinstance(gap, float):
        return gap * float(unit)
    return None if gap is None else gap * unit


def _bound(
    instance: AdversarialOnlineSequenceInstance, ratio: Fraction, q: int, gap: Number
) -> Number:
    """Return the bound on all ratios that a bound on the gap at one ratio proves."""
    least = min(kind.value for kind in instance.types) * min(
        posted.probability for posted in instance.policy
    )
    if gap <= 0:
        return ratio
    if isinstance(gap, float):
        return float(ratio) + gap / (q * float(least))
    return ratio + gap / (q * least)
