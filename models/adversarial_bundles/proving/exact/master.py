"""The program (S1)-(S5) on a growing set of histories, kept in HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

from ...instance import (
    AdversarialBundlesCertificate,
    AdversarialBundlesInstance,
    WeightedSequence,
)
from ...subproblems.rounding import near
from ...subproblems.tree import ROOT, Tree

#: The types of the requests that came.
History = tuple[int, ...]


class Master:
    """(S1)-(S5) on the prefixes of some sequences; column 0 is the ratio.

    Attributes
    ----------
    tree : Tree
    """

    def __init__(self, instance: AdversarialBundlesInstance) -> None:
        self.tree = Tree(instance)
        self._sales: dict[tuple[int, int], int] = {}  # columns of Y, by history and stock
        self._lp = PersistentLp("min")
        self._lp.add_columns([1.0], [0.0], [INFINITY])
        self._held: dict[tuple[int, int], int] = {(ROOT, 0): 0}
        self._robust: list[int] = []  # the row (S2) of every history
        self._earned: list[tuple[list[int], list[float]]] = []  # its columns and values

    def add(self, sequence: Sequence[int]) -> None:
        """Add a sequence with all its prefixes."""
        before = len(self.tree)
        for h in self.tree.add(sequence):
            if h >= before:
                self._add_history(h)

    def solve(self, limits: Limits) -> Status:
        """Solve the program from its last basis.

        Raises
        ------
        SolverError
            If HiGHS ends in any other way than by an optimum or a limit.
        """
        status = self._lp.solve(limits)
        if status in (Status.UNBOUNDED, Status.INFEASIBLE):
            raise SolverError(f"the program of a game has an optimum, but HiGHS says {status}")
        return status

    @property
    def value(self) -> float:
        """The ratio on the sequences so far."""
        return float(self._lp.values[0])

    def sales(self) -> dict[tuple[History, int], float]:
        """Return the probability of a sale by history and stock."""
        values: Floats = np.asarray(self._lp.values) / self.value
        return {
            (self.tree.history[h], s): float(values[column])
            for (h, s), column in self._sales.items()
        }

    def chances(self) -> dict[tuple[History, int], float]:
        """Return the chance of a sale by history and stock, where the stock may be held."""
        values: Floats = np.asarray(self._lp.values)
        found = {}
        for (h, s), column in self._sales.items():
            held = values[self._held[self.tree.parent[h], s]]
            if held > 0:
                chance = min(1.0, max(0.0, values[column] / held))
                found[self.tree.history[h], s] = float(chance)
        return found

    def certificate(self) -> AdversarialBundlesCertificate:
        """Return the adversary's lottery over the sequences so far, in exact numbers."""
        duals = np.asarray(self._lp.row_duals)
        weights = [near(max(0.0, float(duals[row]))) for row in self._robust]
        return AdversarialBundlesCertificate(
            sequences=tuple(
                WeightedSequence(types=history, weight=weight)
                for history, weight in zip(self.tree.history, weights, strict=True)
                if weight > 0
            )
            or (WeightedSequence(types=self.tree.history[0], weight=Fraction(1)),)
        )

    def _add_history(self, h: int) -> None:
        """Add columns and rows of a history whose beginning is there."""
        tree, lp = self.tree, self._lp
        parent, value = tree.parent[h], float(tree.value(h))
        into: dict[int, dict[int, float]] = {s: {} for s in tree.best[h]}
        before: tuple[list[int], list[float]] = ([], []) if parent == ROOT else self._earned[parent]
        columns, values = before[0].copy(), before[1].copy()
        for s in tree.best[h]:
            self._held[h, s] = lp.add_columns([0.0], [0.0], [INFINITY])[0]
            into[s][self._held[h, s]] = -1.0
        for s in tree.before(h):
            kept, sold = tree.moves(h, s)
            held = self._held[parent, s]
            into[kept][held] = into[kept].get(held, 0.0) + 1.0
            if sold < 0:
                continue
            sale = self._sales[h, s] = lp.add_columns([0.0], [0.0], [INFINITY])[0]
            into[kept][sale] = into[kept].get(sale, 0.0) - 1.0
            into[sold][sale] = into[sold].get(sale, 0.0) + 1.0
            lp.add_rows([0.0], [INFINITY], [0], [held, sale], [1.0, -1.0])  # (S4)
            columns.append(sale)
            values.append(value)
        for row in into.values():  # (S3)
            entries = {column: x for column, x in row.items() if x}
            lp.add_rows([0.0], [0.0], [0], list(entries), list(entries.values()))
        self._earned.append((columns, values))
        optimum = float(tree.optimum(h))
        self._robust += lp.add_rows([optimum], [INFINITY], [0], columns, values)  # (S2)
