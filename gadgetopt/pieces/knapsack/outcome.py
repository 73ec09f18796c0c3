"""Result of the exact and approximate knapsack solvers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import CLOSED_GAP


@dataclass(frozen=True)
class CoreResult:
    """Items chosen, a bound on all choices, and its proof.

    Attributes
    ----------
    chosen : ndarray of int or None
        Items, in increasing order; None if no feasible choice is known.
    value : float
        Their profit; minus infinity without a choice.
    bound : float
        No choice has more profit; minus infinity if there is none at all.
    proof : str
        How the bound was proved, and who claims it.
    duals : ndarray of float, shape (rows,), or None
        Prices of the capacities whose Lagrangian bound is `lagrangian`.
    lagrangian : float
        Bound of `duals`, rounded outward: no solver has to be trusted.
    limit_hit : str or None
        "time_s" or "interrupted" if that stopped the run.
    notes : dict
        Columns, core, nodes and other figures of the run.
    """

    chosen: Ints | None
    value: float
    bound: float
    proof: str
    duals: Floats | None = None
    lagrangian: float = math.inf
    limit_hit: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def optimal(self) -> bool:
        """True if value and bound meet."""
        if self.chosen is None:
            return False
        return self.bound - self.value <= CLOSED_GAP * abs(self.value)

    @property
    def infeasible(self) -> bool:
        """True if it is proved that no choice fits."""
        return self.chosen is None and self.bound == -math.inf
