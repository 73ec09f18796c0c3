r"""Times of every possible stage and transfer, and bounds on what the rest of a plan still costs.

Times are whole ticks, rounded down. The bounds that the search computes from them are therefore
lower bounds, in 64-bit integers, whatever the instance's numbers are: no floating point, no
overflow.

Completion bounds. Let a plan be complete up to layer l, with n GPUs free and a last stage on r.
For the machines q that follow, with head $h_q$, load and sum of backward times $t_q$ counted from
there,

.. math:: u = \max_q (h_q + load_q + t_q), \qquad
  v = \max_q \big(h_q + load_q + \max_{s \le q} (\textstyle\sum_{i=s}^{q-1} b_i + a_s)\big),

the final bound is at least max(head + Z + u, head + v): a following machine's tail passes back to
the stages before l, or ends in a following stage. Least values of u and v over all continuations
follow by recursion from the end: a stage (F, B, A) in front makes
$u' = \max(load, F + B + u)$ and $v' = \max(load + A, F + \max(v, B + A + u))$. They are computed
for continuations whose stages and links are as good as any with so many replicas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.all_plans.device_rules import Kind
from gadgetopt.pieces.pipeline.all_plans.device_states import DeviceStates
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import most_in_flight

#: Ticks of the reference time. By definition.
REFERENCE_TICKS = 2**42
#: Times beyond this many ticks are cut to it: no plan with one can be of interest. By definition.
LONGEST = 2**50
#: Stands for "impossible". By definition.
NEVER = 2**58


@dataclass(frozen=True)
class StageTable:
    """Times of all stages on one kind of device set; entry [first, end], shapes (L+1, L+1).

    `load` is M (F + B); it is `NEVER` where the stage is empty or does not fit in memory.
    """

    fwd: Ints
    bwd: Ints
    allreduce: Ints
    load: Ints


@dataclass(frozen=True)
class LinkTable:
    """Transfer times over one kind of link, by the layer that follows; shapes (L+1,)."""

    fwd: Ints
    bwd: Ints
    load: Ints


class StageTables:
    """Tables of one instance, computed when they are asked for.

    Parameters
    ----------
    instance : PipelineInstance
    reference_s : Fraction
        A time of the order of the least makespan, and not longer.
    """

    def __init__(self, instance: PipelineInstance, reference_s: Fraction):
        self.instance = instance
        self.tick_s: Fraction = reference_s / REFERENCE_TICKS
        self.count: int = instance.num_microbatches
        self.full_duplex: bool = instance.duplex == "full"
        self._stages: dict[Kind, StageTable] = {}
        self._links: dict[Fraction, LinkTable] = {}

    def stages(self, kind: Kind) -> StageTable:
        """Return the times of all stages on a kind of device set."""
        if kind not in self._stages:
            self._stages[kind] = self._stage_table(kind)
        return self._stages[kind]

    def least_times(self, speed: Fraction) -> tuple[Ints, Ints]:
        """Return the times of the first layers at a speed, forward and backward, at least."""
        chain = self.instance.chain
        return self._rounded(chain.fwd_sum_s, 1 / speed)[0], self._rounded(
            chain.bwd_sum_s, 1 / speed
        )[0]

    def links(self, factor: Fraction) -> LinkTable:
        """Return the times of all transfers at some seconds per byte."""
        if factor not in self._links:
            self._links[factor] = self._link_table(factor)
        return self._links[factor]

    def _stage_table(self, kind: Kind) -> StageTable:
        chain, options = self.instance.chain, self.instance.options
        backward = chain.bwd_sum_s
        if options.recompute:
            backward = [f + b for f, b in zip(chain.fwd_sum_s, chain.bwd_sum_s, strict=True)]
        both = [f + b for f, b in zip(chain.fwd_sum_s, backward, strict=True)]
        fwd = self._differences(chain.fwd_sum_s, 1 / kind.speed)
        bwd = self._differences(backward, 1 / kind.speed)
        load = self._differences(both, self.count / kind.speed)
        if options.overlap_allreduce:
            allreduce = self._left_of_allreduce(kind)
        else:
            allreduce = self._differences(chain.param_sum_bytes, kind.allreduce_factor)
        layers = np.arange(self.instance.num_layers + 1)
        load[layers[:, None] >= layers[None, :]] = NEVER
        self._forbid_large(load, kind.replicas)
        return StageTable(fwd, bwd, allreduce, load)

    def _differences(self, sums: list[Fraction], factor: Fraction) -> Ints:
        """Return entry [i, j]: at most factor * (sums[j] - sums[i]) ticks, at least 0."""
        low, high = self._rounded(sums, factor)
        differences: Ints = np.clip(low[None, :] - high[:, None], 0, LONGEST)
        return differences

    def _rounded(self, sums: list[Fraction], factor: Fraction) -> tuple[Ints, Ints]:
        """Return factor * sums in ticks, rounded down and up, at most 2^60 of them."""
        scaled = [min(x * factor / self.tick_s, Fraction(2**60)) for x in sums]
        low = np.array([floor(x) for x in scaled], dtype=np.int64)
        return low, low + np.array([x.denominator > 1 for x in scaled], dtype=np.int64)

    def _left_of_allreduce(self, kind: Kind) -> Ints:
        """Return what is left of AllReduce after the backward block, if they overlap."""
        chain = self.instance.chain
        grads_low, grads_high = self._rounded(chain.param_sum_bytes, kind.allreduce_factor)
        past_low, past_high = self._rounded(chain.bwd_sum_s, 1 / kind.speed)
        size = len(grads_low)
        left = np.zeros((size, size), dtype=np.int64)
        ends = grads_low[1:] - past_high[:-1]
        for first in range(size - 1):
            latest = np.maximum.accumulate(ends[first:])
            left[first, first + 1 :] = latest - grads_high[first] + past_low[first]
        return np.clip(left, 0, LONGEST)

    def _forbid_large(self, load: Ints, replicas: int) -> None:
        """Mark stages that do not fit in memory; a longer stage never fits better."""
        if self.instance.options.memory_bytes is None:
            return
        layers = self.instance.num_layers
        for first in range(layers):
            low, high = first, layers  # the last end that fits lies in low..high; low if none
            while low < high:
                middle = (low + high + 1) // 2
                if most_in_flight(self.instance, first, middle, replicas) >= 1:
                    low = middle
                else:
                    high = middle - 1
            load[first, low + 1 :] = NEVER

    def _link_table(self, factor: Fraction) -> LinkTable:
        chain = self.instance.chain
        latency = decimal_rational(self.instance.options.transfer_latency_s)
        sizes = zip(chain.act_bytes, chain.grad_bytes, strict=True)
        pairs = [(d * factor + latency, g * factor + latency) for d, g in sizes]
        f = self._ticks([x for x, _ in pairs])
        b = self._ticks([x for _, x in pairs])
        if self.full_duplex:
            # Without the rest of the pipeline's times, which the search adds later.
            loads = [max(self.count * x + y, x + self.count * y) for x, y in pairs]
        else:
            loads = [self.count * (x + y) for x, y in pairs]
        return LinkTable(f, b, self._ticks(loads))

    def _ticks(self, times_s: list[Fraction]) -> Ints:
        """Return times after layers 0..L-1 in ticks, rounded down, by the layer that follows."""
        ticks = [0, *(floor(min(x / self.tick_s, Fraction(LONGEST))) for x in times_s)]
        return np.array(ticks, dtype=np.int64)


class Completions:
    """Lower bounds u and v, and on the sum w of all forward and backward times still to come.

    Attributes
    ----------
    u, v, w : array of int, shape (V + 1, V + 1, L + 1)
        By free GPUs, replicas of the last stage (0: none yet), and layers done.
    """

    u: Ints
    v: Ints
    w: Ints

    def __init__(self, tables: StageTables):
        self.tables = tables
        instance = tables.instance
        gpus, layers = instance.num_gpus, instance.num_layers
        shape = (gpus + 1, gpus + 1, layers + 1)
        self.u, self.v, self.w = (np.full(shape, NEVER, dtype=np.int64) for _ in range(3))
        done = 0 if instance.options.use_all_gpus else slice(None)
        for table in (self.u, self.v, self.w):
            table[done, :, layers] = 0
        for free in range(1, gpus + 1):
            self._fill(free)

    @property
    def bounds(self) -> tuple[Ints, Ints, Ints]:
        """The three tables."""
        return self.u, self.v, self.w

    def _fill(self, free: int) -> None:
        """Fill the tables for a number of free GPUs from those of fewer."""
        gpus = self.tables.instance.num_gpus
        for r in range(1, free + 1):
            stage = self.tables.stages(self.best_kinds[r])
            u, v, w = (x[free - r, r][None, :] for x in (self.u, self.v, self.w))
            time, reduce = stage.fwd + stage.bwd, stage.allreduce
            front_u = np.maximum(stage.load, time + u).min(axis=1)
            later_v = stage.fwd + np.maximum(v, stage.bwd + reduce + u)
            front_v = np.maximum(stage.load + reduce, later_v).min(axis=1)
            front_w = np.where(stage.load < NEVER, time + w, NEVER).min(axis=1)
            _lower(self.u[free, 0], front_u)
            _lower(self.v[free, 0], front_v)
            _lower(self.w[free, 0], front_w)
            uniform = self.tables.instance.options.uniform_replicas
            for last in range(1, gpus - free + 1):
                if uniform and last != r:
                    continue
                link = self.tables.links(self.best_links[last][r])
                passing = link.fwd + link.bwd
                _lower(self.u[free, last], np.maximum(link.load, passing + front_u))
                _lower(self.v[free, last], link.fwd + front_v)
                _lower(self.w[free, last], passing + front_w)
        for table in (self.u, self.v, self.w):
            np.minimum(table, NEVER, out=table)

    @cached_property
    def best_kinds(self) -> dict[int, Kind]:
        """For each number of replicas a kind of device set that is as good as any."""
        instance = self.tables.instance
        speeds = sorted(instance.cluster.gpu_speeds, reverse=True)
        factors = _least_allreduce(instance)
        numbers = range(1, instance.num_gpus + 1)
        return {r: Kind(sum(speeds[:r], Fraction(0)), factors[r], r) for r in numbers}

    @cached_property
    def best_links(self) -> dict[int, dict[int, Fraction]]:
        """For both numbers of replicas, seconds per byte that no link undercuts."""
        instance = self.tables.instance
        gpus = range(1, instance.num_gpus + 1)
        fastest = _fastest_links(instance)
        model = instance.comm_model
        best: dict[int, dict[int, Fraction]] = {}
        for last in gpus:
            best[last] = {}
            for r in gpus:
                shares = last * r if model == "pair_slice" else min(last, r)
                best[last][r] = fastest(last, r) / (
                    shares if model in ("pair_slice", "min_end") else 1
                )
        return best


def _lower(table: Ints, values: Ints) -> None:
    np.minimum(table, values, out=table)


def _least_allreduce(instance: PipelineInstance) -> dict[int, Fraction]:
    """Return the least AllReduce seconds per byte on each number of replicas."""
    states = DeviceStates(instance)
    least: dict[int, Fraction] = {}
    for option in states.options(states.start):
        kind = states.kinds[option.kind]
        least[kind.replicas] = min(
            kind.allreduce_factor, least.get(kind.replicas, kind.allreduce_factor)
        )
    return least


def _fastest_links(instance: PipelineInstance) -> Callable[[int, int], Fraction]:
    """Return a function of two numbers of replicas: the least seconds per byte of any pair."""
    cluster = instance.cluster
    if not isinstance(cluster, TwoLevelCluster):
        gpus = range(cluster.num_gpus)
        best = 1 / max(
            (cluster.bandwidth(u, v) for u in gpus for v in gpus if u < v), default=Fraction(1)
        )
        return lambda last, r: best
    exact, largest = cluster.exact, max(cluster.gpus_per_machine)
    options = (exact.intra, exact.inter)

    def fastest(last: int, r: int) -> Fraction:
        if last + r <= largest:
            together = 1 / max(*options, exact.multi_inter)
            if instance.comm_model != "planner_code":
                return together
            # All but one of the earlier stage's GPUs may be where the later stage is.
            return min(together, 1 / (last * exact.inter))
        if instance.comm_model != "planner_code":
            return 1 / exact.inter
        # The earlier stage may lie in the later one's machine but for one GPU.
        inside = min(last - 1, largest - r)
        candidates = [1 / exact.multi_inter]
        if r <= largest:
            candidates.append(Fraction(last - max(0, inside)) / (last * exact.inter))
        return min(candidates)

    return fastest


def least_work_s(instance: PipelineInstance) -> Fraction:
    """Return a lower bound on the makespan of all plans; 1 s if all times are 0."""
    chain = instance.chain
    work = chain.fwd_sum_s[-1] + chain.bwd_sum_s[-1]
    least = instance.num_microbatches * work / sum(instance.cluster.gpu_speeds, Fraction(0))
    return least or Fraction(1)
