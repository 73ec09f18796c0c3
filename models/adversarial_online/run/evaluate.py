r"""The evaluator: expected welfare of what is accepted, in rationals.

.. math:: \max\ \sum_p q_p \sum_{t \in A_p} x_{pt} v_t, \qquad
          \sum_{t \in A_p} d_{tr} x_{pt} \le C_r \ \forall p, r,

over the plays p of probability :math:`q_p`. Shares :math:`x_{pt} < 1` are allowed for units of one
resource, where a seed realises them: the sum of shares before and after a request differs by at
most 1, and the request is accepted if a multiple of 1 plus the seed lies between.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import mul

from gadgetopt.system.result import Evaluation, Violation

from .instance import AdversarialOnlineRunInstance, AdversarialOnlineRunSolution, Play


def evaluate(
    instance: AdversarialOnlineRunInstance, solution: AdversarialOnlineRunSolution
) -> Evaluation:
    """Recompute the welfare of what is accepted, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is the expected welfare; None if a request does not exist. Components: the
        revenue, where payments are given; the offline optimum, ratio and regret, where it is the
        sum of the k largest values.
    """
    violations = tuple(_violations(instance, solution))
    if any(v.constraint in ("unknown_request", "one_entry_a_request") for v in violations):
        return Evaluation(None, violations)
    welfare = revenue = Fraction(0)
    for play in solution.plays:
        welfare += play.probability * _welfare(instance, play)
        parts, payments = _over_one(play.payment)
        revenue += play.probability * Fraction(sum(payments), parts)
    components: dict[str, Fraction] = {}
    if all(play.payment or not play.accepted for play in solution.plays):
        components["revenue"] = revenue
    if instance.unit_demand:
        optimum = _largest(instance)
        components |= {"offline_welfare": optimum, "regret": optimum - welfare}
        if welfare:
            components["ratio"] = optimum / welfare
    return Evaluation(welfare, violations, components)


def _welfare(instance: AdversarialOnlineRunInstance, play: Play) -> Fraction:
    whole, scale = instance.whole_values
    amounts = whole[list(play.accepted)].tolist()
    if not play.share:
        return Fraction(sum(amounts), scale)
    # In integers over one denominator: much faster than sums of rationals.
    parts, shares = _over_one(play.share)
    return Fraction(sum(map(mul, shares, amounts)), parts * scale)


def _over_one(numbers: Sequence[Fraction]) -> tuple[int, list[int]]:
    """Return a common denominator of rationals, and their numerators over it."""
    denominator = math.lcm(*{x.denominator for x in numbers})
    return denominator, [x.numerator * (denominator // x.denominator) for x in numbers]


def _largest(instance: AdversarialOnlineRunInstance) -> Fraction:
    """Return the sum of the k largest values."""
    whole, scale = instance.whole_values
    return Fraction(sum(sorted(whole.tolist())[-instance.capacity[0] :]), scale)


def _violations(
    instance: AdversarialOnlineRunInstance, solution: AdversarialOnlineRunSolution
) -> Iterator[Violation]:
    total = sum((play.probability for play in solution.plays), Fraction(0))
    if total != 1:
        yield Violation("probabilities_sum_to_1", "plays", abs(total - 1))
    for i, play in enumerate(solution.plays):
        wrong = tuple(_wrong_entries(instance, play, f"plays[{i}]"))
        yield from wrong or _broken_limits(instance, play, f"plays[{i}]")


def _wrong_entries(
    instance: AdversarialOnlineRunInstance, play: Play, where: str
) -> Iterator[Violation]:
    for name, entries in (("share", play.share), ("payment", play.payment)):
        if entries and len(entries) != len(play.accepted):
            apart = abs(len(entries) - len(play.accepted))
            yield Violation("one_entry_a_request", f"{where}.{name}", apart)
    before = -1
    for n, t in enumerate(play.accepted):
        if t >= len(instance.value):
            excess = t - len(instance.value) + 1
            yield Violation("unknown_request", f"{where}.accepted[{n}]", excess)
        if t <= before:
            yield Violation("order_of_arrival", f"{where}.accepted[{n}]", before - t + 1)
        before = t


def _broken_limits(
    instance: AdversarialOnlineRunInstance, play: Play, where: str
) -> Iterator[Violation]:
    if play.share and not instance.unit_demand and any(x != 1 for x in play.share):
        yield Violation("shares_of_units_only", f"{where}.share", 1)
    parts, shares = _over_one(play.share) if play.share else (1, [1] * len(play.accepted))
    used = [0] * len(instance.capacity)
    for x, t in zip(shares, play.accepted, strict=True):
        for r, d in enumerate(instance.demands[t]):
            used[r] += d * x
    for r, (u, c) in enumerate(zip(used, instance.capacity, strict=True)):
        if u > c * parts:
            yield Violation("capacity", f"{where}, resource {r}", Fraction(u, parts) - c)
    whole, scale = instance.whole_values
    worths = map(mul, shares, whole[list(play.accepted)].tolist())  # times parts and scale
    for n, (paid, worth) in enumerate(zip(play.payment, worths, strict=False)):
        if not 0 <= paid.numerator * parts * scale <= worth * paid.denominator:
            amount = max(-paid, paid - Fraction(worth, parts * scale))
            yield Violation("payment", f"{where}.payment[{n}]", amount)
