r"""Proven worst ratios of rules, over the best ratio of the game, which is at least 1.

For requests of one unit of one resource, kept for good:

* one drawn price, :math:`\alpha^* = 1 + \sum_{j\ge2}(1-l_{j-1}/l_j)`: if :math:`w_1 \ge w_2 \dots`
  are the k largest values, a price p sells at least :math:`p` for each :math:`w_i \ge p`, whose
  expectation is :math:`\sum w_i/\alpha^*`;
* greedy, :math:`\theta = l_J/l_1`: as many sales as the optimum, each at no less than :math:`l_1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import AdversarialBundlesInstance


def of_units(instance: AdversarialBundlesInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every request wants one unit of the same resource, and keeps it."""
    return len(instance.capacity) == 1 and all(
        kind.demand == (1,) and instance.rounds_held(j) == instance.horizon
        for j, kind in enumerate(instance.types)
    )


@guarantee(
    name="One drawn price",
    statement="ratio at most 1 + sum of 1 - l_{j-1}/l_j",
    reference="standard theory, reconstructed",
    methods=("drawn_price",),
    assumptions={"one unit of one resource, kept": of_units},
)
def drawn_price_ratio(
    instance: AdversarialBundlesInstance, _parameters: Mapping[str, Any]
) -> Fraction:
    """Return the sum of the shares; the game's own ratio is at least 1."""
    levels = _levels(instance)
    return sum((1 - low / high for low, high in pairwise(levels)), Fraction(1))


@guarantee(
    name="Greedy",
    statement="ratio at most the largest value over the least",
    reference="standard theory, reconstructed",
    methods=("greedy",),
    assumptions={"one unit of one resource, kept": of_units},
)
def greedy_ratio(instance: AdversarialBundlesInstance, _parameters: Mapping[str, Any]) -> Fraction:
    """Return the largest value over the least; the game's own ratio is at least 1."""
    levels = _levels(instance)
    return levels[-1] / levels[0]


def _levels(instance: AdversarialBundlesInstance) -> list[Fraction]:
    return sorted({kind.value for kind in instance.types})
