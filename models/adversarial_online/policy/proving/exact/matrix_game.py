"""The matrix game of 5.4: the best lottery over non-decreasing tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.state import Search
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ....subproblems.offline import largest
from ....subproblems.prices import (
    Lottery,
    of_table,
)
from ....subproblems.replay import replay
from ...instance import (
    AdversarialOnlinePolicyCertificate,
    AdversarialOnlinePolicyInstance,
    AdversarialOnlinePolicySolution,
    WeightedSequence,
)
from ...subproblems.exactly import exact_share
from ...subproblems.sizes import check_lottery_size
from ..certificate import check_bound
from .seller import worst_of_lottery

#: Tables of a game that is still enumerated. Tuned: `benchmarks/constants.py`.
MOST_TABLES = 5_000


class LotteryProgram:
    r"""The linear program of the best lottery over tables i against the sequences h so far.

    .. math:: \min\ \alpha: \quad \sum_i P_i\,ALG_i(h) \ge OPT(h), \quad \sum_i P_i = \alpha

    with :math:`P = \alpha p`; for the regret
    :math:`\min\ \delta: \sum_i p_i\,ALG_i(h) + \delta \ge OPT(h), \sum_i p_i = 1`.
    """

    def __init__(self, instance: AdversarialOnlinePolicyInstance):
        self.instance = instance
        prices = [float(level) for level in instance.levels]
        self.tables: list[tuple[int, ...]] = list(
            itertools.combinations_with_replacement(range(len(prices)), instance.capacity_units)
        )
        self.sequences: list[tuple[int, ...]] = []
        self._ratio = instance.payoff == "ratio"
        self._lp = PersistentLp("min")
        n = len(self.tables)
        self._lp.add_columns([1.0], [0.0], [INFINITY])
        self._lp.add_columns([0.0] * n, [0.0] * n, [INFINITY] * n)
        columns, ones = list(range(n + 1)), [1.0] * n
        if self._ratio:
            self._lp.add_rows([0.0], [0.0], [0], columns, [-1.0, *ones])
        else:
            self._lp.add_rows([1.0], [1.0], [0], columns[1:], ones)
        self._predictions: list[int] = []
        for sequence in instance.predictions:
            optimum = float((instance.consistency or 0) * self._optimum(sequence))
            self._predictions += self._add_row(
                sequence, 0.0 if self._ratio else optimum, -optimum if self._ratio else 0.0
            )
        self._rows: list[int] = []

    def add(self, sequence: Sequence[int]) -> None:
        """Add a sequence of the adversary."""
        history = tuple(sequence)
        self.sequences.append(history)
        self._rows += self._add_row(
            history, float(self._optimum(history)), 0.0 if self._ratio else 1.0
        )

    def solve(self, limits: Limits) -> Status:
        """Solve the program from its last basis."""
        return self._lp.solve(limits)

    @property
    def value(self) -> float:
        """The ratio or the regret against the sequences so far."""
        return float(self._lp.values[0])

    def lottery(self) -> Lottery:
        """Return the optimal lottery with exact probabilities that sum to 1."""
        values: Floats = np.asarray(self._lp.values)
        chances = values[1:] / (values[0] if self._ratio else 1.0)
        exact = {i: exact_share(float(x)) for i, x in enumerate(chances)}
        exact = {i: x for i, x in exact.items() if x > 0}
        likeliest = max(exact, key=lambda i: exact[i])
        exact[likeliest] += 1 - sum(exact.values())
        levels = self.instance.levels
        return tuple(
            of_table([levels[j] for j in self.tables[i]], chance) for i, chance in exact.items()
        )

    def certificate(self) -> AdversarialOnlinePolicyCertificate:
        """Return the adversary's lottery over the sequences so far."""
        duals = np.asarray(self._lp.row_duals)
        weights = [exact_share(float(duals[row]) / self._largest(duals)) for row in self._rows]
        prices = [exact_share(float(duals[r]) / self._largest(duals)) for r in self._predictions]
        return AdversarialOnlinePolicyCertificate(
            sequences=tuple(
                WeightedSequence(levels=h, weight=weight)
                for h, weight in zip(self.sequences, weights, strict=True)
                if weight > 0
            )
            or (WeightedSequence(levels=self.sequences[0], weight=Fraction(1)),),
            prediction_prices=tuple(prices),
        )

    def _largest(self, duals: Floats) -> float:
        return max([1e-300, *(float(duals[row]) for row in [*self._rows, *self._predictions])])

    def _optimum(self, history: Sequence[int]) -> Fraction:
        return largest(self.instance.values(tuple(history)), self.instance.capacity_units)

    def _add_row(self, sequence: Sequence[int], least: float, of_value: float) -> range:
        levels = self.instance.levels
        values, demands = self.instance.values(tuple(sequence)), [(1,)] * len(sequence)
        earned = [
            float(replay([[levels[j] for j in table]], values, demands).welfare)
            for table in self.tables
        ]
        filled = [(i + 1, x) for i, x in enumerate(earned) if x]
        filled += [(0, of_value)] if of_value else []
        return self._lp.add_rows(
            [least], [INFINITY], [0], [i for i, _ in filled], [x for _, x in filled]
        )


@method(
    kind="approximation",
    reference="standard theory (reconstructed)",
    formulation="matrix_game",
    backend="highs",
)
def matrix_game(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    *,
    rounds: int = 1000,
) -> MethodOutcome:
    r"""Best lottery over non-decreasing tables; sequences by dynamic programming.

    Rows are the tables, enumerated; columns are sequences, to which the worst one for the lottery
    found is added until none is worse. It is found by dynamic programming over all sequences. For
    :math:`N \ge kJ` the lottery is the best policy of all, and the certificate says so. For shorter
    horizons a policy that remembers what it has seen may be better: k = 1, N = 2 and the grid
    1, 2, 8 have 15/8, but lotteries over prices 17/8.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits : Limits
        `time_s` stops between two rounds, `rel_gap` closes the game earlier.
    rounds : int, default 1000

    Raises
    ------
    ModelRefused
        If there are too many tables, or a lottery has too many states.
    """
    if rounds < 1:
        raise ModelRefused(f"rounds: {rounds}, expected at least 1")
    k = instance.capacity_units
    if math.comb(len(instance.levels) + k - 1, k) > MOST_TABLES:
        raise ModelRefused(f"capacity_units: more than {MOST_TABLES} non-decreasing tables")
    search: Search[Lottery] = Search("min", limits)
    clock = search.clock
    program = LotteryProgram(instance)
    for j in range(len(instance.levels)):
        program.add([j])
    stale, played = 0, 0
    while played < rounds and stale < 3:
        played += 1
        status = program.solve(clock.limits())
        if status is not Status.OPTIMAL or clock.expired:
            # Infeasible: no lottery over tables is consistent enough; another policy may be.
            search.limit_hit = None if status is Status.INFEASIBLE else "time_s"
            break
        lottery = program.lottery()
        response = worst_of_lottery(instance, lottery, lambda: clock.expired)
        if response is None:
            search.limit_hit = "time_s"
            break
        search.offer(float(response.value), lottery)
        if search.closes(program.value):
            break
        stale = stale + 1 if response.sequence in program.sequences else 0
        program.add(response.sequence)
    if search.best is None:
        return search.outcome(None)
    check_lottery_size(instance, search.best)
    certificate = program.certificate()
    proved = check_bound(instance, certificate)
    if proved is not None:
        search.prove(proved, certificate)
    solution = AdversarialOnlinePolicySolution(lottery=search.best)
    return search.outcome(solution, rounds=played, tables=len(program.tables))
