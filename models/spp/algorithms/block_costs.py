"""Loads of stages and channels on consecutive GPUs of an order, in arrays for PRM."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor

from ..instance import SppInstance

#: Most GPUs of an order: rates are stored for every two blocks that touch.
#: Tuned: `benchmarks/constants.py`.
MOST_GPUS = 512


class BlockCosts:
    """Loads on consecutive GPUs of an order; [i, r] are the r GPUs before position i.

    Parameters
    ----------
    instance : SppInstance
    order : sequence of int
        All GPUs.

    Attributes
    ----------
    num_layers, num_gpus : int
        L and V.
    work_s : ndarray, shape (L + 1,)
        M times forward and backward time of the first l layers on a GPU of speed 1.
    speed : ndarray, shape (V + 1, V + 1)
        Of the GPUs [i, r] together.
    allreduce_s_per_byte : ndarray, shape (V + 1, V + 1)

    Raises
    ------
    ModelRefused
        If there are too many GPUs.
    """

    instance: SppInstance
    order: list[int]
    num_gpus: int
    num_layers: int

    def __init__(self, instance: SppInstance, order: Sequence[int]):
        if len(order) > MOST_GPUS:
            raise ModelRefused(f"cluster: {len(order)} GPUs, expected at most {MOST_GPUS}")
        self.instance, self.order = instance, list(order)
        self.num_layers, self.num_gpus = instance.num_layers, len(order)
        layers, options = instance.layers, instance.options
        self._M = instance.num_microbatches
        forward = np.array([x.fwd_time_s for x in layers])
        backward = np.array([x.bwd_time_s for x in layers])
        self._backward_s = _sums(backward)
        self.work_s: Floats = self._M * _sums(forward * (1 + options.recompute) + backward)
        self._param_bytes = _sums(np.array([x.param_bytes for x in layers]))
        act = np.array([x.act_bytes for x in layers])
        grad = np.array([x.act_bytes if x.grad_bytes is None else x.grad_bytes for x in layers])
        crossing = np.maximum(act, grad) if instance.duplex == "full" else act + grad
        # Before layer l; nothing crosses before the first and after the last.
        self._transfer_bytes = np.zeros(self.num_layers + 1)
        self._transfer_bytes[1:-1] = self._M * crossing[:-1]
        latencies = 1 if instance.duplex == "full" else 2
        self._latency_s = self._M * latencies * options.transfer_latency_s
        self._memory = None if options.memory_bytes is None else _Memory.of(instance)
        #: By speed and AllReduce rate, for every layer when its AllReduce ends.
        self._latest: dict[tuple[float, float], RangeMaximum] = {}
        self._fill_blocks()

    def stage_s(self, i: int, r: Ints | int, start: Ints | int, end: Ints | int) -> Floats:
        """Return M (F + B) + A of the layers from start to end - 1 on the GPUs [i, r].

        Infinite where the stage does not fit into memory.
        """
        work_s = (self.work_s[end] - self.work_s[start]) / self.speed[i, r]
        if self.instance.options.overlap_allreduce:
            load_s = work_s + self._overlapped_s(i, r, start, end)
        else:
            params = self._param_bytes[end] - self._param_bytes[start]
            load_s = work_s + self.allreduce_s_per_byte[i, r] * params
        if self._memory is not None:
            load_s = np.where(self._memory.fits(r, start, end), load_s, math.inf)
        return np.asarray(load_s)

    def channel_s(self, i: int, r: int, most: int, cuts: slice) -> Floats:
        """Return the loads of the channel to the GPUs [i, r].

        Rows are r' = 1, 2, ..., `most` GPUs before them, columns the layers after the channel.
        """
        rates = self._transfer_s_per_byte[i - r][r - 1, :most, None]
        return np.asarray(rates * self._transfer_bytes[cuts] + self._latency_s)

    def channels_s(self, before: int, blocks: slice, most: int, cuts: slice) -> Floats:
        """Return `channel_s` to several blocks that begin at a position of the order.

        The first axis is r - 1 in `blocks`, the others are those of `channel_s`.
        """
        rates = self._transfer_s_per_byte[before][blocks, :most, None]
        return np.asarray(rates * self._transfer_bytes[cuts] + self._latency_s)

    @property
    def monotone(self) -> bool:
        """True if `stage_s` never rises with `start`: not so where a stage's input is kept."""
        return self._memory is None or not self.instance.options.recompute

    # -- rates of blocks of GPUs ---------------------------------------------------------------

    def _fill_blocks(self) -> None:
        instance, order, V = self.instance, self.order, self.num_gpus
        speeds = _sums(np.array([float(instance.cluster.gpu_speeds[v]) for v in order]))
        self.speed: Floats = np.ones((V + 1, V + 1))
        self.allreduce_s_per_byte: Floats = np.zeros((V + 1, V + 1))
        # To the r GPUs from a position on, from r' GPUs before it, at [position][r - 1, r' - 1].
        self._transfer_s_per_byte = [np.empty((V - at, at)) for at in range(V + 1)]
        self._inside = bandwidth_matrix(instance)[np.ix_(order, order)]
        for i in range(1, V + 1):
            if instance.cluster.speeds is None:
                self.speed[i, 1 : i + 1] = np.arange(1, i + 1)
            else:
                self.speed[i, 1 : i + 1] = speeds[i] - speeds[i - 1 :: -1]
            slowest, towards = math.inf, np.full(i, math.inf)
            for r in range(1, i + 1):
                slowest = min(
                    slowest, float(self._inside[i - r, i - r + 1 : i].min(initial=math.inf))
                )
                self.allreduce_s_per_byte[i, r] = self._ring(i, r, slowest)
                # Of every GPU before the block, its slowest link into the block.
                towards = np.minimum(towards[: i - r], self._inside[i - r, : i - r])
                self._transfer_s_per_byte[i - r][r - 1] = self._transfers(i, r, towards)

    def _ring(self, i: int, r: int, slowest: float) -> float:
        if isinstance(self.instance.cluster, TwoLevelCluster):
            return float(allreduce_factor(self.instance, self.order[i - r : i]))
        return 2 * (r - 1) / r / slowest

    def _transfers(self, i: int, r: int, towards: Floats) -> Floats:
        """Return the seconds per byte from r' = 1, 2, ... GPUs before the GPUs [i, r]."""
        before = np.arange(1, i - r + 1)
        slowest = np.minimum.accumulate(towards[::-1])
        if self.instance.comm_model == "pair_slice":
            return np.asarray(1 / (r * before * slowest))
        if self.instance.comm_model == "min_end":
            return np.asarray(1 / (np.minimum(r, before) * slowest))
        start, block = i - r, self.order[i - r : i]
        factors = (
            transfer_factor(self.instance, self.order[start - n : start], block)
            for n in before.tolist()
        )
        return np.array([float(x) for x in factors])

    # -- AllReduce beside the backward ---------------------------------------------------------

    def _overlapped_s(self, i: int, r: Ints | int, start: Ints | int, end: Ints | int) -> Floats:
        """Return what is left of AllReduce when the backward of the layers ends."""
        shape = np.broadcast_shapes(np.shape(r), np.shape(start), np.shape(end))
        r, start, end = (np.broadcast_to(x, shape) for x in (r, start, end))
        found = np.zeros(shape)
        for replicas in np.unique(r):
            at = r == replicas
            speed, rate = self.speed[i, replicas], self.allreduce_s_per_byte[i, replicas]
            key = (float(speed), float(rate))
            if key not in self._latest:
                # Layer k is exchanged once the backward has passed it, and then the ones before.
                reach = rate * self._param_bytes[1:] - self._backward_s[:-1] / speed
                self._latest[key] = RangeMaximum(reach)
            first = start[at]
            begin = rate * self._param_bytes[first] - self._backward_s[first] / speed
            found[at] = self._latest[key].of(first, end[at]) - begin
        return found


class RangeMaximum:
    """Maxima over ranges of an array, from a table of maxima over 1, 2, 4, ... entries."""

    def __init__(self, values: Floats):
        n = len(values)
        self._powers = np.full((max(1, n.bit_length()), n), -math.inf)
        self._powers[0] = values
        for k in range(1, len(self._powers)):
            half, reach = 2 ** (k - 1), n - 2**k + 1
            previous = self._powers[k - 1]
            if reach > 0:
                self._powers[k, :reach] = np.maximum(
                    previous[:reach], previous[half : half + reach]
                )
        self._level = np.array([max(0, length.bit_length() - 1) for length in range(n + 1)])

    def of(self, start: Ints, end: Ints) -> Floats:
        """Return the maxima over start, ..., end - 1."""
        k = self._level[end - start]
        return np.asarray(np.maximum(self._powers[k, start], self._powers[k, end - 2**k]))


@dataclass(frozen=True)
class _Memory:
    """Which stages fit into the memory of a GPU with one microbatch in flight."""

    capacity_bytes: float
    fixed_bytes: Floats
    stash_bytes: Floats
    entering_bytes: Floats = field(repr=False)

    @classmethod
    def of(cls, instance: SppInstance) -> _Memory:
        layers, options = instance.layers, instance.options
        stash = np.array([x.act_bytes if x.stash_bytes is None else x.stash_bytes for x in layers])
        entering = np.zeros(len(layers) + 1)
        if options.recompute:
            entering[1:] = [x.act_bytes for x in layers]
        return cls(
            options.memory_bytes or math.inf,
            options.weights_factor * _sums(np.array([x.param_bytes for x in layers])),
            _sums(stash),
            entering,
        )

    def fits(self, r: Ints | int, start: Ints | int, end: Ints | int) -> Floats:
        """Return True where layers start to end - 1 fit on r GPUs."""
        fixed = self.fixed_bytes[end] - self.fixed_bytes[start]
        each = self.stash_bytes[end] - self.stash_bytes[start] + self.entering_bytes[start]
        return np.asarray(fixed + each / r <= self.capacity_bytes)


def bandwidth_matrix(instance: SppInstance) -> Floats:
    """Return the bandwidth of every pair of GPUs in B/s, 0 on the diagonal. Shape (V, V)."""
    cluster = instance.cluster
    if not isinstance(cluster, TwoLevelCluster):
        return np.array(cluster.bandwidth_bytes_per_s)
    machine = np.array(cluster.machine_of)
    together = machine[:, None] == machine
    b = np.where(together, cluster.intra_bytes_per_s, cluster.inter_bytes_per_s)
    np.fill_diagonal(b, 0.0)
    return b


def _sums(amounts: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(amounts)])
