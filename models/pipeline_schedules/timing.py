"""When the steps of a program are executed: earliest starts, orders of channels, the period."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from .instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from .program import Program, program_of

#: Of each step: steps that end before it starts, and the ticks between.
Waits = list[list[tuple[int, int]]]
#: Ticks to each step, or to the end of each machine; None: it does not wait for the begin.
Lengths = list[int | None]


@dataclass(frozen=True)
class Timing:
    """Earliest starts of a program, and the orders of its channels.

    Attributes
    ----------
    program : Program
    waits : list
        What each step waits for, the step before it on its machine included.
    order : list of int
        The steps, each after those that it waits for; steps that wait for ever are missing.
    starts : list of int
        In ticks.
    channels : list of list of int
        The steps of each channel in their order.
    """

    program: Program
    waits: Waits
    order: list[int]
    starts: list[int]
    channels: list[list[int]]

    @property
    def stuck(self) -> bool:
        """True if some steps wait for each other for ever."""
        return len(self.order) < len(self.starts)

    def end(self, step: int) -> int:
        """Return when a step ends."""
        return self.starts[step] + self.program.durations[step]

    @cached_property
    def machines(self) -> list[tuple[list[int], list[int]]]:
        """Of each device, copy engine and channel: its steps, and what ends its iteration."""
        program = self.program
        found = [
            (steps, [steps[-1], *ends])
            for steps, ends in zip(program.devices, program.allreduces, strict=True)
        ]
        return found + [
            (steps, [steps[-1]]) for steps in (*program.copies, *self.channels) if steps
        ]

    @cached_property
    def paths(self) -> list[Lengths]:
        """From the begin of each machine the longest paths to the starts of all steps."""
        return [self.path(steps[0]) for steps, _ in self.machines]

    def path(self, first: int) -> Lengths:
        """Return the longest paths from the start of a step to the starts of all steps."""
        durations, waits = self.program.durations, self.waits
        far: Lengths = [None] * len(waits)
        far[first] = 0
        for step in self.order:
            for other, lag in waits[step]:
                reached = far[other]
                if reached is not None:
                    reached += durations[other] + lag
                    known = far[step]
                    if known is None or reached > known:
                        far[step] = reached
        return far

    def spans(self, far: Lengths) -> Lengths:
        """Return the longest paths to the ends of all machines, from those to all steps."""
        durations = self.program.durations
        return [
            max((x + durations[end] for end in ends if (x := far[end]) is not None), default=None)
            for _, ends in self.machines
        ]


def timing_of(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> Timing:
    """Return the earliest starts for orders that hold every operation once."""
    program = program_of(instance, solution)
    waits = program.waits()
    if solution.link_orders is None:
        channels = _served(program, waits)
    else:
        channels = []
        for steps, transfers in zip(program.channels.values(), solution.link_orders, strict=True):
            number = {program.names[step]: step for step in steps}
            channels.append([number[name] for name in transfers])
    for steps in channels:
        for before, after in itertools.pairwise(steps):
            waits[after].append((before, 0))
    order = _sorted(waits)
    return Timing(program, waits, order, _longest(program, waits, order), channels)


def _followers(waits: Waits) -> list[list[tuple[int, int]]]:
    followers: list[list[tuple[int, int]]] = [[] for _ in waits]
    for step, before in enumerate(waits):
        for other, lag in before:
            followers[other].append((step, lag))
    return followers


def _sorted(waits: Waits) -> list[int]:
    """Return the steps, each after those that it waits for, as far as there is such an order."""
    followers = _followers(waits)
    missing = [len(before) for before in waits]
    order = [step for step, count in enumerate(missing) if not count]
    for step in order:  # which grows
        for after, _ in followers[step]:
            missing[after] -= 1
            if not missing[after]:
                order.append(after)
    return order


def _longest(program: Program, waits: Waits, order: Sequence[int]) -> list[int]:
    """Return the earliest starts, none before 0."""
    starts = [0] * len(waits)
    for step in order:
        starts[step] = max(
            (starts[other] + program.durations[other] + lag for other, lag in waits[step]),
            default=0,
        )
    return starts


def _served(program: Program, waits: Waits) -> list[list[int]]:
    """Return the orders of channels that serve what comes first; gradients first on ties."""
    channel_of = {s: k for k, steps in enumerate(program.channels.values()) for s in steps}
    served: list[list[int]] = [[] for _ in program.channels]
    if not channel_of:
        return served
    followers, missing = _followers(waits), [len(before) for before in waits]
    ready = [0] * len(waits)
    free = [0] * len(served)
    waiting: list[list[tuple[int, bool, int]]] = [[] for _ in served]
    events = [(0, step) for step, count in enumerate(missing) if not count]
    heapq.heapify(events)

    def start(step: int, now: int) -> None:
        end = now + program.durations[step]
        for after, lag in followers[step]:
            ready[after] = max(ready[after], end + lag)
            missing[after] -= 1
            if not missing[after]:
                heapq.heappush(events, (ready[after], after))

    while events:
        now = events[0][0]
        while events and events[0][0] == now:  # all that comes now, before a channel chooses
            _, step = heapq.heappop(events)
            if step < 0:
                continue  # a channel is free again
            if step in channel_of:
                entry = (now, "F" in program.names[step], step)
                heapq.heappush(waiting[channel_of[step]], entry)
            else:
                start(step, now)
        if events and events[0][0] == now:
            continue
        for k, queue in enumerate(waiting):
            if queue and free[k] <= now:
                _, _, step = heapq.heappop(queue)
                served[k].append(step)
                free[k] = now + program.durations[step]
                start(step, now)
                heapq.heappush(events, (free[k], -1))
    for k, steps in enumerate(program.channels.values()):  # what waits for ever comes last
        served[k] += [step for step in steps if step not in set(served[k])]
    return served


# -- the period --------------------------------------------------------------------------------


def period_of(timing: Timing) -> Fraction:
    r"""Return the least period of the orders, in ticks: a largest cycle ratio.

    Step n + 1 of training is step n, shifted by the period Z. All that links them is that a machine
    must be free: it begins no sooner than Z after its last begin, and after its last end. With
    :math:`D_{de}` the longest path from the begin of machine d to the end of machine e, these are
    :math:`x_e \ge x_d + D_{de} - Z`, which have a solution from the largest mean of a cycle of D
    on.
    """
    return _largest_cycle_mean([timing.spans(far) for far in timing.paths])


def is_period_below(timing: Timing, most: Fraction) -> bool:
    """Return True if the least period is below so many ticks.

    Mostly a machine alone says no: from its begin to its end it takes as long.
    """
    for d, (steps, _) in enumerate(timing.machines):
        span = timing.spans(timing.path(steps[0]))[d]
        if span is not None and span >= most:
            return False
    return period_of(timing) < most


def _largest_cycle_mean(length: Sequence[Sequence[int | None]]) -> Fraction:
    """Return the largest mean length of a cycle of a complete graph (Karp 1978)."""
    n = len(length)
    walks: list[list[int | None]] = [[0] * n]  # the longest walks of 0, 1, ..., n arcs to each node
    for _ in range(n):
        last = walks[-1]
        walks.append(
            [
                max(
                    (
                        x + arc
                        for x, row in zip(last, length, strict=True)
                        if x is not None and (arc := row[v]) is not None
                    ),
                    default=None,
                )
                for v in range(n)
            ]
        )
    return max(
        min(
            Fraction(longest - x, n - k)
            for k, walk in enumerate(walks[:n])
            if (x := walk[v]) is not None
        )
        for v, longest in enumerate(walks[n])
        if longest is not None
    )


def starts_of_period(timing: Timing, period: Fraction) -> list[Fraction]:
    """Return starts, in ticks, with which every machine fits into the period."""
    parts = period.denominator  # of a tick, in which all starts are whole
    rows = [
        [None if length is None else length * parts - period.numerator for length in spans]
        for spans in map(timing.spans, timing.paths)
    ]
    begin = [0] * len(rows)
    for _ in rows:  # Bellman and Ford: no cycle is longer than 0
        for d, row in enumerate(rows):
            for e, length in enumerate(row):
                if length is not None:
                    begin[e] = max(begin[e], begin[d] + length)
    return [
        Fraction(
            max(b + x * parts for b, x in zip(begin, far, strict=True) if x is not None), parts
        )
        for far in zip(*timing.paths, strict=True)
    ]
