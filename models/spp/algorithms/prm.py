r"""PRM: partition, replication and mapping for a fixed order of the GPUs, by dynamic programming.

:math:`W(l, \xi, r, i)` is the least largest load when the first l layers form :math:`\xi` stages on
the first i GPUs of the order and the last stage has the last r of them,

.. math::
    W(l, \xi, r, i) = \min_{l' < l}\ \min_{r' \le i - r} \max\{ W(l', \xi - 1, r', i - r),\
    M (C^f + C^b)(l', r, r', i),\ M (F + B)(l', l, r, i) + A(l', l, r, i) \}.   \tag{S7}

Literally that is :math:`O(\xi V^3 L^2)`. Here

* :math:`H(l') = \min_{r'} \max\{W, M (C^f + C^b)\}` is computed once for every r and i,
* the load of a stage falls with l', and so :math:`\min_{l'} \max\{H(l'), \text{load}(l', l)\}` is
  found by bisection: with :math:`S(a) = \min_{a \le l' < l} H(l')`, which rises with a, it is
  :math:`\min_a \max\{S(a), \text{load}(a, l)\}`, at the crossing of the two. H itself is not
  monotone, as transfers are not. S comes from a table of minima over 1, 2, 4, ... entries.
* States whose load, or whose rest spread evenly over the remaining GPUs, is no less than a known
  makespan are left out: whatever they lead to is no better.

That is :math:`O(\xi V^2 L (V + \log L))`, and values and ties are those of the literal recurrence:
of equally good predecessors the one with the smallest l', then the smallest r'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ..instance import SppInstance
from .block_costs import BlockCosts

#: Relative margin of the bound by the remaining work, which is added up in another order.
#: Tuned: `benchmarks/constants.py`.
_MARGIN = 1e-9
#: Most loads of channels that are computed at once, 32 MB.
MOST_ENTRIES = MOST_CELLS // 5


@dataclass(frozen=True)
class BlockPlan:
    """Stages on consecutive GPUs of an order.

    Attributes
    ----------
    ends : tuple of int
        The layer after the last of every stage.
    replicas : tuple of int
        GPUs of every stage.
    load_s : float
        W, the largest load.
    """

    ends: tuple[int, ...]
    replicas: tuple[int, ...]
    load_s: float


class Prm:
    """The dynamic program, one number of stages after the other.

    Parameters
    ----------
    costs : BlockCosts
    use_all_gpus : bool, default True
        If not, GPUs at the end of the order may be left out.
    uniform : bool, default False
        All stages have equally many GPUs: r' = r in (S7).

    Attributes
    ----------
    stages : int
        The number of stages whose table was computed last; 1 at first.
    states : int
        Entries of the tables so far.
    """

    costs: BlockCosts
    use_all_gpus: bool
    uniform: bool

    def __init__(self, costs: BlockCosts, *, use_all_gpus: bool = True, uniform: bool = False):
        self.costs, self.use_all_gpus, self.uniform = costs, use_all_gpus, uniform
        self.stages: int = 1
        self.states: int = 0
        self._upper_s = math.inf
        L, V = costs.num_layers, costs.num_gpus
        self._least, self._most = np.ones(V + 1, dtype=int), np.full(V + 1, L)
        # Of each number of stages and of GPUs i: the first l, and W with a row for every r.
        self._tables: list[dict[int, tuple[int, Floats]]] = [{}, {}]
        for i in range(1, V + 1):
            table = np.full((i, L), math.inf)
            table[-1] = costs.stage_s(i, i, 0, np.arange(1, L + 1))
            self._tables[1][i] = (1, table)

    def extend(self, upper_s: float = math.inf) -> None:
        """Compute the table of one stage more; states that cannot end below `upper_s` are infinite.

        `upper_s` never rises from one number of stages to the next.
        """
        self.stages += 1
        self._narrow(upper_s)
        V = self.costs.num_gpus
        joined = self._joined()
        table: dict[int, tuple[int, Floats]] = {}
        for i in range(self.stages, V + 1):
            low = max(self.stages, int(self._least[i]))
            high = int(self._most[i])
            if i == V and self.use_all_gpus:
                low = self.costs.num_layers
            if low <= high:
                table[i] = (low, self._entries(joined, i, low, high))
                self.states += table[i][1].size
        self._tables.append(table)

    def _narrow(self, upper_s: float) -> None:
        """Find the first l layers that i GPUs can have in a plan below an upper bound."""
        self._upper_s = upper_s
        if math.isinf(upper_s):
            return
        work, V, L = self.costs.work_s, self.costs.num_gpus, self.costs.num_layers
        reachable = upper_s * (1 + _MARGIN)
        for i in range(1, V + 1):
            first = float(self.costs.speed[i, i])
            rest = float(self.costs.speed[V, V - i]) if i < V else 0.0
            self._least[i] = np.searchsorted(work, work[L] - reachable * rest, side="left")
            self._most[i] = np.searchsorted(work, reachable * first, side="right") - 1

    def _joined(self) -> Floats:
        """Return H of the first l' layers on i' GPUs before a stage of r, at [i', r, l']."""
        costs, V = self.costs, self.costs.num_gpus
        H = np.full((V + 1, V + 1, costs.num_layers + 1), math.inf)
        for before, (at, loads) in self._tables[-1].items():
            most, columns = loads.shape
            cuts = slice(at, at + columns)
            at_once = max(1, MOST_ENTRIES // loads.size)
            for r in range(1, V - before + 1, at_once):
                blocks = slice(r - 1, min(r - 1 + at_once, V - before))
                channels = costs.channels_s(before, blocks, most, cuts)
                np.maximum(channels, loads, out=channels)
                if self.uniform:
                    channels[self._unequal(blocks, most)] = math.inf
                H[before, blocks.start + 1 : blocks.stop + 1, cuts] = channels.min(axis=1)
        return H

    @staticmethod
    def _unequal(blocks: slice, most: int) -> Bools:
        """Return True where r' = 1, 2, ..., `most` is not the r of a block of numbers."""
        r = np.arange(blocks.start, blocks.stop)[:, None]
        different: Bools = r != np.arange(most)[None, :]
        return different

    def _entries(self, joined: Floats, i: int, low: int, high: int) -> Floats:
        """Return W of l = low..high on i GPUs, a row for every r."""
        costs, before = self.costs, self._tables[self.stages - 1]
        most_r = i - self.stages + 1
        found = np.full((most_r, high - low + 1), math.inf)
        useful = [r for r in range(1, most_r + 1) if i - r in before]
        if not useful:
            return found
        base = min(before[i - r][0] for r in useful)
        top = min(high - 1, max(before[i - r][0] + before[i - r][1].shape[1] - 1 for r in useful))
        if top < base:
            return found
        rows = np.array(useful)
        H = joined[i - rows, rows, base : top + 1]
        ends = np.arange(low, high + 1)
        least = _crossings if costs.monotone else _scanned
        W = least(costs, i, rows, H, base, ends)
        W[self._upper_s <= W] = math.inf
        found[rows - 1] = W
        return found

    def best(self, stages: int) -> BlockPlan | None:
        """Return the plan of least W with this many stages; None if all were left out."""
        L, V = self.costs.num_layers, self.costs.num_gpus
        finals = []
        for i in [V] if self.use_all_gpus else range(V, 0, -1):
            low, table = self._tables[stages].get(i, (L, np.empty((0, 0))))
            if L - low < table.shape[1]:
                column = table[:, L - low]
                r = int(column.argmin())
                finals.append((float(column[r]), i, r + 1))
        load_s, i, r = min(finals, key=lambda final: final[0], default=(math.inf, 0, 0))
        if math.isinf(load_s):
            return None
        return next(self._plans(BlockPlan((L,), (r,), load_s), stages, i, all_tied=False))

    def tied(self, plan: BlockPlan) -> Iterator[BlockPlan]:
        """Yield the plans whose largest load is that of `plan` at most, on as many GPUs."""
        L, stages, used = self.costs.num_layers, len(plan.ends), sum(plan.replicas)
        low, table = self._tables[stages][used]
        for r in np.flatnonzero(table[:, L - low] <= plan.load_s).tolist():
            tail = BlockPlan((L,), (r + 1,), plan.load_s)
            yield from self._plans(tail, stages, used, all_tied=True)

    def _plans(
        self, tail: BlockPlan, stages: int, i: int, *, all_tied: bool
    ) -> Iterator[BlockPlan]:
        """Yield the plans that end with `tail`, whose first stage ends on the GPUs before i."""
        if stages == 1:
            yield tail
            return
        end, r = tail.ends[0], tail.replicas[0]
        starts, values = self._predecessors(end, stages, r, i)
        if all_tied:
            pairs = list(zip(*np.nonzero(values <= tail.load_s), strict=True))
        else:  # the first of the smallest, as in the literal recurrence
            pairs = [np.unravel_index(int(values.argmin()), values.shape)]
        for ell, r_before in pairs:
            ends, replicas = (int(starts[ell]), *tail.ends), (int(r_before) + 1, *tail.replicas)
            longer = BlockPlan(ends, replicas, tail.load_s)
            yield from self._plans(longer, stages - 1, i - r, all_tied=all_tied)

    def _predecessors(self, end: int, stages: int, r: int, i: int) -> tuple[Ints, Floats]:
        """Return the l', and the values of the recurrence for them and r' = 1, 2, ..."""
        at, loads = self._tables[stages - 1][i - r]
        last = min(end - 1, at + loads.shape[1] - 1)
        starts = np.arange(at, last + 1)
        loads = loads[:, : len(starts)]
        channel = self.costs.channel_s(i, r, len(loads), slice(at, last + 1))
        values = np.maximum(np.maximum(loads, channel), self.costs.stage_s(i, r, starts, end))
        if self.uniform:
            values[self._unequal(slice(r - 1, r), len(values))[0]] = math.inf
        return starts, values.T


def prm_of(instance: SppInstance, gpus: Sequence[int]) -> Prm:
    """Return the dynamic program of an instance on an order of its GPUs."""
    options = instance.options
    return Prm(
        BlockCosts(instance, gpus),
        use_all_gpus=options.use_all_gpus,
        uniform=options.uniform_replicas,
    )


def _crossings(
    costs: BlockCosts, i: int, replicas: Ints, H: Floats, base: int, ends: Ints
) -> Floats:
    """Return min over l' of max(H(l'), load(l', l)) for every r and every l of `ends`.

    Column c of `H` is l' = base + c, its rows are those of `replicas`.
    """
    rows, width = H.shape
    powers = [H]
    while 2 ** len(powers) <= width:
        half, previous = 2 ** (len(powers) - 1), powers[-1]
        powers.append(np.minimum(previous[:, :-half], previous[:, half:]))
    shape = (rows, len(ends))
    # All l' >= at have S(l') > load(l', l); least is S(at).
    at = np.broadcast_to(np.minimum(ends, base + width), shape)
    least = np.full(shape, math.inf)
    r = np.broadcast_to(replicas[:, None], shape)
    end = np.broadcast_to(ends, shape)
    row = np.arange(rows)[:, None]
    for k in range(len(powers) - 1, -1, -1):
        further = at - 2**k
        inside = further >= base
        further = np.where(inside, further, base)
        column = np.minimum(further - base, powers[k].shape[1] - 1)
        reached = np.minimum(least, powers[k][row, column])
        beyond = inside & (reached > costs.stage_s(i, r, further, end))
        at = np.where(beyond, further, at)
        least = np.where(beyond, reached, least)
    fits = costs.stage_s(i, r, np.maximum(at - 1, base), end)
    return np.minimum(least, np.where(at > base, fits, math.inf))


def _scanned(costs: BlockCosts, i: int, replicas: Ints, H: Floats, base: int, ends: Ints) -> Floats:
    """Return the same where the load of a stage is not monotone, by trying every l'."""
    starts = base + np.arange(H.shape[1])
    found = np.empty((len(replicas), len(ends)))
    for row, r in enumerate(replicas.tolist()):
        for column, end in enumerate(ends.tolist()):
            before = starts[starts < end]
            loads = np.maximum(H[row, : len(before)], costs.stage_s(i, r, before, end))
            found[row, column] = loads.min(initial=math.inf)
    return found
