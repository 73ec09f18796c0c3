"""The statements, checked on games that are solved exactly."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from gadgetopt.numbers.tolerance import agrees, decimal_rational, exceeds
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


def few_units(document: Document) -> Finding:
    """The worst ratio of the exponential table."""
    ratio, limit = objective(document, "exponential"), _limit(document)
    shown = f"{document.data.capacity_units} unit: worst ratio {ratio:g}, 1 + ln(U/L) = {limit:.4f}"
    return Finding(not exceeds(ratio, limit), shown)


def on_a_grid(document: Document) -> Finding:
    """The value of the game beside the one of a continuum of values."""
    value, limit = objective(document, "minimax"), _limit(document)
    shown = f"the best policy has the ratio {value:g}, 1 + ln(U/L) = {limit:.4f}"
    return Finding(not exceeds(limit, value), shown)


def few_buyers(document: Document) -> Finding:
    """The value of the game with fewer buyers than the chain."""
    value, formula = objective(document, "minimax"), _formula(document)
    shown = f"{document.data.horizon} buyers: the least ratio is {value:g}, by (1) {formula:g}"
    return Finding(agrees(value, formula), shown)


def shares(document: Document) -> Finding:
    """Shares beside the value of the game."""
    return no_better(document, "share_policy", "minimax")
