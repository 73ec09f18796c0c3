"""Theorems as checks: the ratio promised on an instance, compared with the measured one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from gadgetopt.numbers.tolerance import Number, exceeds, is_finite
from gadgetopt.system.declaration import Problem
from gadgetopt.system.methods import MethodCall
from gadgetopt.system.result import OWN_LIMIT, Result
from gadgetopt.trust.ratio import Ratio


@dataclass(frozen=True)
class Promise:
    """What one theorem promises for one run, before anything is measured.

    Attributes
    ----------
    ratio : Number or None
        The promised ratio; None if the theorem gives no finite bound.
    failing : tuple of str
        The assumptions that do not hold, in words.
    """

    theorem: str
    reference: str
    standing: str
    ratio: Number | None
    failing: tuple[str, ...] = ()

    @property
    def applies(self) -> bool:
        """True if all assumptions hold and the promised ratio is finite."""
        return not self.failing and self.ratio is not None


class Verdict(StrEnum):
    """Outcome of comparing a promised ratio with the measured interval."""

    HOLDS = "holds"
    EXCEEDED = "exceeded"
    OPEN = "open"
    NOT_APPLICABLE = "not applicable"


def promises(
    problem: Problem, instance: Any, call: MethodCall, result: Result | None = None
) -> tuple[Promise, ...]:
    """Evaluate every theorem about a method on an instance.

    A theorem is about the solution of a complete run: it does not apply to a `result` that a limit
    cut short or that has no solution.
    """
    out = []
    for guarantee in problem.guarantees:
        if call.method.name not in guarantee.methods:
            continue
        failing: list[str] = []
        ratio: Number | None = None
        try:
            failing += [
                a.text for a in guarantee.assumptions if not a.holds(instance, call.all_parameters)
            ]
            ratio = guarantee.ratio(instance, call.all_parameters)
            finite = ratio is not None and is_finite(ratio)
        except Exception as error:  # a theorem that cannot be evaluated promises nothing
            failing.append(f"it can be evaluated ({type(error).__name__}: {error})")
            finite = False
        out.append(
            Promise(
                theorem=guarantee.name,
                reference=guarantee.reference,
                standing=guarantee.standing,
                ratio=ratio if finite else None,
                failing=tuple(failing),
            )
        )
    return tuple(out) if result is None else of_result(out, result)


def of_result(made: Iterable[Promise], result: Result) -> tuple[Promise, ...]:
    """Return promises as they apply to a result: to none without a solution, to none cut short."""
    if result.limit_hit not in (None, OWN_LIMIT):
        missing = "the method finished"
    elif result.objective is None:
        missing = "the method found a solution"
    else:
        return tuple(made)
    return tuple(replace(p, failing=tuple(dict.fromkeys([missing, *p.failing]))) for p in made)


def verdict(promise: Promise, ratio: Ratio | None) -> Verdict:
    """Compare a promise with the measured interval.

    `EXCEEDED` if the lower end of the interval is above the promise, `HOLDS` if the upper end is at
    or below it, otherwise open.
    """
    if not promise.applies or promise.ratio is None:
        return Verdict.NOT_APPLICABLE
    if ratio is None or ratio.low is None:
        return Verdict.OPEN
    if exceeds(ratio.low, promise.ratio):
        return Verdict.EXCEEDED
    if ratio.high is not None and not exceeds(ratio.high, promise.ratio):
        return Verdict.HOLDS
    return Verdict.OPEN


def proven_ratio(made: Sequence[Promise]) -> Number | None:
    """Return the tightest proven ratio that applies to a run."""
    return min(
        (p.ratio for p in made if p.standing == "proven" and p.applies and p.ratio is not None),
        default=None,
    )
