"""Instances and solutions: routes of stages over devices; the order in which each device works."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError, PydanticKnownError

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    PositiveInt,
    Rational,
    Solution,
)

from .cells import Cell, read_cell, write_cell

#: Operations of an instance: what files may ask for at most.
MOST_OPERATIONS = 1_000_000
#: Times in seconds and amounts of memory in bytes.
MOST_AMOUNT = 10**30


def _positive(value: Fraction) -> Fraction:
    if value <= 0:
        raise PydanticKnownError("greater_than", {"gt": 0.0})
    return _realistic(value)


def _realistic(value: Fraction) -> Fraction:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    if value > MOST_AMOUNT:
        raise PydanticKnownError("less_than_equal", {"le": MOST_AMOUNT})
    return value


def _is_cell(text: str) -> str:
    try:
        read_cell(text)
    except ValueError as error:
        raise PydanticCustomError("cell", "{expected}", {"expected": str(error)}) from None
    return text


PositiveAmount = Annotated[Rational, AfterValidator(_positive)]
Amount = Annotated[Rational, AfterValidator(_realistic)]
CellText = Annotated[str, AfterValidator(_is_cell)]


class Stage(Data):
    r"""A part of the model on a device; times and bytes are those of one microbatch.

    Attributes
    ----------
    device : int
        :math:`\delta(s)`. A device may hold several stages (chunks).
    fwd_s, input_grad_s, weight_grad_s : Fraction
        :math:`f_s, i_s, w_s`: forward; gradient of the input (I); gradient of the weights (W).
    transfer_s : Fraction
        :math:`c_s`: to the next stage of the route, and of the gradient back; nothing is
        transferred between stages of one device.
    act_bytes, weight_act_bytes : Fraction
        :math:`a_s \ge g_s`: held from the start of the forward on; :math:`a_s - g_s` until the end
        of I, :math:`g_s` until the end of W.
    allreduce_s : Fraction
        :math:`A_s`: AllReduce of the gradients after the last W.
    weight_group : int, optional
        Stages of one number hold the same weights: their AllReduce starts after the last W of all.
    recompute_act_bytes : Fraction, optional
        :math:`a^-_s`: held until the recomputation begins, if the forward's results are dropped;
        which takes :math:`f_s` once more. None: they cannot be.
    offload_s : Fraction, optional
        :math:`o_s`: copying :math:`a_s` to the host, and again for copying it back. None: it cannot
        be.
    fused_saving_s : Fraction, optional
        None: a cell B is I and then W, and the stage before waits for I. Else B is one operation of
        :math:`i_s + w_s` less this, and the stage before waits for its end.
    """

    device: NonNegativeInt
    fwd_s: PositiveAmount
    input_grad_s: PositiveAmount
    weight_grad_s: Amount
    transfer_s: Amount = Fraction(0)
    act_bytes: Amount = Fraction(0)
    weight_act_bytes: Amount = Fraction(0)
    allreduce_s: Amount = Fraction(0)
    weight_group: NonNegativeInt | None = None
    recompute_act_bytes: Amount | None = None
    offload_s: Amount | None = None
    fused_saving_s: Amount | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        a = self.act_bytes
        if self.weight_act_bytes > a:
            raise ValueError(f"weight_act_bytes: {self.weight_act_bytes} of {a} act_bytes")
        if self.recompute_act_bytes is not None and self.recompute_act_bytes > a:
            raise ValueError(f"recompute_act_bytes: {self.recompute_act_bytes} of {a} act_bytes")
        backward = self.input_grad_s + self.weight_grad_s
        if self.fused_saving_s is not None and self.fused_saving_s >= backward:
            raise ValueError(
                f"fused_saving_s: {self.fused_saving_s} of a backward of {backward}, "
                "expected less than it"
            )
        return self


class Route(Data):
    """A pipeline: the stages that its microbatches pass forward, and then back.

    Attributes
    ----------
    num_microbatches : int
        M, numbered from 0 on each route.
    stages : tuple of Stage
    """

    num_microbatches: PositiveInt
    stages: Annotated[tuple[Stage, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _last_stage_sends_nothing(self) -> Self:
        if self.stages[-1].transfer_s:
            last = len(self.stages) - 1
            raise ValueError(f"stages[{last}].transfer_s: {self.stages[-1].transfer_s}, expected 0")
        return self


class Overlap(Data):
    """A forward and a backward of one device that may run together, and how long both then take.

    Attributes
    ----------
    forward_stage, backward_stage : int
        Stages of one device, numbered over all routes.
    duration_s : Fraction
    """

    forward_stage: NonNegativeInt
    backward_stage: NonNegativeInt
    duration_s: PositiveAmount


#: A place where transfers go one at a time: from a device, to a device.
Channel = tuple[int, int]


class PipelineSchedulesInstance(Instance):
    """One training step of a pipeline whose stages are placed.

    Attributes
    ----------
    num_devices : int
        P; each executes one operation at a time, or an overlapped pair.
    routes : tuple of Route
        One pipeline, or several over the same devices, such as two of opposite directions. Stages
        are numbered over all routes: those of the second follow those of the first.
    objective : "makespan" or "period"
        The time until all is done; or the time from step to step if devices need not wait for each
        other between steps.
    memory_bytes : tuple of Fraction, optional
        Of each device for activations; None is unlimited.
    links : "lag", "full" or "half"
        Transfers only take time; or one at a time between two devices in each direction; or one at
        a time in both.
    allreduce_overlap : bool
        False: AllReduces of one device one after another.
    overlaps : tuple of Overlap
        Pairs of stages whose forward and backward may run together.
    """

    num_devices: PositiveInt
    routes: Annotated[tuple[Route, ...], Field(min_length=1)]
    objective: Literal["makespan", "period"] = "makespan"
    memory_bytes: tuple[Amount, ...] | None = None
    links: Literal["lag", "full", "half"] = "lag"
    allreduce_overlap: bool = True
    overlaps: tuple[Overlap, ...] = ()

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.num_operations > MOST_OPERATIONS:
            raise ValueError(
                f"routes: {self.num_operations} operations, expected at most {MOST_OPERATIONS}"
            )
        if self.num_devices > len(self.stages):
            raise ValueError(
                f"num_devices: {self.num_devices}, but the routes have {len(self.stages)} stages"
            )
        for s, stage in enumerate(self.stages):
            if stage.device >= self.num_devices:
                raise ValueError(
                    f"routes: stage {s} is on device {stage.device} of {self.num_devices}"
                )
        for d, stages in enumerate(self.stages_of_device):
            if not stages:
                raise ValueError(f"num_devices: {self.num_devices}, but device {d} has no stage")
        if self.memory_bytes is not None and len(self.memory_bytes) != self.num_devices:
            raise ValueError(
                f"memory_bytes: {len(self.memory_bytes)} entries for {self.num_devices} devices"
            )
        if not self.allreduce_overlap and any(s.weight_group is not None for s in self.stages):
            raise ValueError("allreduce_overlap: false, but stages have a weight_group")
        self._check_overlaps()
        common_denominator(self._times)
        common_denominator(self._bytes)
        return self

    def _check_overlaps(self) -> None:
        seen = set()
        for n, pair in enumerate(self.overlaps):
            f, b, count = pair.forward_stage, pair.backward_stage, len(self.stages)
            if max(f, b) >= count:
                name = "forward_stage" if f >= count else "backward_stage"
                raise ValueError(f"overlaps[{n}].{name}: {max(f, b)}, there are {count} stages")
            if self.stages[f].device != self.stages[b].device:
                raise ValueError(f"overlaps[{n}]: stages {f} and {b} lie on different devices")
            if (f, b) in seen:
                raise ValueError(f"overlaps[{n}]: stages {f} and {b} are there twice")
            seen.add((f, b))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of all routes, by their numbers."""
        return tuple(stage for route in self.routes for stage in route.stages)

    @cached_property
    def microbatches(self) -> tuple[int, ...]:
        """The number of microbatches that pass each stage."""
        return tuple(route.num_microbatches for route in self.routes for _ in route.stages)

    @cached_property
    def stages_of_route(self) -> tuple[range, ...]:
        """The numbers of each route's stages."""
        found, first = [], 0
        for route in self.routes:
            found.append(range(first, first + len(route.stages)))
            first += len(route.stages)
        return tuple(found)

    @cached_property
    def stages_of_device(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the stages on each device."""
        found: list[list[int]] = [[] for _ in range(self.num_devices)]
        for s, stage in enumerate(self.stages):
            found[stage.device].append(s)
        return tuple(map(tuple, found))

    @cached_property
    def next_stage(self) -> tuple[int | None, ...]:
        """The stage that follows each one on its route."""
        return tuple(s + 1 if s + 1 in r else None for r in self.stages_of_route for s in r)

    @cached_property
    def previous_stage(self) -> tuple[int | None, ...]:
        """The stage before each one on its route."""
        return tuple(s - 1 if s - 1 in r else None for r in self.stages_of_route for s in r)

    @property
    def num_operations(self) -> int:
        """Forwards, gradients of inputs and gradients of weights."""
        return sum(3 * route.num_microbatches * len(route.stages) for route in self.routes)

    @cached_property
    def channels(self) -> tuple[Channel, ...]:
        """The pairs of devices between which transfers go one at a time, sorted; none for lags.

        (d, e) carries what goes from d to e; with half duplex d < e, and it carries both.
        """
        if self.links == "lag":
            return ()
        found = set()
        for s, r in enumerate(self.next_stage):
            if r is not None and self.stages[s].device != self.stages[r].device:
                found |= {self.channel(s, r), self.channel(r, s)}
        return tuple(sorted(found))

    def channel(self, source: int, target: int) -> Channel:
        """Return the channel from a stage to a neighbour on another device."""
        pair = self.stages[source].device, self.stages[target].device
        return (min(pair), max(pair)) if self.links == "half" else pair

    @property
    def _times(self) -> Iterable[Fraction]:
        for stage in self.stages:
            yield from (stage.fwd_s, stage.input_grad_s, stage.weight_grad_s)
            yield from (stage.transfer_s, stage.allreduce_s)
            yield from (x for x in (stage.offload_s, stage.fused_saving_s) if x is not None)
        yield from (pair.duration_s for pair in self.overlaps)

    @property
    def _bytes(self) -> Iterable[Fraction]:
        for stage in self.stages:
            yield from (stage.act_bytes, stage.weight_act_bytes)
            if stage.recompute_act_bytes is not None:
                yield stage.recompute_act_bytes
        yield from self.memory_bytes or ()

    @cached_property
    def ticks_per_s(self) -> int:
        """The least number of ticks in a second such that all times are whole numbers of ticks."""
        return common_denominator(self._times)

    @cached_property
    def units_per_byte(self) -> int:
        """The least number of units in a byte such that all amounts of memory are whole numbers."""
        return common_denominator(self._bytes)


class PipelineSchedulesSolution(Solution):
    """The order in which each device executes its cells; each starts as early as that allows.

    Attributes
    ----------
    orders : tuple of tuple of str
        The cells of each device, such as "2F0" (`cells`).
    link_orders : tuple of tuple of str, optional
        The transfers of each channel, in the order of `channels` of the instance: "2F0" is the
        activation that forward 0 of stage 2 sends on, "2I0" the gradient that stage 2 sends back.
        None: each channel serves what comes first, gradients first on ties.
    """

    orders: tuple[tuple[CellText, ...], ...]
    link_orders: tuple[tuple[CellText, ...], ...] | None = None

    @cached_property
    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The operations of each device's cells."""
        return tuple(tuple(map(read_cell, order)) for order in self.orders)

    @classmethod
    def of(
        cls,
        cells: Iterable[Iterable[Cell]],
        link_orders: Sequence[Sequence[Cell]] | None = None,
    ) -> PipelineSchedulesSolution:
        """Return the solution with these operations, in this order on each device."""
        return cls(
            orders=tuple(tuple(map(write_cell, order)) for order in cells),
            link_orders=None
            if link_orders is None
            else tuple(tuple(map(write_cell, order)) for order in link_orders),
        )


def size(instance: PipelineSchedulesInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {
        "devices": instance.num_devices,
        "stages": len(instance.stages),
        "microbatches": sum(route.num_microbatches for route in instance.routes),
        "operations": instance.num_operations,
    }
