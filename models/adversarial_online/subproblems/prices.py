"""Posted prices as data: the price of every unit of every resource, and lotteries over them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.system.data import Data, PositiveProbability, PositiveRationalSize

#: What is compared: OPT/ALG, or OPT - ALG.
Payoff = Literal["ratio", "regret"]


class PostedPrices(Data):
    r"""Prices posted with some probability: one draw, before the first buyer.

    A request of demand :math:`d_r` and value v is accepted if and only if it fits and
    :math:`v \ge \sum_r d_r \varphi_r(u_r)`, where :math:`u_r` units of resource r are sold. A tie
    is accepted.

    Attributes
    ----------
    prices : tuple of tuple of Rational
        :math:`\varphi_r(u)`, the price of a unit of resource r when u units are sold, for
        u = 0, ..., C_r - 1. Any order is allowed; the theory's are non-decreasing.
    probability : Rational
        With which these prices are posted; 1 for a deterministic policy.
    """

    prices: Annotated[tuple[tuple[PositiveRationalSize, ...], ...], Field(min_length=1)]
    probability: PositiveProbability = Fraction(1)

    @property
    def monotone(self) -> bool:
        """True if no price falls as more is sold."""
        return all(list(table) == sorted(table) for table in self.prices)


#: A randomised policy: posted prices of which one is drawn, once.
Lottery = tuple[PostedPrices, ...]


def check_lottery(lottery: Lottery, capacity: Sequence[int], field: str) -> None:
    """Raise an error unless the prices fit the capacities and the probabilities sum to 1.

    Raises
    ------
    ValueError
        A sentence that starts with the field's name.
    """
    for i, posted in enumerate(lottery):
        lengths = [len(table) for table in posted.prices]
        if lengths != list(capacity):
            raise ValueError(
                f"{field}[{i}].prices: tables of {lengths} prices, "
                f"expected one of each unit, {list(capacity)}"
            )
    total = sum((posted.probability for posted in lottery), Fraction(0))
    if total != 1:
        raise ValueError(f"{field}: probabilities sum to {total}, expected 1")


def of_table(table: Sequence[Fraction | int], probability: Fraction = Fraction(1)) -> PostedPrices:
    """Return the posted prices of a single resource."""
    return PostedPrices(prices=(tuple(map(Fraction, table)),), probability=probability)
