"""Presets: equal stages in a loop or a V, and the settings of the zero-bubble scheduler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import PipelineSchedulesInstance

Placement = Literal["loop", "v"]
Aim = Literal["makespan", "period"]

#: Devices, and microseconds of F, I, W and a transfer, of models with so many parameters.
ZERO_BUBBLE = {
    "1.5B": (8, 18522, 18086, 9337, 601),
    "6.2B": (8, 29718, 29444, 19927, 527),
    "14.6B": (16, 11347, 11248, 8132, 377),
    "28.3B": (32, 10419, 10207, 7715, 408),
}
Model = Literal["1.5B", "6.2B", "14.6B", "28.3B"]


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
    devices, microbatches : int
    chunks : int
        Stages of a device.
    placement : "loop" or "v"
        The second chunks in the order of the first, or in the opposite one.
    forward_us, input_grad_us, weight_grad_us, transfer_us : int
        Of a stage.
    in_flight : int
        Memory of a device: so many microbatches of one stage; 0: as many as stages.
    objective : "makespan" or "period"
    """
    from fractions import Fraction

    from ...instance import PipelineSchedulesInstance, Route, Stage

    del rng
    for name, value, least in (
        ("devices", devices, 1),
        ("microbatches", microbatches, 1),
        ("chunks", chunks, 1),
        ("in_flight", in_flight, 0),
    ):
        if value < least:
            raise InputError(f"{name}: {value}, expected at least {least}")
    count = devices * chunks
    stages = []
    for s in range(count):
        turn, place = divmod(s, devices)
        backwards = placement == "v" and turn % 2
        stages.append(
            Stage(
                device=devices - 1 - place if backwards else place,
                fwd_s=Fraction(forward_us, 10**6),
                input_grad_s=Fraction(input_grad_us, 10**6),
                weight_grad_s=Fraction(weight_grad_us, 10**6),
                transfer_s=Fraction(transfer_us, 10**6) if s + 1 < count else Fraction(0),
                act_bytes=Fraction(1),
                weight_act_bytes=Fraction(1),
            )
        )
    return PipelineSchedulesInstance(
        num_devices=devices,
        routes=(Route(num_microbatches=microbatches, stages=tuple(stages)),),
        objective=objective,
        memory_bytes=(Fraction(in_flight or count),) * devices,
    )
