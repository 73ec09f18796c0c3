r"""The configuration LP with modes: the best prices of `mode_prices.py` for a state.

With :math:`x_c` the slots spent in configuration c and :math:`\lambda_{jq}` the share of a way q in
which job j does its f_j iterations, :math:`n_p` slots at level p on r servers,

.. math::
    \min \sum_c x_c \quad \text{s.t.} \quad
    \sum_{c \ni (j, r, p)} x_c \ge \sum_q n_{qrp} \lambda_{jq}, \qquad
    \sum_q \lambda_{jq} \ge 1, \qquad x, \lambda \ge 0,

where a slot may count as one on more servers or at a higher level. Ways are priced by dynamic
programming over iterations. Duals of the first rows are prices of modes; rounded down they stay
prices, so nothing of the solver is believed. (reconstructed)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.compiled import compiled
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.persistent import INFINITY, Array, PersistentLp
from gadgetopt.system.result import Limits, Status

from ..certificate.mode_prices import (
    Modes,
    refuse_many_values,
)

#: Prices are the duals times this number, over the largest of them.
#: Tuned: `benchmarks/constants.py`.
_SCALE = 10**6
#: Cost of a job that is not done, far more than any makespan of an instance of this size.
#: By definition.
_UNDONE = 1e5
#: A way improves if it is cheaper by more than this. Tuned: `benchmarks/constants.py`.
_CHEAPER = 1e-7


class ModeLp:
    """The linear program, which keeps its configurations from state to state.

    Parameters
    ----------
    modes : Modes

    Raises
    ------
    ModelRefused
        If there are too many configurations, or iterations to tabulate.
    """

    def __init__(self, modes: Modes):
        refuse_many_values(modes.instance, 1)
        self._modes = modes
        self._lp = lp = PersistentLp("min")
        count, jobs = modes.first[-1], len(modes.of_job)
        rows = np.zeros(count + jobs)
        lp.add_rows(rows, np.full(len(rows), INFINITY), rows.astype(int), (), ())
        table = modes.configurations
        at, jobs_at = np.nonzero(table)
        starts = np.searchsorted(at, np.arange(len(table)))
        self._add(np.ones(len(table)), starts, table[at, jobs_at] - 1, np.ones(len(at)))
        pairs = np.array(modes.no_better, dtype=int).reshape(-1, 2)
        starts, signs = 2 * np.arange(len(pairs)), np.tile([-1.0, 1.0], len(pairs))
        self._add(np.zeros(len(pairs)), starts, pairs.ravel(), signs)
        covers = count + np.arange(jobs)
        self._add(np.full(jobs, _UNDONE), np.arange(jobs), covers, np.ones(jobs))
        self._fixed = lp.num_columns
        #: Modes with a positive rate, and their rates, by job and servers.
        self._useful: dict[tuple[int, int], tuple[Ints, Ints]] = {}
        rates = modes.instance.rates
        for j, of_job in enumerate(modes.of_job):
            for r in rates.server_counts(j):
                levels = [p for q, p in of_job if q == r and rates.rate(j, r, p)]
                numbers = np.array([modes.number[j, r, p] for p in levels], dtype=np.int64)
                phi = np.array([rates.rate(j, r, p) for p in levels], dtype=np.int64)
                self._useful[j, r] = numbers, phi
        #: Slots that the last state needs at least, as the solver says.
        self.slots = 0.0

    def _add(self, cost: Floats, starts: Array, rows: Array, values: Array) -> None:
        none = np.zeros(len(cost))
        self._lp.add_columns(cost, none, np.full(len(cost), INFINITY), starts, rows, values)

    def prices(
        self, left: Sequence[int], servers: Sequence[int], limits: Limits
    ) -> tuple[int, ...] | None:
        """Return prices of all modes for a state; None if there is no time for any.

        Parameters
        ----------
        left : sequence of int
            f_j, 0 for a job that is done.
        servers : sequence of int
            r_j of a job that runs, else 0.
        limits : Limits
        """
        clock, lp, count = Clock(limits), self._lp, self._modes.first[-1]
        lp.delete_columns(np.arange(self._fixed, lp.num_columns))
        waiting = np.array([f > 0 for f in left], dtype=float)
        rows = np.arange(count, count + len(left))
        lp.change_row_bounds(rows, waiting, np.full(len(left), INFINITY))
        improving = True
        while improving:
            if lp.solve(clock.limits()) is not Status.OPTIMAL:
                return None
            self.slots = lp.objective
            duals = np.maximum(0.0, lp.row_duals)
            improving = False
            for j, f in enumerate(left):
                way = self._cheapest_way(j, f, servers[j], duals) if f else {}
                cost = sum(duals[mode] * slots for mode, slots in way.items())
                if way and cost < duals[count + j] - _CHEAPER:
                    improving = True
                    used = [-float(n) for n in way.values()]
                    self._add(np.zeros(1), np.zeros(1), [*way, count + j], [*used, 1.0])
        return self._integers(duals[:count])

    def _cheapest_way(self, j: int, f: int, servers: int, duals: Floats) -> dict[int, int]:
        """Return the slots in each mode of the cheapest way to do f iterations."""
        rates = self._modes.instance.rates
        best, cheapest = np.inf, {}
        for r in [servers] if servers else rates.server_counts(j):
            numbers, phi = self._useful[j, r]
            if len(numbers):
                cost, slots = _cheapest(phi, duals[numbers], f)
                if cost < best:
                    best = cost
                    used = np.flatnonzero(slots)
                    cheapest = dict(zip(numbers[used].tolist(), slots[used].tolist(), strict=True))
        return cheapest

    def _integers(self, duals: Floats) -> tuple[int, ...]:
        """Return prices that do not rise with servers or level, as integers."""
        largest = float(duals.max(initial=0.0)) or 1.0
        prices = np.floor(duals / largest * _SCALE).astype(np.int64)
        for less, more in sorted(self._modes.no_better, key=lambda pair: pair[1]):
            prices[more] = min(prices[more], prices[less])
        return tuple(prices.tolist())


@compiled
def _cheapest(phi: Ints, price: Floats, f: int) -> tuple[float, Ints]:
    """Return the least cost of f iterations, and the slots in each mode; no rate is 0."""
    cost = np.zeros(f + 1)
    choice = np.zeros(f + 1, np.int64)
    for g in range(1, f + 1):
        cost[g] = np.inf
        for i in range(len(phi)):
            of_mode = price[i] + cost[max(0, g - phi[i])]
            if of_mode < cost[g]:
                cost[g], choice[g] = of_mode, i
    slots = np.zeros(len(phi), np.int64)
    g = f
    while g > 0:
        slots[choice[g]] += 1
        g -= phi[choice[g]]
    return cost[f], slots
