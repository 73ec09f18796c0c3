r"""Rules for bundles: greedy, exponential prices, fixed prices, and one drawn price.

A price :math:`\lambda_r` of a unit of resource r and round makes the bundle cost
:math:`\delta\sum_rd_r\lambda_r`, :math:`\delta` rounds of the game at most N. Whoever has more to
gain than it costs is sold to, if the bundle fits (reconstructed).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..evaluate import evaluate
from ..instance import AdversarialBundlesInstance, AdversarialBundlesSolution
from ..stocks import Stock
from ..subproblems.sellers import by_stock, mixed

#: Digits of prices that are irrational. By definition.
_DIGITS = 12

#: Combinations of prices that are still tried. Tuned: `benchmarks/constants.py`.
MOST_PRICES = 2_000


@method(kind="baseline", reference="standard theory, reconstructed")
def greedy(instance: AdversarialBundlesInstance) -> MethodOutcome:
    """Whatever fits is sold.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return MethodOutcome(solution=by_stock(instance, lambda _stock, _j: True))


@method(kind="baseline", reference="standard theory, reconstructed")
def exponential(instance: AdversarialBundlesInstance) -> MethodOutcome:
    r"""Prices of units that grow exponentially with what is held.

    A unit and round of resource r costs :math:`\max(L, Le^{\alpha y_r-1})`, where :math:`y_r` is
    the part of r that is held, :math:`\alpha = 1+\ln(U/L)`, and L and U are the least and the
    largest value of a unit and round. For infinitesimal units of one resource that are kept the
    ratio is :math:`\alpha`; for bundles none is promised.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    return MethodOutcome(solution=by_stock(instance, exponential_rule(instance)))


def exponential_rule(instance: AdversarialBundlesInstance) -> Callable[[Stock, int], bool]:
    """Return whether `exponential` sells to a type with a stock."""
    worth = [_worth(instance, j) for j in range(len(instance.types))]
    least, alpha = min(worth), 1.0 + math.log(max(worth) / min(worth))

    def price(held: int, capacity: int) -> Fraction:
        grown = math.exp(alpha * held / capacity - 1.0)
        return max(least, least * Fraction(round(grown, _DIGITS)).limit_denominator(10**_DIGITS))

    prices = [[price(u, most) for u in range(most + 1)] for most in instance.capacity]

    def sells(stock: Stock, j: int) -> bool:
        unit = [prices[r][used] for r, used in enumerate(stock[0])]
        return instance.types[j].value >= _cost(instance, j, unit)

    return sells


@method(kind="baseline", reference="standard theory, reconstructed")
def fixed_prices(instance: AdversarialBundlesInstance) -> MethodOutcome:
    """The best prices of resources that never change.

    Each resource has the value of a unit and round of some type as its price; all combinations are
    tried on all sequences, and the first of the best is kept.

    Raises
    ------
    ModelRefused
        If there are too many combinations or histories.
    """
    worth = sorted({_worth(instance, j) for j in range(len(instance.types))})
    resources = len(instance.capacity)
    if len(worth) ** resources > MOST_PRICES:
        raise ModelRefused(f"types: more than {MOST_PRICES} combinations of prices")
    best: tuple[Fraction, AdversarialBundlesSolution] | None = None
    seen: set[AdversarialBundlesSolution] = set()
    for prices in itertools.product(worth, repeat=resources):
        seller = _at_fixed_prices(instance, prices)
        if seller in seen:
            continue
        seen.add(seller)
        ratio = evaluate(instance, seller).objective
        if ratio is not None and (best is None or ratio < best[0]):
            best = Fraction(ratio), seller
    assert best is not None, "at the lowest prices some sale is made on every sequence"
    return MethodOutcome(solution=best[1], notes={"prices tried": len(seen)})


@method(kind="baseline", reference="standard theory, reconstructed")
def drawn_price(instance: AdversarialBundlesInstance) -> MethodOutcome:
    r"""One price of a unit and round, drawn once, for all resources.

    With the values of a unit and round :math:`l_1 < \dots < l_J`, the price is :math:`l_1` with
    probability :math:`1/\alpha^*` and :math:`l_j` with :math:`(1-l_{j-1}/l_j)/\alpha^*`,
    :math:`\alpha^* = 1+\sum_{j\ge2}(1-l_{j-1}/l_j)`, which is its ratio for units of one resource
    that are kept. For bundles none is promised.

    Raises
    ------
    ModelRefused
        If there are too many histories.
    """
    shares, rules = drawn_rules(instance)
    sellers = [by_stock(instance, rule) for rule in rules]
    return MethodOutcome(solution=mixed(sellers, [share / sum(shares) for share in shares]))


def drawn_rules(
    instance: AdversarialBundlesInstance,
) -> tuple[list[Fraction], list[Callable[[Stock, int], bool]]]:
    """Return the rules of which `drawn_price` draws one, and their shares of any unit."""
    worth = sorted({_worth(instance, j) for j in range(len(instance.types))})
    shares = [Fraction(1), *(1 - low / high for low, high in itertools.pairwise(worth))]
    resources = len(instance.capacity)
    return shares, [_fixed_rule(instance, [price] * resources) for price in worth]


def _at_fixed_prices(
    instance: AdversarialBundlesInstance, prices: Sequence[Fraction]
) -> AdversarialBundlesSolution:
    return by_stock(instance, _fixed_rule(instance, prices))


def _fixed_rule(
    instance: AdversarialBundlesInstance, prices: Sequence[Fraction]
) -> Callable[[Stock, int], bool]:
    buys = [kind.value >= _cost(instance, j, prices) for j, kind in enumerate(instance.types)]
    return lambda _stock, j: buys[j]


def _worth(instance: AdversarialBundlesInstance, j: int) -> Fraction:
    """Return the value of a unit and round of a request."""
    kind = instance.types[j]
    return kind.value / (sum(kind.demand) * instance.rounds_held(j))


def _cost(instance: AdversarialBundlesInstance, j: int, prices: Sequence[Fraction]) -> Fraction:
    """Return what a bundle costs at prices of a unit and round."""
    pairs = zip(instance.types[j].demand, prices, strict=True)
    return instance.rounds_held(j) * sum((d * price for d, price in pairs), Fraction(0))
