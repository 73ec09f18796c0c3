"""Approximation ratios as intervals, from all results on one instance.

The best incumbent bounds the optimum from one side, the best dual bound from the other, so every
method's true ratio lies in the interval that the two give. First the results are compared: a dual
bound that another method's feasible solution refutes is an error, a bound that an independent
method confirms is cross-checked, and one that follows from a verified bound is verified.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from gadgetopt.numbers.tolerance import (
    Number,
    agrees,
    as_double,
    closes,
    exceeds,
    refutes,
)
from gadgetopt.system.declaration import Sense
from gadgetopt.system.result import Result, Status, Voucher
from gadgetopt.trust.infeasibility import is_verified, status_voucher
from gadgetopt.trust.judgement import relative_gap


@dataclass(frozen=True)
class Ratio:
    """The interval in which the true approximation ratio lies; 1 is optimal for both senses.

    `low` or `high` is None if nothing bounds it, and both are where ratios mean nothing, as with
    negative objectives. `voucher` is who vouches for the dual bound on which `high`, or the gap,
    rests, None if nothing does; intervals are compared without it and what follows.

    `gap` is the relative gap to the best dual bound, 0 if that meets the objective; `settled` is
    True if the optimum is known: the best solution and the best bound meet.
    """

    low: Number | None
    high: Number | None
    voucher: Voucher | None = field(default=None, compare=False)
    gap: float | None = field(default=None, compare=False)
    settled: bool = field(default=False, compare=False)

    @property
    def certified(self) -> bool:
        """True if the interval is closed to tolerance; without a ratio, if the optimum is known."""
        if self.low is None:
            return self.settled
        if self.high is None:
            return False
        return closes(self.low, self.high, integral=False)


def cross_examine(results: Sequence[Result], sense: Callable[[Result], Sense]) -> list[Result]:
    """Compare all results on each instance with each other.

    A result whose dual bound is better than some feasible solution's objective, or that claims
    infeasibility of an instance with a feasible solution, becomes an error. So does a solver's word
    that contradicts a proof that an instance is unbounded or infeasible. A bound that an
    independent result confirms gets the voucher `cross-checked`; one that is no stronger than a
    verified bound on the instance, whoever found that, gets `verified`.

    Parameters
    ----------
    results : sequence of Result
    sense : callable
        Returns "min" or "max" for a result, as its instance says.
    """
    out = list(results)
    for indices in _by_instance(out):
        minimise = sense(out[indices[0]]) == "min"
        # In this order, as a refuted bound cannot refute another result.
        for strongest in (_settled, _solutions, _bounds):
            witnesses = strongest([out[k] for k in indices], minimise)
            for i in indices:
                reason = _refutation(out[i], witnesses, minimise)
                if reason is not None:
                    out[i] = dataclasses.replace(
                        out[i],
                        status=Status.ERROR,
                        objective=None,
                        bound=None,
                        bound_voucher=None,
                        gap=None,
                        reason=reason,
                    )
        witnesses = _bounds([out[k] for k in indices], minimise)
        proved = _best(
            (
                w.bound
                for w in witnesses
                if w.bound is not None and w.bound_voucher is Voucher.VERIFIED
            ),
            not minimise,
        )
        for i in indices:
            bound = out[i].bound
            if bound is not None and proved is not None and _follows(bound, proved, minimise):
                # Within the tolerance a float may be stronger than what is proved.
                weaker = min(bound, proved) if minimise else max(bound, proved)
                out[i] = dataclasses.replace(out[i], bound=weaker, bound_voucher=Voucher.VERIFIED)
            elif _confirmed(out[i], witnesses, minimise):
                out[i] = dataclasses.replace(out[i], bound_voucher=Voucher.CROSS_CHECKED)
    return out


def ratios(
    results: Sequence[Result],
    sense: Callable[[Result], Sense],
    fixed: Callable[[Result], Number | None] = lambda result: 0,
) -> list[Ratio | None]:
    """Return the ratio interval of every result, None for those without an objective.

    Parameters
    ----------
    results : sequence of Result
    sense : callable
        Returns "min" or "max" for a result, as its instance says.
    fixed : callable, optional
        The part of the objectives on a result's instance that is left out of them and of the
        bounds; None if there is to be no ratio.
    """
    out: list[Ratio | None] = [None] * len(results)
    for indices in _by_instance(results):
        group = [results[i] for i in indices]
        part = fixed(group[0])
        if part is None:
            continue
        minimise = sense(group[0]) == "min"
        best = _best((r.objective - part for r in group if r.objective is not None), minimise)
        bound = _best((r.bound - part for r in group if r.bound is not None), not minimise)
        voucher = _voucher(group, minimise)
        settled = any(r.status is Status.OPTIMAL for r in group) or _meet(best, bound)
        for i in indices:
            objective = results[i].objective
            if objective is not None:
                found = _interval(objective - part, best, bound, minimise)
                rests = None if found.high is None and found.low is not None else voucher
                gap = _gap(objective - part, bound)
                out[i] = dataclasses.replace(found, voucher=rests, gap=gap, settled=settled)
    return out


def _by_instance(results: Sequence[Result]) -> list[list[int]]:
    groups: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for i, result in enumerate(results):
        groups[result.problem, result.fingerprint].append(i)
    return list(groups.values())


def _voucher(group: Sequence[Result], minimise: bool) -> Voucher | None:
    """Return the strongest voucher of the best dual bound on an instance."""
    best = _best((r.bound for r in group if r.bound is not None), not minimise)
    if best is None:
        return None
    strength = list(Voucher)
    vouchers = {
        r.bound_voucher
        for r in group
        if r.bound is not None and r.bound_voucher is not None and agrees(r.bound, best)
    }
    return max(vouchers, key=strength.index, default=None)


def _best(values: Iterable[Number], minimise: bool) -> Number | None:
    return min(values, default=None) if minimise else max(values, default=None)


# There may be a hundred thousand results on an instance. Whatever one of them refutes or confirms,
# one of the few strongest does too.


def _settled(group: Iterable[Result], minimise: bool) -> list[Result]:
    """Return a result that proves infeasibility, and one that proves unboundedness."""
    return list({r.status: r for r in group if status_voucher(r) is Voucher.VERIFIED}.values())


def _solutions(group: Iterable[Result], minimise: bool) -> list[Result]:
    return _strongest((((), r.objective, r) for r in group), minimise)


def _bounds(group: Iterable[Result], minimise: bool) -> list[Result]:
    origins = (((r.formulation, r.backend, r.bound_voucher), r.bound, r) for r in group)
    return _strongest(origins, not minimise)


def _strongest(
    results: Iterable[tuple[tuple[Any, ...], Number | None, Result]], least: bool
) -> list[Result]:
    """Return, for each origin, the result with the least or largest value."""
    best: dict[tuple[Any, ...], tuple[Number, Result]] = {}
    for origin, value, result in results:
        if value is None:
            continue
        # Floats are compared within a tolerance: they do not represent exact numbers.
        which = (*origin, isinstance(value, float))
        if which not in best or (value < best[which][0] if least else value > best[which][0]):
            best[which] = value, result
    return [result for _, result in best.values()]


def _refutation(result: Result, witnesses: Sequence[Result], minimise: bool) -> str | None:
    """Describe the result that contradicts a claim, if there is one."""
    for other in witnesses:
        if status_voucher(other) is Voucher.VERIFIED:
            reason = _contradicts_proof(result, other)
            if reason is not None:
                return reason
        elif result.status is Status.UNBOUNDED and _bounds_at_all(other, result):
            return f"claimed unbounded, but {other.method} proves a bound of {other.bound}"
        if other.objective is None:
            continue
        if result.status is Status.INFEASIBLE:
            return f"claimed infeasible, but {other.method} has a feasible solution"
        if result.bound is not None and refutes(other.objective, result.bound, minimise=minimise):
            return (
                f"claimed dual bound {result.bound}, but {other.method} has a solution "
                f"of {other.objective}"
            )
    return None


def _bounds_at_all(other: Result, unbounded: Result) -> bool:
    """Return True if a result has a bound that is no worse proved than that there is none."""
    if other.bound is None:
        return False
    return not is_verified(unbounded) or other.bound_voucher is Voucher.VERIFIED


def _contradicts_proof(result: Result, other: Result) -> str | None:
    """Describe how a solver's word contradicts a proof that there is no solution or no optimum."""
    if is_verified(result):
        return None
    if other.status is Status.INFEASIBLE:
        claim = "claimed unbounded" if result.status is Status.UNBOUNDED else None
        return claim and f"{claim}, but {other.method} proves that there is no solution"
    if result.status is Status.INFEASIBLE:
        claim = "claimed infeasible"
    else:
        claim = None if result.bound is None else f"claimed dual bound {result.bound}"
    return claim and f"{claim}, but {other.method} proves that the instance is unbounded"


def _follows(bound: Number, proved: Number, minimise: bool) -> bool:
    """Return True if a bound follows from a verified one, to tolerance."""
    return not (exceeds(bound, proved) if minimise else exceeds(proved, bound))


def _confirmed(result: Result, witnesses: Sequence[Result], minimise: bool) -> bool:
    """Return True if an independent result confirms a bound that only a solver vouches for."""
    if result.bound is None or result.bound_voucher is not Voucher.SOLVER:
        return False
    for other in witnesses:
        if other.bound is None:
            continue
        weaker = (
            exceeds(result.bound, other.bound) if minimise else exceeds(other.bound, result.bound)
        )
        witness = (other.formulation, other.backend) != (result.formulation, result.backend)
        if not weaker and witness:
            return True
    return False


def _interval(
    objective: Number, best: Number | None, bound: Number | None, minimise: bool
) -> Ratio:
    if minimise:
        low, high = quotient(objective, best), quotient(objective, bound)
    else:
        low, high = quotient(best, objective), quotient(bound, objective)
    if low is not None and high is not None and high < low:
        high = low  # a float bound may exceed the best objective within the tolerance
    return Ratio(low, high)


def _meet(objective: Number | None, bound: Number | None) -> bool:
    if objective is None or bound is None:
        return False
    return closes(objective, bound, integral=False)


def _gap(objective: Number, bound: Number | None) -> float | None:
    return 0.0 if _meet(objective, bound) else relative_gap(objective, bound)


def quotient(a: Number | None, b: Number | None) -> Number | None:
    """Return a/b; 1 for 0/0; None if the ratio is meaningless (negative or unknown numbers)."""
    if a is None or b is None or a < 0 or b < 0:
        return None
    if b == 0:
        return 1 if a == 0 else math.inf
    if isinstance(a, float) or isinstance(b, float):
        x, y = as_double(a), as_double(b)
        if (math.isinf(x) and math.isinf(y)) or (x == 0 and y == 0):
            return None
        return x / y if y else math.inf
    return Fraction(a) / Fraction(b)
