"""The linear program (2) on a growing set of histories, kept in HiGHS."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import simplest_rational
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.result import Limits, Status

from ....subproblems.offline import largest
from ....subproblems.responses import Trie
from ...instance import (
    AdversarialOnlinePolicyCertificate,
    AdversarialOnlinePolicyInstance,
    WeightedSequence,
)


class Master:
    """(2)-(2d) on the prefixes of some sequences; column 0 is the ratio or the regret.

    Attributes
    ----------
    trie : Trie
        History h has the column h + 1.
    histories : list of tuple of int
    """

    def __init__(self, instance: AdversarialOnlinePolicyInstance):
        self.instance = instance
        self.trie: Trie = Trie()
        self.histories: list[tuple[int, ...]] = []
        self._lp = PersistentLp("min")
        self._lp.add_columns([1.0], [0.0], [INFINITY])
        self._ratio = instance.payoff == "ratio"
        self._row_of: list[int] = []
        self._prediction_rows: list[int] = []
        for sequence in instance.predictions:
            path = self.add(sequence)
            assert instance.consistency is not None, "the instance has predictions"
            wanted = float(instance.consistency * self._optimum(sequence))
            columns, values = self._earned(path)
            self._prediction_rows += self._row(
                columns, values, 0.0 if self._ratio else wanted, -wanted if self._ratio else 0.0
            )

    def add(self, sequence: Sequence[int]) -> list[int]:
        """Add a sequence with all its prefixes and return their numbers."""
        before = len(self.trie)
        path = self.trie.add(sequence)
        k = self.instance.capacity_units
        for length, h in enumerate(path, start=1):
            if h < before:
                continue
            history = tuple(sequence[:length])
            self.histories.append(history)
            self._lp.add_columns([0.0], [0.0], [INFINITY if self._ratio else 1.0])
            columns, values = self._earned(path[:length])
            # (2a); for the regret column 0 is added to the welfare.
            optimum = float(self._optimum(history))
            self._row_of += self._row(columns, values, optimum, 0.0 if self._ratio else 1.0)
            if self._ratio:
                self._row([h + 1], [-1.0], 0.0, 1.0)  # (2d)
        if len(self.trie) > before:
            ones = [-1.0] * len(path)
            units = 0.0 if self._ratio else -float(k)
            self._row([h + 1 for h in path], ones, units, float(k) if self._ratio else 0.0)  # (2b)
        return path

    def solve(self, limits: Limits) -> Status:
        """Solve the program from its last basis; `INFEASIBLE` if no policy is consistent enough.

        Raises
        ------
        SolverError
            If HiGHS ends in any other way than by an optimum, a limit or infeasibility.
        """
        status = self._lp.solve(limits)
        if status is Status.UNBOUNDED:
            raise SolverError("the program of a game is bounded, but HiGHS says it is not")
        return status

    @property
    def value(self) -> float:
        """The ratio or the regret on the sequences so far."""
        return float(self._lp.values[0])

    @property
    def probability(self) -> Floats:
        """Sale probabilities of the histories so far."""
        values = np.asarray(self._lp.values)
        return values[1:] / values[0] if self._ratio else values[1:]

    def certificate(self) -> AdversarialOnlinePolicyCertificate:
        """Return the adversary's lottery over the sequences so far, in exact numbers."""
        duals = np.asarray(self._lp.row_duals)
        weights = [_exactly(duals[row]) for row in self._row_of]
        return AdversarialOnlinePolicyCertificate(
            sequences=tuple(
                WeightedSequence(levels=h, weight=weight)
                for h, weight in zip(self.histories, weights, strict=True)
                if weight > 0
            )
            or (WeightedSequence(levels=self.histories[0], weight=Fraction(1)),),
            prediction_prices=tuple(_exactly(duals[row]) for row in self._prediction_rows),
        )

    def _optimum(self, history: Sequence[int]) -> Fraction:
        return largest(self.instance.values(tuple(history)), self.instance.capacity_units)

    def _earned(self, path: Sequence[int]) -> tuple[list[int], list[float]]:
        levels = self.instance.levels
        return [h + 1 for h in path], [float(levels[self.trie.level[h]]) for h in path]

    def _row(self, columns: list[int], values: list[float], least: float, of_value: float) -> range:
        """Add the row: `values` of the columns and `of_value` of column 0 are at least `least`."""
        if of_value:
            columns, values = [*columns, 0], [*values, of_value]
        return self._lp.add_rows([least], [INFINITY], [0], columns, values)


def _exactly(dual: float) -> Fraction:
    """Return a dual as a simple fraction, not below 0."""
    return max(Fraction(0), simplest_rational(round(float(dual), 12)))
