"""A seller's rule written out for all histories: from chances of a sale to what happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..evaluate import num_probabilities, optima
from ..instance import AdversarialBundlesInstance, AdversarialBundlesSolution
from ..stocks import Stock

#: Products up to this are exact in 64-bit integers. By definition.
_MOST_IN_64_BITS = 2**62


def written_out(
    instance: AdversarialBundlesInstance, parts: Sequence[NDArray[Any]], whole: int
) -> AdversarialBundlesSolution:
    """Return the seller that sells with these chances, where the bundle fits.

    Parameters
    ----------
    instance : AdversarialBundlesInstance
    parts : sequence of int array
        Chances of a sale in every round, in units of 1/`whole`: by history of the requests before,
        type and stock. An axis of length 1 stands for all.
    whole : int

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    num_probabilities(instance)
    found: list[Fraction] = []
    fractions: dict[tuple[int, int], Fraction] = {}
    number = np.int64 if whole**instance.horizon <= _MOST_IN_64_BITS else object
    unit = 1  # of the chances of stocks: 1/unit
    for sold in followed(instance, [p.astype(number) for p in parts], whole):
        unit *= whole
        for count in sold.ravel().tolist():
            key = count, unit
            if key not in fractions:
                fractions[key] = Fraction(count, unit)
            found.append(fractions[key])
    return AdversarialBundlesSolution(sale_probability=tuple(found))


def followed(
    instance: AdversarialBundlesInstance, chances: Sequence[NDArray[Any]], whole: int = 1
) -> Iterator[NDArray[Any]]:
    """Yield the probabilities of sales in every round, by history before, type and stock.

    Chances are as in `written_out`, integers or doubles; in round t, the first being 1,
    probabilities are in units of 1/whole^t.
    """
    J, stocks = len(instance.types), instance.stocks
    held: NDArray[Any] = np.ones((1, 1), dtype=chances[0].dtype)
    for t in range(instance.horizon):
        S = len(stocks.of_round[t])
        fits = np.array(stocks.sold[t]).T >= 0
        sold = held[:, None, :] * np.where(fits, np.broadcast_to(chances[t], (J**t, J, S)), 0)
        yield sold
        left = held[:, None, :] * whole - sold
        after = np.zeros((J**t, J, len(stocks.of_round[t + 1])), dtype=held.dtype)
        for s in range(S):
            after[:, :, stocks.kept[t][s]] += left[:, :, s]
            for j, n in enumerate(stocks.sold[t][s]):
                if n >= 0:
                    after[:, j, n] += sold[:, j, s]
        held = after.reshape(-1, after.shape[2])


def worst_of_chances(
    instance: AdversarialBundlesInstance, parts: Sequence[NDArray[Any]], whole: int
) -> tuple[tuple[int, ...], Fraction | None]:
    """Return a worst sequence of chances as in `written_out`, and the ratio; None if infinite.

    The same as the evaluator's of the seller written out, tested; without fractions on the way.
    """
    optimum, money = optima(instance)
    values = [int(kind.value * money) for kind in instance.types]
    small = whole**instance.horizon * max(values) * instance.horizon <= _MOST_IN_64_BITS
    number = np.int64 if small else object
    value = np.array(values, dtype=number)
    earned: NDArray[Any] = np.zeros(1, dtype=number)
    unit, found = 1, (Fraction(0), 0, 0)  # the share of OPT that is kept; length, number
    chances = [p.astype(number) for p in parts]
    for t, sold in enumerate(followed(instance, chances, whole)):
        unit *= whole
        earned = ((earned * whole)[:, None] + sold.sum(axis=2) * value).ravel()
        for best in np.unique(optimum[t]).tolist():
            numbers = np.flatnonzero(optimum[t] == best)
            n = int(numbers[np.argmin(earned[numbers])])
            share = Fraction(int(earned[n]), unit * best)
            if not found[1] or share < found[0]:
                found = share, t + 1, n
    share, length, n = found
    types = []
    for _ in range(length):
        n, j = divmod(n, len(values))
        types.append(j)
    return tuple(reversed(types)), 1 / share if share else None


def by_stock(
    instance: AdversarialBundlesInstance, sells: Callable[[Stock, int], bool]
) -> AdversarialBundlesSolution:
    """Return the seller who looks at the stock and the request, and draws nothing.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return written_out(instance, parts_by_stock(instance, sells), 1)


def parts_by_stock(
    instance: AdversarialBundlesInstance, sells: Callable[[Stock, int], bool]
) -> list[NDArray[Any]]:
    """Return 1 for every round, type and stock in which a rule sells, as `written_out` takes it."""
    types = range(len(instance.types))
    return [
        np.array([[[int(sells(stock, j)) for stock in of_round] for j in types]])
        for of_round in instance.stocks.of_round[:-1]
    ]


def mixed(
    sellers: Sequence[AdversarialBundlesSolution], chances: Sequence[Fraction]
) -> AdversarialBundlesSolution:
    """Return the seller who draws one of some, before the first request."""
    columns = zip(*(seller.sale_probability for seller in sellers), strict=True)
    mixture = (
        sum((p * x for p, x in zip(chances, column, strict=True) if x), Fraction(0))
        for column in columns
    )
    return AdversarialBundlesSolution(sale_probability=tuple(mixture))
