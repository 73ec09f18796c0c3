"""Instances, solutions and certificates, as files hold them.

A grid of values and units for sale; a randomised policy; a lottery over sequences.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Self

from pydantic import Field, model_validator

from gadgetopt.system.data import (
    Certificate,
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    PositiveProbability,
    PositiveRationalSize,
    Probability,
    Rational,
    Solution,
)

from ..subproblems.prices import Payoff, PostedPrices

#: Most steps of the best response to a certificate: histories times units.
MOST_STEPS = 10**7


class AdversarialOnlinePolicyInstance(Instance):
    r"""Units for sale to buyers whose values lie on a grid.

    Attributes
    ----------
    levels : tuple of Rational
        :math:`l_1 < \dots < l_J`, the values that a buyer of one unit may have.
    capacity_units : int
        :math:`k`.
    horizon : int
        :math:`N`: at most as many buyers come; the sequence may stop earlier.
    payoff : "ratio" or "regret"
        The policy minimises the largest OPT/ALG or OPT - ALG over all sequences.
    predictions : tuple of tuple of int
        Sequences that are expected, as indices of levels from 0.
    consistency : Rational or None
        On each of them the policy earns at least this share of the offline optimum.
    """

    levels: Annotated[tuple[PositiveRationalSize, ...], Field(min_length=1)]
    capacity_units: PositiveInt
    horizon: PositiveInt
    payoff: Payoff = "ratio"
    predictions: tuple[Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)], ...] = ()
    consistency: PositiveProbability | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        for j in range(1, len(self.levels)):
            if self.levels[j] <= self.levels[j - 1]:
                raise ValueError(
                    f"levels[{j}]: {self.levels[j]}, expected above levels[{j - 1}], "
                    f"{self.levels[j - 1]}"
                )
        for i, sequence in enumerate(self.predictions):
            if len(sequence) > self.horizon:
                raise ValueError(
                    f"predictions[{i}]: {len(sequence)} buyers, expected at most the horizon, "
                    f"{self.horizon}"
                )
            for t, j in enumerate(sequence):
                if j >= len(self.levels):
                    raise ValueError(
                        f"predictions[{i}][{t}]: {j}, expected a level from 0 to "
                        f"{len(self.levels) - 1}"
                    )
        if self.predictions and self.consistency is None:
            raise ValueError("consistency: none, expected a share of the optimum on predictions")
        if self.consistency is not None and not self.predictions:
            raise ValueError(f"consistency: {self.consistency}, expected none without predictions")
        return self

    def values(self, sequence: tuple[int, ...]) -> list[Fraction]:
        """Return the values of a sequence of levels."""
        return [self.levels[j] for j in sequence]


class SaleTable(Data):
    r"""Sale probabilities by the units sold and the highest level seen: a policy of finitely many.

    Units are divided into parts; a buyer gets a unit with the probability of her parts, over the
    draw of one seed (systematic sampling).

    Attributes
    ----------
    parts_per_unit : int
    parts : tuple of tuple of tuple of int
        Parts sold to level j when y parts are sold and h is the highest level seen before, from 1;
        0 if there was no buyer. Shape (k * parts_per_unit + 1, J + 1, J).
    """

    parts_per_unit: PositiveInt
    parts: tuple[tuple[tuple[NonNegativeInt, ...], ...], ...]


class AdversarialOnlinePolicySolution(Solution):
    r"""A randomised policy: a lottery, sale probabilities, or a share of OPT that is kept.

    Exactly one of the four is given.

    Attributes
    ----------
    lottery : tuple of PostedPrices
        One is drawn, once.
    sale_probability : tuple of Rational
        :math:`x_h`, with which the last buyer of history h gets a unit, over the draw of one seed
        (systematic sampling): of all histories of 1 to N levels, the short ones first, those of one
        length in lexicographic order.
    kept_share : Rational or None
        :math:`\rho` of the policy that keeps ALG at :math:`\rho` OPT: the last buyer of history h,
        of value v, gets a unit with the probability
        :math:`x_h = \rho\,(OPT(h) - OPT(h^-))/v`, where :math:`h^-` is h without her.
    sale_table : SaleTable or None
        Sale probabilities that depend on little of a history.
    """

    lottery: tuple[PostedPrices, ...] = ()
    sale_probability: tuple[Probability, ...] = ()
    kept_share: PositiveProbability | None = None
    sale_table: SaleTable | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [bool(self.lottery), bool(self.sale_probability), self.kept_share is not None]
        if sum(given) + (self.sale_table is not None) != 1:
            raise ValueError(
                "lottery: expected it, or sale_probability, kept_share or sale_table, one of them"
            )
        return self


class WeightedSequence(Data):
    """A sequence of levels with which the adversary may come.

    Attributes
    ----------
    levels : tuple of int
    weight : Rational
        In any unit.
    """

    levels: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    weight: Rational


class AdversarialOnlinePolicyCertificate(Certificate):
    """Weights of sequences, and prices of the instance's predictions, in the same unit."""

    sequences: Annotated[tuple[WeightedSequence, ...], Field(min_length=1)]
    prediction_prices: tuple[Rational, ...] = ()


def size(instance: AdversarialOnlinePolicyInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "levels": len(instance.levels),
        "units": instance.capacity_units,
        "horizon": instance.horizon,
        "predictions": len(instance.predictions),
    }
