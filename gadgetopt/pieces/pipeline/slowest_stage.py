r"""PipeDream's optimiser: stages whose slowest is as fast as possible (Narayanan et al. 2019).

With c, w the compute time and the parameter bytes of an interval of layers, :math:`a_q` the bytes
after layer q and B the bandwidth, the best slowest stage of the first l layers on k machines is

.. math::
    A(l, k) = \min\Big\{\tfrac1k\big(c_{0:l} + \tfrac{4(k-1) w_{0:l}}{B k}\big),\
    \min_{q < l,\ k' < k} \max\Big(A(q, k - k'),\
    \tfrac1{k'}\big(c_{q:l} + \tfrac{4(k'-1) w_{q:l}}{B k'}\big),\
    \tfrac{2 a_{q-1}}{B k'},\ [l < L]\ \tfrac{2 a_{l-1}}{B k'}\Big)\Big\},

the two transfers only with `transfers`. With `straight`, every stage has one machine. The quirks of
the recurrence are kept: a first stage does not pay its own outgoing transfer, and the AllReduce is
divided by the machines twice.

In a hierarchy of networks, the optimum of an interval inside one machine of all its GPUs is its
compute time on the level above (reconstructed: the recurrence of the levels is restated from their
published values, which it reproduces).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints


@dataclass(frozen=True)
class Level:
    """One level of the network: units joined by links of one bandwidth, in bytes per second."""

    units: int
    bandwidth_bytes_per_s: float


@dataclass(frozen=True)
class SlowestStagePlan:
    """Stages of an interval of layers on one level.

    Attributes
    ----------
    slowest_s : float
        Time of the slowest stage.
    stages : tuple of (int, int, int)
        First layer, last layer + 1, units.
    inner : tuple of SlowestStagePlan
        In a hierarchy, the plan of each stage inside one of its units; else empty.
    """

    slowest_s: float
    stages: tuple[tuple[int, int, int], ...]
    inner: tuple[SlowestStagePlan, ...] = ()


def plan_slowest_stage(
    compute_s: Sequence[float] | Floats,
    param_bytes: Sequence[float] | Floats,
    act_bytes: Sequence[float] | Floats,
    levels: Sequence[Level],
    *,
    transfers: bool = True,
    straight: bool = False,
) -> SlowestStagePlan | None:
    """Return the plan of the recurrence; None if there are fewer layers than `straight` needs.

    Parameters
    ----------
    compute_s, param_bytes, act_bytes : sequence of float, (L,)
        Forward and backward time of each layer, its parameters, and the bytes after it.
    levels : sequence of Level
        From the inside out; one level is a flat network.
    transfers, straight : bool
        See the module.

    Notes
    -----
    Equal values: the least first layer of the last stage, then the fewest machines, then fewer
    stages. O(L^2 K^2) for a flat network, O(L^3 K^2) for the levels below the outermost.
    """
    times = _intervals(compute_s)
    weights = _intervals(param_bytes)
    act = np.asarray(act_bytes, dtype=float)
    tables: list[_Table] = []
    within = 1
    for depth, level in enumerate(levels):
        outermost = depth == len(levels) - 1
        table = _Table(times, weights, act, level, within, transfers, straight, outermost)
        tables.append(table)
        times = table.whole()
        within = level.units
    return _plan(tables, 0, len(act))


def _intervals(amounts: Sequence[float] | Floats) -> Floats:
    """Return the sums of all intervals [i, j), as an (L+1, L+1) array."""
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(amounts, dtype=float))])
    between: Floats = sums[None, :] - sums[:, None]
    return between


class _Table:
    """The recurrence on one level, for every first layer or, on the outermost, for layer 0."""

    def __init__(
        self,
        times: Floats,
        weights: Floats,
        act: Floats,
        level: Level,
        within: int,
        transfers: bool,
        straight: bool,
        outermost: bool,
    ):
        self.layers, self.units = len(act), level.units
        k = np.arange(1, level.units + 1, dtype=float)
        bandwidth = level.bandwidth_bytes_per_s
        reduce_s = 4 * (k - 1) * weights[:, :, None] / (bandwidth * k)
        #: Time of an interval as the last of several stages on 1, 2, ... units.
        self.stage_s = (times[:, :, None] + reduce_s) / k
        #: The same as the only stage.
        self.alone_s = (times[:, :, None] + reduce_s / within) / k
        if straight:
            self.stage_s[:, :, 1:] = np.inf
            self.alone_s[:, :, 1:] = np.inf
        self.send_s = (
            2 * act[:, None] / (bandwidth * k) if transfers else np.zeros((len(act), len(k)))
        )
        firsts = 1 if outermost else self.layers
        shape = (firsts, self.layers + 1, self.units + 1)
        self.best: Floats = np.full(shape, np.inf)
        self.split: Ints = np.full((*shape, 2), -1, dtype=np.int64)
        for i in range(firsts):
            self._fill(i)

    def _fill(self, i: int) -> None:
        best, split = self.best[i], self.split[i]
        best[i + 1 :, 1:] = self.alone_s[i, i + 1 :]
        for k in range(2, self.units + 1):
            for end in range(i + 2, self.layers + 1):
                cuts = np.arange(i + 1, end)
                # Rows: the first layer of the last stage; columns: its units 1, ..., k - 1.
                slowest = np.maximum(
                    best[i + 1 : end, k - 1 : 0 : -1], self.stage_s[cuts, end, : k - 1]
                )
                np.maximum(slowest, self.send_s[cuts - 1, : k - 1], out=slowest)
                if end < self.layers:
                    np.maximum(slowest, self.send_s[end - 1, : k - 1], out=slowest)
                at = int(np.argmin(slowest))
                row, column = divmod(at, k - 1)
                if slowest[row, column] < best[end, k]:
                    best[end, k] = slowest[row, column]
                    split[end, k] = cuts[row], column + 1

    def whole(self) -> Floats:
        """Return the best value of every interval on all units, as an (L+1, L+1) array."""
        found = np.full((self.layers + 1, self.layers + 1), np.inf)
        found[: len(self.best)] = self.best[:, :, self.units]
        return found


def _plan(tables: Sequence[_Table], first: int, end: int) -> SlowestStagePlan | None:
    table, below = tables[-1], tables[:-1]
    slowest_s = float(table.best[first, end, table.units])
    if not np.isfinite(slowest_s):
        return None
    stages: list[tuple[int, int, int]] = []
    last, units = end, table.units
    while True:
        cut, used = map(int, table.split[first, last, units])
        if cut < 0:
            stages.append((first, last, units))
            break
        stages.append((cut, last, used))
        last, units = cut, units - used
    stages.reverse()
    inner = [_plan(below, a, b) for a, b, _ in stages] if below else []
    return SlowestStagePlan(slowest_s, tuple(stages), tuple(p for p in inner if p is not None))
