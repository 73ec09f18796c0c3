"""Presets: equal or random stages on devices, and the settings of the zero-bubble scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np

    from ...instance import PipelineSchedulesInstance, Stage

Placement = Literal["loop", "v", "two_ways"]
Aim = Literal["makespan", "period"]

#: Devices, and microseconds of F, I, W and a transfer, of models with so many parameters.
ZERO_BUBBLE = {
    "1.5B": (8, 18522, 18086, 9337, 601),
    "6.2B": (8, 29718, 29444, 19927, 527),
    "14.6B": (16, 11347, 11248, 8132, 377),
    "28.3B": (32, 10419, 10207, 7715, 408),
}
Model = Literal["1.5B", "6.2B", "14.6B", "28.3B"]

#: Microseconds of F, I and W of each stage in the scheduler's setting with unequal stages, and of a
#: transfer.
UNEQUAL = (
    (30715, 31308, 18746),
    (29233, 29344, 18789),
    (29106, 29357, 19062),
    (29078, 29455, 19367),
    (28850, 29217, 19455),
    (28919, 29384, 19967),
    (28924, 29354, 20096),
    (41678, 38731, 32833),
)
UNEQUAL_TRANSFER = 473


@generator()
def quickstart(rng: np.random.Generator) -> PipelineSchedulesInstance:
    """Four equal stages, six microbatches, memory for four: closed at once. Nothing is drawn."""
    return equal(rng, devices=4, microbatches=6)


@generator()
def paper(
    rng: np.random.Generator,
    *,
    model: Model = "1.5B",
    devices: int = 0,
    microbatches: int = 0,
    in_flight: int = 0,
    objective: Aim = "makespan",
) -> PipelineSchedulesInstance:
    """The settings of the zero-bubble scheduler. Nothing is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    model : str
        "1.5B", "6.2B", "14.6B" or "28.3B" parameters.
    devices, microbatches : int
        0: as in the settings, three microbatches a device.
    in_flight : int
        Microbatches that a device's memory holds; 0: as many as devices.
    objective : "makespan" or "period"
    """
    count, *microseconds = ZERO_BUBBLE[model]
    count = devices or count
    return equal(
        rng,
        devices=count,
        microbatches=microbatches or 3 * count,
        forward_us=microseconds[0],
        input_grad_us=microseconds[1],
        weight_grad_us=microseconds[2],
        transfer_us=microseconds[3],
        in_flight=in_flight,
        objective=objective,
    )


@generator()
def unequal(
    rng: np.random.Generator,
    *,
    microbatches: int = 32,
    in_flight: int = 0,
    objective: Aim = "makespan",
) -> PipelineSchedulesInstance:
    """The zero-bubble scheduler's setting of eight unequal stages. Nothing is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    microbatches, in_flight, objective
        As for `equal`.
    """
    del rng
    devices = _stages_of_a_route(len(UNEQUAL), microbatches, 1, "loop")
    return _placed(
        devices, microbatches, "loop", list(UNEQUAL), UNEQUAL_TRANSFER, in_flight, objective
    )


@generator()
def equal(
    rng: np.random.Generator,
    *,
    devices: int = 4,
    microbatches: int = 8,
    chunks: int = 1,
    placement: Placement = "loop",
    forward_us: int = 1_000_000,
    input_grad_us: int = 1_000_000,
    weight_grad_us: int = 1_000_000,
    transfer_us: int = 0,
    in_flight: int = 0,
    objective: Aim = "makespan",
) -> PipelineSchedulesInstance:
    """Equal stages; each holds one byte of a microbatch until its W. Nothing is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    devices : int
    microbatches : int
        Of both directions together for "two_ways".
    chunks : int
        Stages of a device.
    placement : "loop", "v" or "two_ways"
        The second chunks in the order of the first, or in the opposite one; or two routes of
        opposite directions with half of the microbatches each, every stage on two devices.
    forward_us, input_grad_us, weight_grad_us, transfer_us : int
        Of a stage.
    in_flight : int
        Memory of a device: so many microbatches of one stage; 0: as many as stages of a route.
    objective : "makespan" or "period"
    """
    del rng
    times_us = (forward_us, input_grad_us, weight_grad_us)
    count = _stages_of_a_route(devices, microbatches, chunks, placement)
    return _placed(
        devices, microbatches, placement, [times_us] * count, transfer_us, in_flight, objective
    )


@generator()
def random(
    rng: np.random.Generator,
    *,
    devices: int = 3,
    microbatches: int = 4,
    chunks: int = 1,
    placement: Placement = "loop",
    most_s: int = 6,
    transfer_s: int = 1,
    in_flight: int = 0,
    objective: Aim = "makespan",
) -> PipelineSchedulesInstance:
    """F, I and W of each stage are drawn from 1 to 6 s; each holds one byte of a microbatch.

    Parameters
    ----------
    rng : numpy.random.Generator
    devices, microbatches, chunks, placement, in_flight, objective
        As for `equal`.
    most_s : int
        The longest time that is drawn, in whole seconds.
    transfer_s : int
    """
    if most_s < 1:
        raise InputError(f"most_s: {most_s}, expected at least 1")
    count = _stages_of_a_route(devices, microbatches, chunks, placement)
    drawn = rng.integers(1, most_s + 1, size=(count, 3)) * 10**6
    times_us = [(f, i, w) for f, i, w in drawn.tolist()]
    return _placed(
        devices, microbatches, placement, times_us, transfer_s * 10**6, in_flight, objective
    )


def _stages_of_a_route(devices: int, microbatches: int, chunks: int, placement: Placement) -> int:
    """Return how many stages a route has.

    Raises
    ------
    InputError
        If a number is too small, or the placement does not allow it.
    """
    for name, value in (
        ("devices", devices),
        ("microbatches", microbatches),
        ("chunks", chunks),
    ):
        if value < 1:
            raise InputError(f"{name}: {value}, expected at least 1")
    if placement == "two_ways" and chunks > 1:
        raise InputError(f"chunks: {chunks}, expected 1 for two_ways")
    if placement == "two_ways" and microbatches % 2:
        raise InputError(f"microbatches: {microbatches}, expected an even number for two_ways")
    return devices * chunks


def _placed(
    devices: int,
    microbatches: int,
    placement: Placement,
    times_us: list[tuple[int, int, int]],
    transfer_us: int,
    in_flight: int,
    objective: Aim,
) -> PipelineSchedulesInstance:
    """Return the instance of stages with these times of F, I and W, in the order of a route."""
    from fractions import Fraction

    from ...instance import PipelineSchedulesInstance, Route

    if in_flight < 0:
        raise InputError(f"in_flight: {in_flight}, expected at least 0")
    there_and_back = [*range(devices), *reversed(range(devices))]
    loop = 2 * list(range(devices))
    places = (there_and_back if placement == "v" else loop) * len(times_us)
    transfer_s = Fraction(transfer_us, 10**6)

    def route(places: list[int], count: int) -> Route:
        last = len(times_us) - 1
        stages = tuple(
            _stage(device, times, transfer_s if n < last else Fraction(0))
            for n, (device, times) in enumerate(zip(places, times_us, strict=False))
        )
        return Route(num_microbatches=count, stages=stages)

    if placement == "two_ways":
        half = microbatches // 2
        routes = [route(loop[:devices], half), route(loop[:devices][::-1], half)]
    else:
        routes = [route(places, microbatches)]
    return PipelineSchedulesInstance(
        num_devices=devices,
        routes=tuple(routes),
        objective=objective,
        memory_bytes=(Fraction(in_flight or len(times_us)),) * devices,
    )


def _stage(device: int, times_us: tuple[int, int, int], transfer_s: Fraction) -> Stage:
    """Return a stage that holds one byte of a microbatch until its W."""
    from fractions import Fraction

    from ...instance import Stage

    forward_s, input_grad_s, weight_grad_s = (Fraction(us, 10**6) for us in times_us)
    return Stage(
        device=device,
        fwd_s=forward_s,
        input_grad_s=input_grad_s,
        weight_grad_s=weight_grad_s,
        transfer_s=transfer_s,
        act_bytes=Fraction(1),
        weight_act_bytes=Fraction(1),
    )
