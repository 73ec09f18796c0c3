"""What importers of configurations are told: sequence, cluster, parallelism, training state."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.cluster import MOST_GPUS_OF_A_MACHINE

from .accelerators import Box, Catalogue, Device, read_catalogue
from .activations import HALF_BYTES, ActivationModel, Recompute, training_bytes
from .architecture import Transformer
from .times import Execution


class MachineOptions(BaseModel):
    """The machines, and what is assumed of them. Text is converted.

    Attributes
    ----------
    cluster, device : str
        A box and an accelerator of the tables. Of one the other follows: the box's device, or the
        first box that has the device. If both are given, the box has that device instead.
    machines, gpus_per_machine : int
        Boxes, and GPUs of each; 0: as many as the box has.
    devices : str
        A file of one's own devices and boxes, in the form of `accelerators.toml`.
    mfu : float
        Share of the peak that products reach: a guess unless it was measured.
    weights_factor : float
        Bytes of the training state by those of the parameters; 0: from the next two.
    gradient_bytes, optimizer_shards : int
        Bytes of a gradient, 2 or 4, and devices over which the optimiser's state is divided.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    cluster: str = ""
    device: str = ""
    machines: int = Field(default=1, ge=1, le=10_000)
    gpus_per_machine: int = Field(default=0, ge=0, le=MOST_GPUS_OF_A_MACHINE)
    devices: str = ""
    mfu: float = Field(default=0.5, gt=0, le=1)
    weights_factor: float = Field(default=0.0, ge=0, le=1e6)
    gradient_bytes: Literal[2, 4] = 2
    optimizer_shards: int = Field(default=1, ge=1, le=10**6)

    def target(self) -> Target:
        """Return the machines.

        Raises
        ------
        InputError
            If a name is not in the tables, or none is given.
        """
        tables = read_catalogue(Path(self.devices) if self.devices else None)
        name = self.cluster or _box_of(tables, self.device)
        box = tables.box(name)
        own = self.device or box.device
        gpus = self.gpus_per_machine or box.gpus
        return Target(own, tables.device(own), name, box, self.machines, gpus)

    @property
    def state_factor(self) -> float:
        """Bytes of the training state by those of the parameters."""
        state = training_bytes(self.gradient_bytes, self.optimizer_shards) / HALF_BYTES
        return self.weights_factor or float(state)


class ModelOptions(MachineOptions):
    """Options of every importer of configurations.

    Attributes
    ----------
    seq : int
        Tokens of a sequence; 0: as many as the model has positions.
    """

    seq: int = Field(default=0, ge=0, le=10**8)

    def sequence(self, model: Transformer) -> int:
        """Return the tokens of a sequence of a model.

        Raises
        ------
        InputError
            If the model has another number of tokens, fewer positions, or leaves them open.
        """
        fixed = model.fixed_sequence
        if fixed is not None:
            if self.seq not in (0, fixed):
                raise InputError(f"seq: {self.seq}, but an image has {fixed} tokens")
            return fixed
        if model.learned_positions and self.seq > model.learned_positions:
            raise InputError(
                f"seq: {self.seq}, but {model.family} has {model.learned_positions} positions"
            )
        if self.seq or model.learned_positions:
            return self.seq or model.learned_positions
        raise InputError("seq: is missing, expected the tokens of a sequence, such as seq=4096")


class LayerOptions(ModelOptions):
    """Options of importers that need times and memory of single layers.

    Attributes
    ----------
    microbatch : int
        Sequences b of a microbatch.
    microbatches : int
        M, of one replica of the pipeline.
    tensor_parallel, expert_parallel : int
        t and g.
    sequence_parallel : bool
    recompute : "none", "selective" or "full"
    activation_model : "formula" or "itemised"
    causal, flash_attention, count_activations : bool
    limit_memory : bool
        False: the devices' memory limits nothing.
    """

    microbatch: int = Field(default=1, ge=1, le=10**6)
    microbatches: int = Field(default=16, ge=1)
    tensor_parallel: int = Field(default=1, ge=1, le=MOST_GPUS_OF_A_MACHINE)
    expert_parallel: int = Field(default=1, ge=1, le=10**6)
    sequence_parallel: bool = True
    recompute: Recompute = "selective"
    activation_model: ActivationModel = "formula"
    causal: bool = False
    flash_attention: bool = False
    count_activations: bool = False
    limit_memory: bool = True

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.activation_model == "itemised" and self.recompute == "none":
            raise ValueError(
                "activation_model: itemised keeps no scores of attention, "
                "expected recompute=selective or full"
            )
        return self

    def execution(self, model: Transformer, target: Target) -> Execution:
        """Return how the microbatches of a model are executed.

        Raises
        ------
        InputError
            If a degree of parallelism does not divide what it has to.
        """
        t, g = self.tensor_parallel, self.expert_parallel
        if target.gpus % t:
            raise InputError(
                f"tensor_parallel: {t} does not divide {target.gpus} GPUs of a machine"
            )
        if model.attention.heads % t:
            raise InputError(f"tensor_parallel: {t} does not divide {model.attention.heads} heads")
        if g > 1 and (model.experts is None or model.experts.count % g):
            count = 0 if model.experts is None else model.experts.count
            raise InputError(f"expert_parallel: {g} does not divide {count} experts")
        if t * g > target.gpus * target.machines:
            raise InputError(f"expert_parallel: {g} groups of {t} GPUs are more than there are")
        inside = target.device.link_bytes_per_s
        return Execution(
            device=target.device,
            sequence=self.sequence(model),
            microbatch=self.microbatch,
            mfu=decimal_rational(self.mfu),
            tensor_parallel=t,
            expert_parallel=g,
            tensor_bytes_per_s=inside,
            expert_bytes_per_s=inside if t * g <= target.gpus else target.box.nic_bytes_per_s,
            sequence_parallel=self.sequence_parallel,
            recompute=self.recompute,
            activation_model=self.activation_model,
            causal=self.causal,
            flash_attention=self.flash_attention,
            count_activations=self.count_activations,
        )


@dataclass(frozen=True)
class Target:
    """The machines on which a model is to run."""

    device_name: str
    device: Device
    box_name: str
    box: Box
    machines: int
    gpus: int

    def origin(self) -> dict[str, Any]:
        """Return what is to be known of the machines, with the sources of their numbers."""
        return {
            "device": {"name": self.device_name, **self.device.model_dump()},
            "cluster": {"name": self.box_name, **self.box.model_dump()},
        }

    @property
    def slowest_bytes_per_s(self) -> Fraction:
        """The link inside a box, or between boxes if there are several."""
        inside, between = self.device.link_bytes_per_s, self.box.nic_bytes_per_s
        return inside if self.machines == 1 else min(inside, between)


def _box_of(tables: Catalogue, device: str) -> str:
    """Return the first box that has a device."""
    if not device:
        raise InputError(f"cluster: is missing, expected one of {', '.join(tables.boxes)}")
    tables.device(device)
    for name, box in tables.boxes.items():
        if box.device == device.lower():
            return name
    raise InputError(
        f"cluster: is missing, and no box of the tables has {device}; "
        f"expected one of {', '.join(tables.boxes)}"
    )
