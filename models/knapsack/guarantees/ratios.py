r"""Frieze and Clarke's theorem on the ratio of the optimum to the algorithm's profit.

The algorithm fixes every set S of at most k items, leaves out the items more profitable than the
least of S, and rounds a basic solution of the linear relaxation of the rest down. Its profit
:math:`\tilde z` is at least :math:`\frac{k}{k+m} OPT`, m being the number of rows, so that

.. math:: \frac{OPT}{\tilde z} \le \frac{k + m}{k}.

Proof. An optimal choice of at most k items is among the S. Otherwise take the k most profitable
items of it for S, with profit :math:`\sigma \le \tilde z`. The optimal choice is feasible in the
relaxation of S, a basic solution has at most m fractional items, and each of them is at most as
profitable as the average of S, :math:`\sigma / k`. Rounding down loses at most
:math:`m \sigma / k \le m \tilde z / k`.

With k = 0 the theorem promises nothing, and with k at least the number of items the algorithm
enumerates all choices, so the ratio is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from gadgetopt.system.declaring import guarantee

from ..instance import KnapsackInstance


def single_items(instance: KnapsackInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every group is one item that may be left out."""
    return not instance.multiple_choice


@guarantee(
    name="Frieze-Clarke",
    statement="profit >= k / (k + m) OPT with m rows",
    reference="Frieze and Clarke 1984",
    methods=("frieze_clarke", "frieze_clarke_literal", "frieze_clarke_complete"),
    assumptions={"every group is one item that may be left out": single_items},
)
def frieze_clarke_ratio(
    instance: KnapsackInstance, parameters: Mapping[str, Any]
) -> Fraction | None:
    """Return (k + m) / k, 1 if all choices are enumerated; None for k = 0."""
    k, rows = int(parameters["k"]), len(instance.capacities)
    if k >= instance.num_items:
        return Fraction(1)
    return Fraction(k + rows, k) if k > 0 else None
