"""Plans of the least pivot latency: prefixes of stages, and all that is left as one last stage.

A prefix is a number of planned layers with the stages that hold them. The rest of the layers on the
rest of the GPUs completes it to a plan, so every prefix that is visited is a candidate; the empty
one is pure data parallelism. A prefix grows by one stage: its last layer, its number of GPUs, and
what the placement policies choose. Its latency depends on the whole prefix, so keeping one
prefix for each (layers, occupied GPUs) is a heuristic, and keeping all takes exponential time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.pivot_latency import Ending, PivotRule, latencies_s
from gadgetopt.pieces.pipeline.placement import Counts, Variant, choices, devices
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.search.clock import Clock

Memo = Literal["none", "best_prefix"]

#: Two latencies closer than this are equal, and the first one found stays.
#: Tuned: `benchmarks/constants.py`.
_CLOSE = 1e-12


@dataclass(frozen=True)
class LatencyPlan:
    """The plan of the least latency that was found.

    Attributes
    ----------
    plan : Plan or None
        None if no candidate fits in memory.
    latency_s : float
    candidates : int
        Plans that were evaluated.
    complete : bool
        False if the time ran out.
    """

    plan: Plan | None
    latency_s: float
    candidates: int
    complete: bool


def plan_by_latency(
    instance: PipelineInstance,
    clock: Clock,
    *,
    max_stages: int | None = None,
    memo: Memo = "none",
    pivot: PivotRule = "paper",
    ending: Ending = "derived",
    variant: Variant = "fallback",
) -> LatencyPlan:
    """Return the plan of the least pivot latency.

    Parameters
    ----------
    instance : PipelineInstance
        A matrix of bandwidths counts as one machine.
    clock : Clock
    max_stages : int, optional
        Beside the instance's own limit.
    memo : "none" or "best_prefix"
        Keep all prefixes, or for each number of layers and set of occupied GPUs the one whose
        completion has the least latency.
    pivot, ending, variant
        See `pivot_latency` and `placement`.

    Notes
    -----
    Equal latencies: fewer stages, then the shorter first stage, then fewer GPUs, then the policy.
    A candidate costs O(S), vectorised over the cuts.
    """
    most = instance.most_stages if max_stages is None else min(instance.most_stages, max_stages)
    prices = _Prices(instance)
    search = _Search(prices, instance.num_microbatches, pivot, ending, variant)
    start = _Prefix(used=(0,) * len(prices.sizes))
    search.complete_alone(start)
    level = [start]
    kept: dict[Counts, Floats] = {}
    for stages in range(2, most + 1):
        grown: list[_Prefix] = []
        for prefix in level:
            if clock.expired:
                return search.found(complete=False)
            completions = search.complete(prefix)
            if completions is None or stages == most:
                continue
            ways = np.flatnonzero(completions.fits)
            if memo == "best_prefix":
                ways = completions.improving(kept, prices.layers)
            grown.extend(completions.prefix(k) for k in ways.tolist())
        level = grown if memo == "none" else list({p.key: p for p in grown}.values())
    return search.found(complete=True)


@dataclass(frozen=True)
class _Prefix:
    """Stages of the first layers, and F, B and AR of its stages and links in seconds."""

    layers: int = 0
    used: Counts = ()
    ranges: tuple[tuple[int, int], ...] = ()
    gpus: tuple[tuple[int, ...], ...] = ()
    times: tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]] = ((), (), ())

    @property
    def key(self) -> tuple[int, Counts]:
        """What a memo knows it by."""
        return self.layers, self.used


@dataclass(frozen=True)
class _Completions:
    """A prefix grown by one stage in all ways, each completed by one stage on the rest.

    Attributes
    ----------
    of : _Prefix
    gpus, used : list
        For each choice of GPUs, the new stage's and how many of each machine are then occupied.
    choice, cut : array of int
        Choice of each way, and the layer after the new stage.
    entering : tuple of array
        Times of the link into the new stage; empty for the first stage.
    stage : tuple of array
        Times of the new stage.
    fits : array of bool
        True if the new stage fits in memory.
    latency_s : array of float
    """

    of: _Prefix
    gpus: list[tuple[int, ...]]
    used: list[Counts]
    choice: Ints
    cut: Ints
    entering: tuple[Floats, ...]
    stage: tuple[Floats, Floats, Floats]
    fits: Bools
    latency_s: Floats

    def prefix(self, k: int) -> _Prefix:
        """Return a way as a prefix."""
        c, cut = int(self.choice[k]), int(self.cut[k])
        times = []
        for t, row in enumerate(self.of.times):
            link = (float(self.entering[t][k]),) if self.entering else ()
            times.append((*row, *link, float(self.stage[t][k])))
        f, b, a = times
        ranges = (*self.of.ranges, (self.of.layers, cut))
        return _Prefix(cut, self.used[c], ranges, (*self.of.gpus, self.gpus[c]), (f, b, a))

    def improving(self, kept: dict[Counts, Floats], layers: int) -> Ints:
        """Return the ways of the least latency of their key so far, and keep these latencies.

        `kept` has an array over the numbers of layers for each set of occupied GPUs.
        """
        ways = np.arange(len(self.choice)).reshape(-1, len(self.used))
        found = []
        for c, used in enumerate(self.used):
            best = kept.setdefault(used, np.full(layers + 1, np.inf))
            own, cuts = ways[:, c], self.cut[ways[:, c]]
            better = self.fits[own] & (self.latency_s[own] < best[cuts])
            best[cuts[better]] = self.latency_s[own[better]]
            found.append(own[better])
        return np.concatenate(found)


@dataclass(frozen=True)
class _Stages:
    """GPUs of stages, one of each choice, and what their times are made of.

    Attributes
    ----------
    gpus : list
    speed : array of float
        Sum over the GPUs.
    ring : array of float
        Seconds of AllReduce per byte of parameters.
    """

    gpus: list[tuple[int, ...]]
    speed: Floats
    ring: Floats

    @cached_property
    def replicas(self) -> Ints:
        """Number of GPUs of each."""
        return np.array([len(gpus) for gpus in self.gpus])


@dataclass(frozen=True)
class _Choices:
    """What the policies offer a stage where some GPUs are occupied.

    Attributes
    ----------
    used : list
        How many GPUs of each machine are occupied after each choice.
    taken, rest : _Stages
        The stage, and one on all that it leaves.
    leaving : array of float
        Seconds per byte from the one to the other.
    """

    used: list[Counts]
    taken: _Stages
    rest: _Stages
    leaving: Floats


class _Prices:
    """Times of stages and links in doubles; arrays of one shape."""

    def __init__(self, instance: PipelineInstance):
        self.instance = instance
        cluster = instance.cluster
        self.sizes: Counts = (cluster.num_gpus,)
        if isinstance(cluster, TwoLevelCluster):
            self.sizes = cluster.gpus_per_machine
        self.layers = instance.num_layers
        chain = instance.chain
        self.fwd = np.array(chain.fwd_sum_s, dtype=float)
        self.bwd = np.array(chain.bwd_sum_s, dtype=float)
        self.params = np.array(chain.param_sum_bytes, dtype=float)
        self.stash = np.array(chain.stash_sum_bytes, dtype=float)
        self.act = np.array(chain.act_bytes, dtype=float)
        self.grad = np.array(chain.grad_bytes, dtype=float)
        self._speeds = [float(speed) for speed in cluster.gpu_speeds]
        self._transfers: dict[tuple[tuple[int, ...], tuple[int, ...]], float] = {}
        self._rings: dict[tuple[int, ...], float] = {}

    def rest(self, used: Sequence[int]) -> tuple[int, ...]:
        """Return the GPUs that are not occupied."""
        left = [size - u for size, u in zip(self.sizes, used, strict=True)]
        return devices(self.sizes, used, left)

    def on(self, gpus: list[tuple[int, ...]]) -> _Stages:
        """Return stages on these GPUs."""
        speed = np.array([sum(self._speeds[v] for v in g) for g in gpus])
        return _Stages(gpus, speed, np.array([self._ring(g) for g in gpus]))

    def stages(
        self, first: Ints, end: Ints, on: _Stages, choice: Ints
    ) -> tuple[Floats, Floats, Floats]:
        """Return F, B and AR of the stages [first, end) on the chosen GPUs.

        AR is infinite if a stage does not fit in memory.
        """
        options = self.instance.options
        speed, factor = on.speed[choice], on.ring[choice]
        forward = (self.fwd[end] - self.fwd[first]) / speed
        backward = (self.bwd[end] - self.bwd[first]) / speed
        reduce_s = factor * (self.params[end] - self.params[first])
        if options.overlap_allreduce:
            reduce_s = np.array(
                [
                    (
                        f * (self.params[i + 1 : j + 1] - self.params[i])
                        - (self.bwd[i:j] - self.bwd[i]) / v
                    ).max()
                    for i, j, f, v in zip(first, end, factor, speed, strict=True)
                ]
            )
        if options.memory_bytes is not None:
            needed = self._memory(first, end, on.replicas[choice])
            reduce_s = np.where(needed > options.memory_bytes, np.inf, reduce_s)
        return forward, backward + forward if options.recompute else backward, reduce_s

    def links(self, cut: Ints, factor: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the times of the links at cuts, of these seconds per byte."""
        latency = self.instance.options.transfer_latency_s
        forward = self.act[cut - 1] * factor + latency
        return forward, self.grad[cut - 1] * factor + latency, np.zeros(len(cut))

    def transfer(self, source: tuple[int, ...], to: tuple[int, ...]) -> float:
        """Return the seconds per byte from one stage to the next."""
        if (source, to) not in self._transfers:
            self._transfers[source, to] = float(transfer_factor(self.instance, source, to))
        return self._transfers[source, to]

    def _ring(self, gpus: tuple[int, ...]) -> float:
        if gpus not in self._rings:
            self._rings[gpus] = float(allreduce_factor(self.instance, gpus))
        return self._rings[gpus]

    def _memory(self, first: Ints, end: Ints, replicas: Ints) -> Floats:
        """Return the bytes on each GPU of a stage with one microbatch in flight."""
        held = self.stash[end] - self.stash[first]
        if self.instance.options.recompute:
            held = held + np.where(first > 0, self.act[first - 1], 0.0)
        params = self.params[end] - self.params[first]
        needed: Floats = self.instance.options.weights_factor * params + held / replicas
        return needed


class _Search:
    """The best candidate so far: its prefix, which one stage on the rest completes."""

    def __init__(
        self,
        prices: _Prices,
        microbatches: int,
        pivot: PivotRule,
        ending: Ending,
        variant: Variant,
    ):
        self.prices, self.microbatches = prices, microbatches
        self.pivot, self.ending, self.variant = pivot, ending, variant
        self.latency_s = float("inf")
        self.best: _Prefix | None = None
        self.candidates = 0
        #: By the GPUs that are occupied, and how many the next stage must have.
        self._choices: dict[tuple[Counts, int | None], _Choices | None] = {}

    def complete_alone(self, start: _Prefix) -> None:
        """Evaluate one stage on all GPUs."""
        one = np.zeros(1, dtype=int)
        on = self.prices.on([self.prices.rest(start.used)])
        only = self.prices.stages(one, one + self.prices.layers, on, one)
        latency_s = self._latencies([[row] for row in only])
        self.candidates += 1
        if np.isfinite(latency_s[0]):
            self.best, self.latency_s = start, float(latency_s[0])

    def complete(self, prefix: _Prefix) -> _Completions | None:
        """Grow a prefix by one stage in all ways, and evaluate the completions."""
        prices = self.prices
        uniform = prices.instance.options.uniform_replicas
        asked = len(prefix.gpus[0]) if uniform and prefix.gpus else None
        ends = np.arange(prefix.layers + 1, prices.layers)
        offered = self._offered(prefix.used, asked) if len(ends) else None
        if offered is None:
            return None
        gpus, count = offered.taken.gpus, len(offered.used)
        # Cut by cut, so that the first of equal latencies is the one with the least cut.
        cut = np.repeat(ends, count)
        choice = np.tile(np.arange(count), len(ends))
        stage = prices.stages(np.full(len(cut), prefix.layers), cut, offered.taken, choice)
        tail = prices.stages(cut, np.full(len(cut), prices.layers), offered.rest, choice)
        link = prices.links(cut, offered.leaving[choice])
        entering: tuple[Floats, ...] = ()
        if prefix.gpus:
            factors = np.array([prices.transfer(prefix.gpus[-1], g) for g in gpus])
            entering = prices.links(np.full(len(cut), prefix.layers), factors[choice])
        into = [[row] for row in entering] or [[], [], []]
        latency_s = self._latencies(
            [
                [*(np.full(len(cut), x) for x in before), *into[t], stage[t], link[t], tail[t]]
                for t, before in enumerate(prefix.times)
            ]
        )
        if uniform:
            uneven = offered.taken.replicas != offered.rest.replicas
            latency_s[uneven[choice]] = np.inf
        fits = np.isfinite(stage[2])
        made = _Completions(
            prefix, gpus, offered.used, choice, cut, entering, stage, fits, latency_s
        )
        self.candidates += len(cut)
        k = int(np.argmin(latency_s))
        if latency_s[k] < self.latency_s * (1 - _CLOSE) or (
            self.best is None and np.isfinite(latency_s[k])
        ):
            self.best, self.latency_s = made.prefix(k), float(latency_s[k])
        return made

    def _offered(self, occupied: Counts, asked: int | None) -> _Choices | None:
        """Return what the policies offer, of as many GPUs as are asked for; None if nothing."""
        key = occupied, asked
        if key not in self._choices:
            self._choices[key] = self._choices_of(occupied, asked)
        return self._choices[key]

    def _choices_of(self, occupied: Counts, asked: int | None) -> _Choices | None:
        prices, sizes = self.prices, self.prices.sizes
        free = sum(sizes) - sum(occupied)
        found = [
            counts
            for need in range(1, free)
            if asked is None or need == asked
            for counts in choices(sizes, occupied, need, self.variant)
        ]
        if not found:
            return None
        gpus = [devices(sizes, occupied, counts) for counts in found]
        used = [tuple(u + c for u, c in zip(occupied, counts, strict=True)) for counts in found]
        rest = [prices.rest(u) for u in used]
        leaving = np.array([prices.transfer(g, r) for g, r in zip(gpus, rest, strict=True)])
        return _Choices(used, prices.on(gpus), prices.on(rest), leaving)

    def found(self, *, complete: bool) -> LatencyPlan:
        """Return the best candidate."""
        best, plan = self.best, None
        if best is not None:
            plan = Plan(
                stage_layers=(*best.ranges, (best.layers, self.prices.layers)),
                stage_devices=(*best.gpus, self.prices.rest(best.used)),
            )
        return LatencyPlan(plan, self.latency_s, self.candidates, complete)

    def _latencies(self, rows: Sequence[Sequence[Floats]]) -> Floats:
        fwd, bwd, reduce_s = rows
        return latencies_s(fwd, bwd, reduce_s, self.microbatches, self.pivot, self.ending)
