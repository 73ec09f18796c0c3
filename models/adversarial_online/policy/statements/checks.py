"""The statements, checked on games that are solved exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from gadgetopt.numbers.tolerance import agrees, decimal_rational, exceeds
from gadgetopt.system.declaring import statement
from gadgetopt.system.files import Document
from gadgetopt.trust.statements import Finding, no_better, objective

from ..instance import AdversarialOnlinePolicyInstance


def _limit(document: Document) -> float:
    """Return 1 + ln(U/L)."""
    levels = [decimal_rational(x) for x in document.data.levels]
    return 1 + math.log(levels[-1] / levels[0])


def _formula(document: Document) -> float:
    """Return the ratio of (1)."""
    instance: AdversarialOnlinePolicyInstance = document.data
    levels = [decimal_rational(x) for x in instance.levels]
    return float(1 + sum(1 - Fraction(a, b) for a, b in itertools.pairwise(levels)))


@statement(
    source="the exponential price, if the limit of small units is overlooked",
    statement="its table is (1 + ln(U/L))-competitive for every number of units",
    grade="refuted",
    repair="in the limit of small units; for k units the table of `finite_k`, or one seed",
    proof=(
        "models/adversarial_online/README.md, policies: each arrival moves the "
        "fractional utilisation by 1/k at most"
    ),
    command="compare {} --methods exponential,exponential_draw,minimax",
    reconstructed=True,
)
def exponential_few_units(document: Document) -> Finding:
    """The worst ratio of the exponential table."""
    ratio, limit = objective(document, "exponential"), _limit(document)
    shown = f"{document.data.capacity_units} unit: worst ratio {ratio:g}, 1 + ln(U/L) = {limit:.4f}"
    return Finding(not exceeds(ratio, limit), shown)


@statement(
    source="the value of the game, if values lie on a grid",
    statement="no policy has a ratio below 1 + ln(U/L)",
    grade="refuted",
    repair="1 + the sum of 1 - l_{j-1}/l_j over the levels, which tends to 1 + ln(U/L)",
    proof="(1) in models/adversarial_online/README.md",
    command="solve {} --method minimax",
    reconstructed=True,
)
def value_on_a_grid(document: Document) -> Finding:
    """The value of the game beside the one of a continuum of values."""
    value, limit = objective(document, "minimax"), _limit(document)
    shown = f"the best policy has the ratio {value:g}, 1 + ln(U/L) = {limit:.4f}"
    return Finding(not exceeds(limit, value), shown)


@statement(
    source="the value of the game, for any number of buyers",
    statement="the least ratio is that of formula (1)",
    grade="refuted",
    repair="it is at most that; equal from N >= kJ buyers on",
    proof="the chain of k copies of each of J levels has kJ buyers",
    command="compare {} --methods share_policy,minimax",
    reconstructed=True,
)
def few_buyers(document: Document) -> Finding:
    """The value of the game with fewer buyers than the chain."""
    value, formula = objective(document, "minimax"), _formula(document)
    shown = f"{document.data.horizon} buyers: the least ratio is {value:g}, by (1) {formula:g}"
    return Finding(agrees(value, formula), shown)


@statement(
    source="(1), enough buyers",
    statement="keeping shares of the units has the least ratio",
    proof="models/adversarial_online/README.md, (1)",
    command="compare {} --methods share_policy,minimax",
    reconstructed=True,
)
def shares(document: Document) -> Finding:
    """Shares beside the value of the game."""
    return no_better(document, "share_policy", "minimax")
