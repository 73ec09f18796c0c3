"""The numbers of an instance without options as whole ticks and units of memory: a shop.

What can be computed from them at once lies here too: heads, and what a microbatch waits for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from gadgetopt.errors import ModelRefused

from .instance import PipelineSchedulesInstance

#: Sums of ticks and of units of memory stay far below 64 bits where machines add them up.
#: By definition.
MOST_TICKS = 2**50
MOST_UNITS = 2**50


@dataclass(frozen=True)
class Shop:
    r"""Stages on devices, in ticks and units of memory.

    Attributes
    ----------
    device : tuple of int
        Of each stage.
    routes : tuple of range
        The stages of each route.
    microbatches : tuple of int
        Of each stage.
    f, i, w : tuple of int
        Of each stage.
    lag : tuple of int
        :math:`c_s` to the next stage of the route; 0 on the same device, and of the last one.
    a, g : tuple of int
    allreduce : tuple of int
    capacity : tuple of int or None
        Of each device.
    period : bool
        True if the period is to be shortest, not the makespan.
    links : str
    groups : tuple of int or None
        Of each stage: those of one number share their weights.
    """

    device: tuple[int, ...]
    routes: tuple[range, ...]
    microbatches: tuple[int, ...]
    f: tuple[int, ...]
    i: tuple[int, ...]
    w: tuple[int, ...]
    lag: tuple[int, ...]
    a: tuple[int, ...]
    g: tuple[int, ...]
    allreduce: tuple[int, ...]
    capacity: tuple[int, ...] | None
    period: bool
    links: str
    groups: tuple[int | None, ...]

    @cached_property
    def on_device(self) -> tuple[tuple[int, ...], ...]:
        """The stages of each device."""
        found: list[list[int]] = [[] for _ in range(max(self.device) + 1)]
        for s, d in enumerate(self.device):
            found[d].append(s)
        return tuple(map(tuple, found))

    @cached_property
    def route_of(self) -> tuple[range, ...]:
        """The stages of each stage's route."""
        return tuple(route for route in self.routes for _ in route)

    @cached_property
    def head(self) -> tuple[int, ...]:
        r"""The earliest start of F on each stage: :math:`h_s = \sum_{r<s} (f_r + c_r)`."""
        found: list[int] = []
        for route in self.routes:
            found.append(0)
            for s in route[:-1]:
                found.append(found[-1] + self.f[s] + self.lag[s])
        return tuple(found)

    @cached_property
    def between(self) -> tuple[int, ...]:
        r"""From the end of F to the start of I of one microbatch on each stage, at least.

        :math:`R_s = \sum_{r > s} (f_r + i_r) + 2 \sum_{r \ge s} c_r`.
        """
        found = [0] * len(self.device)
        for route in self.routes:
            for s in reversed(route[:-1]):
                found[s] = found[s + 1] + self.f[s + 1] + self.i[s + 1] + 2 * self.lag[s]
        return tuple(found)

    def load(self, s: int) -> int:
        """Return the work of all microbatches on a stage."""
        return self.microbatches[s] * (self.f[s] + self.i[s] + self.w[s])

    def first_of(self, device: int, route: range) -> int | None:
        """Return the first stage of a route on a device."""
        return next((s for s in self.on_device[device] if s in route), None)

    @cached_property
    def horizon(self) -> int:
        """A time by which some schedule ends, if there is one: one operation after another."""
        transfers = sum(2 * n * lag for n, lag in zip(self.microbatches, self.lag, strict=True))
        return sum(map(self.load, range(len(self.device)))) + transfers + max(self.allreduce)

    @property
    def most_denominator(self) -> int:
        """The largest denominator, in ticks, of a makespan or period of any orders.

        A period is the mean of a cycle through the begins of devices and links, each at most once.
        """
        if not self.period:
            return 1
        pairs = len({(self.device[s], self.device[s + 1]) for r in self.routes for s in r[:-1]})
        return len(self.on_device) + (0 if self.links == "lag" else 2 * pairs)


def next_below(value: Fraction, most_denominator: int) -> Fraction:
    """Return the largest fraction below a value with a denominator up to this."""
    return max(Fraction(math.ceil(value * q) - 1, q) for q in range(1, most_denominator + 1))


def shop_of(instance: PipelineSchedulesInstance) -> Shop:
    """Return the shop of an instance.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W: recompute, offload, fuse or overlap them.
    """
    for s, stage in enumerate(instance.stages):
        for option in ("recompute_act_bytes", "offload_s", "fused_saving_s"):
            if getattr(stage, option) is not None:
                raise ModelRefused(f"{option}: given for stage {s}; for F, I and W as they are")
    if instance.overlaps:
        raise ModelRefused("overlaps: pairs may run together; for F, I and W one at a time")
    if not instance.allreduce_overlap and max(map(len, instance.stages_of_device)) > 1:
        raise ModelRefused("allreduce_overlap: false, with several stages on a device")

    def ticks(seconds: Fraction) -> int:
        return int(seconds * instance.ticks_per_s)

    def units(amount: Fraction) -> int:
        return int(amount * instance.units_per_byte)

    stages, follows = instance.stages, instance.next_stage
    leaves = [r is not None and stages[r].device != stages[s].device for s, r in enumerate(follows)]
    memory = instance.memory_bytes
    return Shop(
        device=tuple(stage.device for stage in stages),
        routes=instance.stages_of_route,
        microbatches=instance.microbatches,
        f=tuple(ticks(stage.fwd_s) for stage in stages),
        i=tuple(ticks(stage.input_grad_s) for stage in stages),
        w=tuple(ticks(stage.weight_grad_s) for stage in stages),
        lag=tuple(ticks(stage.transfer_s) if leaves[s] else 0 for s, stage in enumerate(stages)),
        a=tuple(units(stage.act_bytes) for stage in stages),
        g=tuple(units(stage.weight_act_bytes) for stage in stages),
        allreduce=tuple(ticks(stage.allreduce_s) for stage in stages),
        capacity=None if memory is None else tuple(map(units, memory)),
        period=instance.objective == "period",
        links=instance.links,
        groups=tuple(stage.weight_group for stage in stages),
    )


def without_options(instance: PipelineSchedulesInstance) -> PipelineSchedulesInstance:
    """Return the instance with F, I and W as they are; its schedules are schedules of both."""
    none = {"recompute_act_bytes": None, "offload_s": None, "fused_saving_s": None}
    routes = tuple(
        route.model_copy(
            update={"stages": tuple(stage.model_copy(update=none) for stage in route.stages)}
        )
        for route in instance.routes
    )
    return instance.model_copy(update={"routes": routes, "overlaps": (), "allreduce_overlap": True})


def horizon_of(shop: Shop, most: int) -> int:
    """Return a time by which everything may end if Z is at most `most`.

    For a period, device d works from its begin for Z. On one route whose first stage begins at 0,
    that stage's last I is after all other forwards began: all devices begin by Z. On several, a
    device that began later than Z and a transfer after all others could begin earlier.
    """
    if not shop.period:
        return most
    if len(shop.routes) == 1:
        return 2 * most
    return len(shop.on_device) * (most + max(shop.lag))
