r"""Times of stages and transfers in whole ticks, rounded down, and what a rest of a plan costs.

A tick divides all times, if a bound then has no more than :math:`2^{52}` of them; else it has just
so many, and times are rounded down. Sums over layers are cut at :math:`2^{60}` ticks and all other
times at :math:`2^{52}`, so that what is computed from them is a lower bound, in 64-bit integers.

With n GPUs free, a last stage on r and l layers done, head h and tail Z as in `plans`, every
complete plan has a bound of at least :math:`\max(h + Z + u, h + v)`: for the machines q that
follow, with heads :math:`h_q` counted from there,

.. math:: u = \max_q \Big(h_q + load_q + \sum_{i < q} b_i\Big), \qquad
  v = \max_q \Big(h_q + load_q + \max_{s \le q} \big(\sum_{i=s}^{q-1} b_i + a_s\big)\Big).

Their least values follow from the last stage to the first, with GPUs and links as good as any. So
does that of the sum w of all times that follow, of stages that are not too long for the bound. As a
microbatch passes what follows there and back between the M forwards of a machine and its backward,
or between its forward and the M backwards, the load is at least M blocks of one direction, one of
the other, and w.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import Kind, Machines, SingleGpus
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: Ticks of a bound, and the most of a sum over layers, which may be on a slow GPU. By definition.
MOST_TICKS, MOST_SUM = 2**52, 2**60
#: Stands for "impossible". By definition.
NEVER = 2**61

Value = TypeVar("Value")


class Table(Generic[Value]):
    """Rows of numbers for values, as lists and as an array.

    Parameters
    ----------
    values : list
        It may grow.
    rows_of : callable
        Returns the rows of a value.
    """

    def __init__(self, values: list[Value], rows_of: Callable[[Value], list[list[int]]]):
        self.values, self.rows_of = values, rows_of
        self._lists: list[list[list[int]]] = []
        self._array: Ints = np.zeros((0, 0, 0), dtype=np.int64)
        self._filled = 0

    @property
    def lists(self) -> list[list[list[int]]]:
        """The rows of all values so far."""
        self._lists += map(self.rows_of, self.values[len(self._lists) :])
        return self._lists

    @property
    def array(self) -> Ints:
        """The rows of all values so far, and room for more."""
        lists = self.lists
        size = len(lists)
        if size > len(self._array) or not self._filled:
            shape = (len(lists[0]), len(lists[0][0])) if lists else (1, 1)
            self._array = np.zeros((2 * size + 1, *shape), dtype=np.int64)
            self._filled = 0
        if size > self._filled:
            self._array[self._filled : size] = lists[self._filled :]
            self._filled = size
        return self._array


class _Whole:
    """Rows of exact numbers as whole numbers over one denominator."""

    def __init__(self, *rows: list[Fraction]):
        self.denominator: int = common_denominator(x for row in rows for x in row)
        self.rows = [[int(x * self.denominator) for x in row] for row in rows]


class Ticks:
    """Times of one instance, for proofs of a bound.

    Parameters
    ----------
    instance : PipelineInstance
    devices : SingleGpus or Machines
    kinds : list of Kind
        Kinds of GPUs, as many as there are speeds and replicas.
    bound_s : Fraction
        Positive.
    """

    def __init__(
        self,
        instance: PipelineInstance,
        devices: SingleGpus | Machines,
        kinds: list[Kind],
        bound_s: Fraction,
    ):
        chain, options = instance.chain, instance.options
        self.instance = instance
        self.count: int = instance.num_microbatches
        self.full_duplex: bool = instance.duplex == "full"
        self.backward: list[Fraction] = chain.bwd_sum_s
        if options.recompute:
            pairs = zip(chain.fwd_sum_s, chain.bwd_sum_s, strict=True)
            self.backward = [f + b for f, b in pairs]
        self.overlapping: bool = options.overlap_allreduce
        self.latency_s: Fraction = decimal_rational(options.transfer_latency_s)
        self._time_sums = _Whole(chain.fwd_sum_s, self.backward, chain.bwd_sum_s)
        self._param_sums = _Whole(chain.param_sum_bytes)
        self._sizes = _Whole(chain.act_bytes, chain.grad_bytes)
        self.links: dict[tuple[int, int], set[Fraction]] = {
            (last, r): devices.links_between(last, r)
            for last in range(1, instance.num_gpus)
            for r in range(1, instance.num_gpus - last + 1)
        }
        self.unit_s: Fraction = self._unit_s(kinds, bound_s)
        self.below: int = math.ceil(bound_s / self.unit_s)

    def _unit_s(self, kinds: list[Kind], bound_s: Fraction) -> Fraction:
        """Return the seconds of a tick."""
        times = {bound_s, self.latency_s}
        times |= {1 / (self._time_sums.denominator * kind.speed) for kind in kinds}
        times |= {kind.allreduce / self._param_sums.denominator for kind in kinds}
        for factors in self.links.values():
            times |= {factor / self._sizes.denominator for factor in factors}
        denominator = 1
        for time_s in times:
            denominator = math.lcm(denominator, time_s.denominator)
            if bound_s * denominator > MOST_TICKS:
                return bound_s / MOST_TICKS
        return Fraction(1, denominator)

    def stages(self, kind: Kind) -> list[list[int]]:
        """Return sums over the layers before each, of stages on a kind of GPUs.

        They are of F, B, the load M (F + B), AllReduce, and the backward that it may overlap. The
        last row tells by how much differences of sums may be too large because of rounding.
        """
        fwd, bwd, past = self._time_sums.rows
        load = [self.count * (f + b) for f, b in zip(fwd, bwd, strict=True)]
        times = (fwd, bwd, load, past)
        seconds = Fraction(1, self._time_sums.denominator) / kind.speed
        f, b, work, before = (self._ticks(row, seconds, MOST_SUM) for row in times)
        seconds = kind.allreduce / self._param_sums.denominator
        exchange = self._ticks(self._param_sums.rows[0], seconds, MOST_SUM)
        if self.overlapping and before[-1] == MOST_SUM:
            exchange = [0] * len(exchange)  # how much of it overlaps is not known
        whole = (
            seconds % self.unit_s == 0
            and 1 / kind.speed % (self.unit_s * self._time_sums.denominator) == 0
        )
        return [f, b, work, exchange, before, [0 if whole else 1] * len(f)]

    def transfers(self, factor: Fraction) -> list[list[int]]:
        """Return the times of transfers before each layer, forward and backward, and the load."""
        fwd, bwd = self._sizes.rows
        M, seconds = self.count, factor / self._sizes.denominator
        pairs = zip(fwd, bwd, strict=True)
        if self.full_duplex:
            # M blocks of one direction and one of the other; later times are added as they come.
            load, latencies = [max(M * f + b, f + M * b) for f, b in pairs], M + 1
        else:
            load, latencies = [M * (f + b) for f, b in pairs], 2 * M
        return [
            [0, *self._ticks(row, seconds, MOST_TICKS, many * self.latency_s)]
            for row, many in ((fwd, 1), (bwd, 1), (load, latencies))
        ]

    def _ticks(
        self, amounts: list[int], seconds: Fraction, most: int, more_s: Fraction = Fraction(0)
    ) -> list[int]:
        """Return amounts times seconds, and some more seconds, in ticks."""
        each, more = seconds / self.unit_s, more_s / self.unit_s
        denominator = math.lcm(each.denominator, more.denominator)
        p, q = int(each * denominator), int(more * denominator)
        return [min(most, (x * p + q) // denominator) for x in amounts]

    def spans(self, row: Ints, slack: int) -> Ints:
        """Return the least ticks of all stages by first layer and end, from sums over layers."""
        spans: Ints = np.maximum(row[None, :] - row[:, None] - slack, 0)
        return np.minimum(spans, MOST_TICKS)


def most_ends(instance: PipelineInstance) -> Ints:
    """Return where a stage ends at the latest, by its number of GPUs and its first layer."""
    layers, gpus = instance.num_layers, instance.num_gpus
    ends = np.full((gpus + 1, layers), layers, dtype=np.int64)
    if instance.options.memory_bytes is None:
        return ends
    for r in range(1, gpus + 1):
        end = 0
        for first in range(layers):
            # A stage that fits does so too without its first layer, but for what enters it.
            end = first if instance.options.recompute else max(end, first)
            while end < layers and in_flight(instance, first, end + 1, r) > 0:
                end += 1
            ends[r, first] = end
    return ends


def in_flight(instance: PipelineInstance, first: int, end: int, replicas: int) -> int:
    """Return how many microbatches a stage can have in flight; 0 if it does not fit in memory."""
    chain, options = instance.chain, instance.options
    most = min(instance.num_microbatches, options.max_in_flight or instance.num_microbatches)
    if options.memory_bytes is None:
        return most
    weights = chain.param_sum_bytes[end] - chain.param_sum_bytes[first]
    each = (chain.stash_sum_bytes[end] - chain.stash_sum_bytes[first]) / replicas
    room = decimal_rational(options.memory_bytes)
    room -= decimal_rational(options.weights_factor) * weights
    if options.recompute:  # one full stash, and of each microbatch what enters
        room -= each
        each = chain.act_bytes[first - 1] / replicas if first else Fraction(0)
    if room < 0:
        return 0
    return most if each == 0 else min(most, math.floor(room / each))


def least_rests(ticks: Ticks, best: dict[int, Kind]) -> Ints:
    """Return u, v and the sum w of all times to come, by free GPUs, replicas and layers done.

    Parameters
    ----------
    ticks : Ticks
    best : dict of int to Kind
        For each number of replicas, a kind that is as good as any.
    """
    gpus, layers = ticks.instance.num_gpus, ticks.instance.num_layers
    rests = np.full((3, gpus + 1, gpus + 1, layers + 1), NEVER, dtype=np.int64)
    done = slice(0, 1) if ticks.instance.options.use_all_gpus else slice(None)
    rests[:, done, :, layers] = 0
    fits = most_ends(ticks.instance)
    times = {r: _stage_times(ticks, kind, fits[r]) for r, kind in best.items()}
    transfers = {
        factor: np.array(ticks.transfers(factor)) for factor in set(map(min, ticks.links.values()))
    }
    for free in range(1, gpus + 1):
        for r in range(1, free + 1):
            f, b, load, a = times[r]
            u, v, w = rests[:, free - r, r][:, None, :]
            w = np.where(load + a < ticks.below, w, NEVER)
            load = np.maximum(load, _one_way(ticks.count, f, b) + w)
            first = np.stack(
                [
                    np.maximum(load, f + b + u).min(axis=1),
                    np.maximum(load + a, f + np.maximum(v, b + a + u)).min(axis=1),
                    (f + b + w).min(axis=1),
                ]
            )
            np.minimum(rests[:, free, 0], first, out=rests[:, free, 0])
            for last in range(1, gpus - free + 1):
                if ticks.instance.options.uniform_replicas and last != r:
                    continue
                cf, cb, through = transfers[min(ticks.links[last, r])]
                through = np.maximum(through, _one_way(ticks.count, cf, cb) + first[2])
                after = np.stack(
                    [np.maximum(through, cf + cb + first[0]), cf + first[1], cf + cb + first[2]]
                )
                np.minimum(rests[:, free, last], after, out=rests[:, free, last])
        np.minimum(rests[:, free], NEVER, out=rests[:, free])
    return rests


def _one_way(count: int, f: Ints, b: Ints) -> Ints:
    """Return M blocks of one direction and one of the other; 0 for times that are very large."""
    longer = np.maximum(f, b)
    few = longer <= MOST_SUM // count
    return np.asarray(np.where(few, count * np.where(few, longer, 0) + np.minimum(f, b), 0))


def _stage_times(ticks: Ticks, kind: Kind, most_end: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return F, B, load and AllReduce of all stages; where there is none the load is `NEVER`."""
    sums = np.array(ticks.stages(kind))
    slack = int(sums[5][0])
    f, b, load, a = (ticks.spans(row, slack) for row in sums[:4])
    if ticks.overlapping:
        # The exchange of the last layer may begin when the backward has passed it.
        before = np.maximum(sums[4][None, :] - sums[4][:, None], 0) + slack
        before = np.concatenate([before[:, :1], before[:, :-1]], axis=1)
        a = np.maximum(a - before, 0)
    layers = np.arange(len(sums[0]))
    ends = np.append(most_end, 0)
    none = (layers[None, :] <= layers[:, None]) | (layers[None, :] > ends[:, None])
    load[none] = NEVER
    return f, b, load, a
