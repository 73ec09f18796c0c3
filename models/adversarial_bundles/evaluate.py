r"""The evaluator: the worst case of a randomised seller over all sequences, in rationals.

.. math:: \min_\pi \max_h\ OPT(h) / ALG_\pi(h)

over all histories h of at most N requests. The chances of all stocks are followed through all
histories of a length at once, and so is the best that an all-knowing seller has earned with each
stock: what it has after the last request, with any stock, is OPT(h).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from .instance import AdversarialBundlesInstance, AdversarialBundlesSolution

#: Probabilities of a seller that are still looked at. Tuned: `benchmarks/constants.py`.
MOST_PROBABILITIES = 2_000_000

#: 64-bit integers, or Python's where those are too small.
Whole = NDArray[Any]

#: Sums up to this are exact in 64-bit integers. By definition.
_MOST_IN_64_BITS = 2**62


@dataclass(frozen=True)
class Worst:
    """A worst sequence for a seller, with both welfares."""

    sequence: tuple[int, ...]
    welfare: Fraction
    offline_welfare: Fraction


def evaluate(
    instance: AdversarialBundlesInstance, solution: AdversarialBundlesSolution
) -> Evaluation:
    """Recompute the worst case of a seller, and which constraints the seller violates.

    Returns
    -------
    Evaluation
        The objective is the largest ratio; None if the seller is none, or if its ratio is infinite.
        Components: length and welfares of a worst sequence.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    given, wanted = len(solution.sale_probability), num_probabilities(instance)
    if given != wanted:
        missing = Violation("one_probability_a_stock", "sale_probability", abs(given - wanted))
        return Evaluation(None, (missing,))
    followed = _Followed(instance, solution)
    violations = tuple(followed.violations())
    if violations:
        return Evaluation(None, violations)
    worst = followed.worst()
    components: dict[str, Number] = {
        "worst_length": len(worst.sequence),
        "worst_welfare": worst.welfare,
        "worst_offline_welfare": worst.offline_welfare,
    }
    if not worst.welfare:
        infinite = Violation("finite_ratio", "a sequence of no welfare", worst.offline_welfare)
        return Evaluation(None, (infinite,), components)
    return Evaluation(worst.offline_welfare / worst.welfare, (), components)


def worst_case(instance: AdversarialBundlesInstance, solution: AdversarialBundlesSolution) -> Worst:
    """Return a worst sequence for a seller without violations.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return _Followed(instance, solution).worst()


def num_probabilities(instance: AdversarialBundlesInstance) -> int:
    """Return the number of pairs of a history and a stock.

    Raises
    ------
    ModelRefused
        If they are too many to be looked at.
    """
    total, histories = 0, 1
    for t in range(instance.horizon):
        histories *= len(instance.types)
        total += histories
        if total > MOST_PROBABILITIES:
            break
        total += histories * (len(instance.stocks.of_round[t]) - 1)
    if total > MOST_PROBABILITIES:
        raise ModelRefused(
            f"horizon: more than {MOST_PROBABILITIES} histories with their stocks of "
            f"{instance.horizon} requests of {len(instance.types)} types"
        )
    return total


def on_path(
    instance: AdversarialBundlesInstance,
    solution: AdversarialBundlesSolution,
    sequence: tuple[int, ...],
) -> list[Worst]:
    """Return what a seller without violations earns along a sequence, and the optimum."""
    followed = _Followed(instance, solution)
    numbers, n = [], 0
    for j in sequence:
        n = n * len(instance.types) + j
        numbers.append(n)
    return [followed.of_history(t, n) for t, n in enumerate(numbers)]


def optima(instance: AdversarialBundlesInstance) -> tuple[list[Whole], int]:
    """Return the offline optima of all histories, by length, in units of 1 over the second.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    num_probabilities(instance)
    J, stocks = len(instance.types), instance.stocks
    money = common_denominator(kind.value for kind in instance.types)
    values = [int(kind.value * money) for kind in instance.types]
    number = np.int64 if max(values) * instance.horizon <= _MOST_IN_64_BITS else object
    value = np.array(values, dtype=number)
    best: Whole = np.zeros((1, 1), dtype=number)  # -1 for stocks that nobody reaches
    found = []
    for t in range(instance.horizon):
        after = np.full((J**t, J, len(stocks.of_round[t + 1])), -1, dtype=number)
        for s in range(len(stocks.of_round[t])):
            kept = after[:, :, stocks.kept[t][s]]
            np.maximum(kept, best[:, None, s], out=kept)
            for j, n in enumerate(stocks.sold[t][s]):
                if n >= 0:
                    reached = np.where(best[:, s] < 0, -1, best[:, s] + value[j])
                    after[:, j, n] = np.maximum(after[:, j, n], reached)
        best = after.reshape(-1, after.shape[2])
        found.append(best.max(axis=1))
    return found, money


class _Followed:
    """A seller followed through all histories, a table for every length.

    Probabilities are in units of 1/`whole`, money of 1/`money`; `sold[t]`, `held[t]` are by history
    of t requests, type and stock.
    """

    def __init__(
        self, instance: AdversarialBundlesInstance, solution: AdversarialBundlesSolution
    ) -> None:
        self.instance = instance
        self.optimum, self.money = optima(instance)
        J, stocks = len(instance.types), instance.stocks
        self.whole: int = common_denominator(solution.sale_probability)
        values = [int(kind.value * self.money) for kind in instance.types]
        small = self.whole * max(values) * instance.horizon <= _MOST_IN_64_BITS
        number = np.int64 if small else object
        value = np.array(values, dtype=number)
        chances = np.array([int(x * self.whole) for x in solution.sale_probability], dtype=number)
        self.sold: list[Whole] = []
        self.held: list[Whole] = []
        self.earned: list[Whole] = []
        held = np.array([[self.whole]], dtype=number)
        earned: Whole = np.zeros(1, dtype=number)
        at = 0
        for t in range(instance.horizon):
            S = len(stocks.of_round[t])
            block = chances[at : at + J ** (t + 1) * S].reshape(J**t, J, S)
            at += block.size
            before = np.repeat(held[:, None, :], J, axis=1)
            self.sold.append(block)
            self.held.append(before)
            after = np.zeros((J**t, J, len(stocks.of_round[t + 1])), dtype=number)
            for s in range(S):
                after[:, :, stocks.kept[t][s]] += before[:, :, s] - block[:, :, s]
                for j, n in enumerate(stocks.sold[t][s]):
                    if n >= 0:
                        after[:, j, n] += block[:, j, s]
            earned = (earned[:, None] + block.sum(axis=2) * value).ravel()
            held = after.reshape(-1, after.shape[2])
            self.earned.append(earned)

    def violations(self) -> Iterator[Violation]:
        """Yield sales of bundles that do not fit, and of stocks more probably than they are held.

        After the first round with a violation, what is held says nothing.
        """
        for t, (sold, held) in enumerate(zip(self.sold, self.held, strict=True)):
            fits = np.array(self.instance.stocks.sold[t]).T >= 0
            too_much = np.where(fits, sold - held, sold)
            found = np.argwhere(too_much > 0)
            for n, j, s in found.tolist():
                where = f"history {self._types(t, n * len(fits) + j)}, stock {s}"
                amount = Fraction(int(too_much[n, j, s]), self.whole)
                yield Violation("chance" if fits[j, s] else "capacity", where, amount)
            if len(found):
                return

    def worst(self) -> Worst:
        """Return a worst history, of those a first one."""
        found: Worst | None = None
        for t, (earned, optimum) in enumerate(zip(self.earned, self.optimum, strict=True)):
            for best in np.unique(optimum).tolist():
                numbers = np.flatnonzero(optimum == best)
                n = int(numbers[np.argmin(earned[numbers])])
                this = self.of_history(t, n)
                if found is None or (
                    this.offline_welfare * found.welfare > found.offline_welfare * this.welfare
                ):
                    found = this
        assert found is not None, "a horizon is positive"
        return found

    def of_history(self, t: int, n: int) -> Worst:
        """Return what the n-th history of t + 1 requests is worth."""
        return Worst(
            self._types(t, n),
            Fraction(int(self.earned[t][n]), self.whole * self.money),
            Fraction(int(self.optimum[t][n]), self.money),
        )

    def _types(self, t: int, n: int) -> tuple[int, ...]:
        """Return the types of the n-th history of t + 1 requests."""
        J, types = len(self.instance.types), []
        for _ in range(t + 1):
            n, j = divmod(n, J)
            types.append(j)
        return tuple(reversed(types))
