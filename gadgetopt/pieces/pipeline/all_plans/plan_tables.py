"""The times of all stages and channels of a small instance, listed from its evaluator.

A row of `stages` holds the first layer, the end, the number of a set of GPUs, the ticks of forward,
backward and AllReduce, and how many microbatches may be in flight; a row of `channels` holds the
cut, the numbers of the two sets, and the ticks of both transfers.

A tick is the largest time of which all times are multiples. If there are too many of them, times
are rounded down to coarser ticks: a lower bound on the iteration time in ticks is one then, too.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Evaluation

#: Most GPUs, rows of tables, and blocks of a model. Tuned: `benchmarks/constants.py`.
MOST_GPUS, MOST_ROWS, MOST_BLOCKS = 6, 500_000, 100_000

#: Most ticks of an iteration. By definition.
MOST_TICKS = 2**40


class MachineTimes(Protocol):
    """Seconds of a microbatch on stage 0, channel 0, stage 1, ..., and of AllReduce."""

    @property
    def forward(self) -> Sequence[Fraction]:
        """Of the forward block."""

    @property
    def backward(self) -> Sequence[Fraction]:
        """Of the backward block."""

    @property
    def allreduce(self) -> Sequence[Fraction]:
        """Of AllReduce, 0 on channels."""


@dataclass(frozen=True)
class Rules:
    """What a system's evaluator says of a plan and of its orders.

    Attributes
    ----------
    instance : PipelineInstance
    solution : callable
        The system's solution of a plan and the orders of its machines.
    times : callable
        Times of the stages of a solution, which need not be all stages.
    memory_bytes : callable
        Bytes on each GPU of stage n of a solution with k microbatches in flight.
    evaluate : callable
        The evaluator's word on a whole solution.
    """

    instance: PipelineInstance
    solution: Callable[[Plan, Sequence[Sequence[int]]], Any]
    times: Callable[[Any], MachineTimes]
    memory_bytes: Callable[[Any, int, int], Fraction]
    evaluate: Callable[[Any], Evaluation]

    def check_size(self) -> None:
        """Raise `ModelRefused` if there are more GPUs, rows or blocks than the constants say."""
        instance = self.instance
        V, L = instance.num_gpus, instance.num_layers
        if V > MOST_GPUS:
            raise ModelRefused(f"cluster: {V} GPUs, expected at most {MOST_GPUS}")
        if L * 4**V > MOST_ROWS or L * L * 2**V > MOST_ROWS:
            raise ModelRefused(f"layers: {L} on {V} GPUs are more than {MOST_ROWS} rows of tables")
        blocks = 2 * (2 * instance.most_stages - 1) * instance.num_microbatches
        if blocks > MOST_BLOCKS:
            raise ModelRefused(f"num_microbatches: {blocks} blocks, expected at most {MOST_BLOCKS}")

    def times_of(
        self, layers: tuple[tuple[int, int], ...], devices: tuple[tuple[int, ...], ...]
    ) -> MachineTimes:
        """Return the times of a stage, or of two stages and their channel."""
        return self.times(self.solution(Plan(stage_layers=layers, stage_devices=devices), ()))

    def most_in_flight(self, layers: tuple[int, int], devices: tuple[int, ...]) -> int:
        """Return how many microbatches a stage may have in flight; 0 if none fits."""
        options, most = self.instance.options, self.instance.num_microbatches
        if options.max_in_flight is not None:
            most = min(most, options.max_in_flight)
        if options.memory_bytes is None:
            return most
        alone = self.solution(Plan(stage_layers=(layers,), stage_devices=(devices,)), ())
        return bisect_right(
            range(1, most + 1),
            decimal_rational(options.memory_bytes),
            key=lambda k: self.memory_bytes(alone, 0, k),
        )


@dataclass(frozen=True)
class PlanTables:
    """All stages and channels of an instance.

    Attributes
    ----------
    sets : list of tuple of int
        All sets of GPUs; their numbers are what the rows hold.
    stages, channels : list of tuple of int
    tick_s : Fraction
        Seconds of a tick.
    horizon : int
        A shortest schedule ends within so many ticks, if there is any.
    alike : list of (int, int)
        GPUs that differ in nothing, each with the next one like it.
    """

    sets: list[tuple[int, ...]]
    stages: list[tuple[int, ...]]
    channels: list[tuple[int, ...]]
    tick_s: Fraction
    horizon: int
    alike: list[tuple[int, int]]


def plan_tables(rules: Rules, clock: Clock, known_s: Fraction | None = None) -> PlanTables | None:
    """Return the tables of an instance; None if the time is up before they are complete.

    Parameters
    ----------
    rules : Rules
    clock : Clock
    known_s : Fraction, optional
        The iteration time of a solution. Stages and channels that take longer are left out.

    Raises
    ------
    ModelRefused
        If there are more GPUs, rows or blocks than the constants say.
    """
    rules.check_size()
    gpus = range(rules.instance.num_gpus)
    sets = [c for r in range(1, len(gpus) + 1) for c in itertools.combinations(gpus, r)]
    stages, channels = _stages(rules, sets, clock), _channels(rules, sets, clock)
    if clock.expired:
        return None
    horizon_s = _horizon_s(rules.instance, stages, channels)
    if known_s is not None:
        horizon_s = min(horizon_s, known_s)
    stages, channels = (
        [row for row in rows if max(row.times) <= horizon_s] for rows in (stages, channels)
    )
    tick_s = _tick_s([row.times for row in (*stages, *channels)], horizon_s)
    return PlanTables(
        sets,
        [row.in_ticks(tick_s) for row in stages],
        [row.in_ticks(tick_s) for row in channels],
        tick_s,
        math.floor(horizon_s / tick_s),
        _alike(rules.instance),
    )


@dataclass(frozen=True)
class _Row:
    """A stage or channel, its times in seconds, and for a stage the most in flight."""

    key: tuple[int, int, int]
    times: tuple[Fraction, ...]
    most: tuple[int, ...] = ()

    def in_ticks(self, tick_s: Fraction) -> tuple[int, ...]:
        return (*self.key, *(math.floor(x / tick_s) for x in self.times), *self.most)


def _stages(rules: Rules, sets: list[tuple[int, ...]], clock: Clock) -> list[_Row]:
    """Return the stages that hold a microbatch; not all if the time is up."""
    rows = []
    for first, end in itertools.combinations(range(rules.instance.num_layers + 1), 2):
        if clock.expired:
            break
        for g, devices in enumerate(sets):
            most = rules.most_in_flight((first, end), devices)
            if most:
                found = rules.times_of(((first, end),), (devices,))
                times = (found.forward[0], found.backward[0], found.allreduce[0])
                rows.append(_Row((first, end, g), times, (most,)))
    return rows


def _channels(rules: Rules, sets: list[tuple[int, ...]], clock: Clock) -> list[_Row]:
    """Return the channels between disjoint sets; not all if the time is up."""
    rows: list[_Row] = []
    if rules.instance.most_stages == 1:
        return rows
    for cut in range(1, rules.instance.num_layers):
        if clock.expired:
            break
        for (g, x), (h, y) in itertools.permutations(enumerate(sets), 2):
            if not set(x) & set(y):
                found = rules.times_of(((cut - 1, cut), (cut, cut + 1)), (x, y))
                rows.append(_Row((cut, g, h), (found.forward[1], found.backward[1])))
    return rows


def _horizon_s(
    instance: PipelineInstance, stages: Sequence[_Row], channels: Sequence[_Row]
) -> Fraction:
    """Return seconds within which some schedule ends, if there is any.

    One stage of all layers serves one block at a time; so can every plan.
    """
    M, L, count = instance.num_microbatches, instance.num_layers, instance.most_stages
    last_set = 2**instance.num_gpus - 2  # that of all GPUs
    alone = [
        M * (row.times[0] + row.times[1]) + row.times[2]
        for row in stages
        if row.key[:2] == (0, L) and (row.key[2] == last_set or not instance.options.use_all_gpus)
    ]
    if alone:
        return min(alone)
    nothing = Fraction(0)
    stage = max((sum(row.times[:2], nothing) for row in stages), default=nothing)
    channel = max((sum(row.times, nothing) for row in channels), default=nothing)
    reduce = max((row.times[2] for row in stages), default=nothing)
    return M * (count * stage + (count - 1) * channel) + reduce


def _tick_s(rows: Sequence[tuple[Fraction, ...]], horizon_s: Fraction) -> Fraction:
    """Return the tick of which all times are multiples, or one that is small enough."""
    numbers = [x for row in rows for x in row if x]
    if not numbers:
        return Fraction(1)
    coarse = horizon_s / MOST_TICKS
    try:
        denominator = common_denominator(numbers)
    except ValueError:
        return coarse
    exact = Fraction(math.gcd(*(int(x * denominator) for x in numbers)), denominator)
    return max(exact, coarse)


def _alike(instance: PipelineInstance) -> list[tuple[int, int]]:
    """Return each GPU with the next one that can take its place in every plan."""
    found = []
    for u in range(instance.num_gpus):
        following = (v for v in range(u + 1, instance.num_gpus) if _same(instance, u, v))
        found += [(u, v) for v in itertools.islice(following, 1)]
    return found


def _same(instance: PipelineInstance, u: int, v: int) -> bool:
    cluster = instance.cluster
    if isinstance(cluster, TwoLevelCluster):
        return cluster.machine_of[u] == cluster.machine_of[v]
    b = cluster.bandwidth_bytes_per_s
    others = (w for w in range(len(b)) if w not in (u, v))
    same_speed = cluster.speeds is None or cluster.speeds[u] == cluster.speeds[v]
    return same_speed and all(b[u][w] == b[v][w] for w in others)
