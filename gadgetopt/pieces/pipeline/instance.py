"""A planning problem: chain of layers, cluster, number of microbatches, and options."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from gadgetopt.numbers.exact import rationals
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.cluster import Cluster, MatrixCluster, TwoLevelCluster
from gadgetopt.system.data import Data, Instance, NonNegativeSize, PositiveInt, PositiveSize

#: Microbatches of an iteration, far beyond any real case: schedules list all their blocks.
MOST_MICROBATCHES = 10**5

CommModel = Literal["pair_slice", "min_end", "simple", "planner_code"]
Duplex = Literal["half", "full"]


class Layer(Data):
    """One layer, for one microbatch on one GPU of speed 1.

    Attributes
    ----------
    fwd_time_s, bwd_time_s : float
    param_bytes : float
        Parameters, and so gradients that AllReduce exchanges.
    act_bytes : float
        Activations that cross the boundary after the layer; not used of the last layer.
    grad_bytes : float, optional
        Gradients that cross the same boundary backward; by default `act_bytes`.
    stash_bytes : float, optional
        Activations kept from a microbatch's forward to its backward; by default `act_bytes`.
    """

    fwd_time_s: NonNegativeSize
    bwd_time_s: NonNegativeSize
    param_bytes: NonNegativeSize = 0.0
    act_bytes: NonNegativeSize = 0.0
    grad_bytes: NonNegativeSize | None = None
    stash_bytes: NonNegativeSize | None = None


class PipelineOptions(Data):
    """What a plan may and must do.

    Attributes
    ----------
    use_all_gpus : bool
        True if every GPU has to belong to a stage.
    max_stages : int, optional
    max_in_flight : int, optional
        Most microbatches in flight on a stage: forward started, backward not ended.
    memory_bytes : float, optional
        Memory of a GPU. With k microbatches in flight a stage on r GPUs needs
        `weights_factor * parameters + k * stash / r` on each.
    weights_factor : float
        Memory of parameters, gradients and optimiser state as a multiple of the parameters.
    recompute : bool
        True if a stage keeps only its input and repeats the forward before the backward:
        B grows by F, and the stash is the input of each microbatch in flight and one full stash.
    transfer_latency_s : float
        Added to every transfer between stages.
    overlap_allreduce : bool
        True if a layer's AllReduce may start when the last backward has passed that layer; layers
        are exchanged one after the other. What remains after the backward block is the stage's
        AllReduce time.
    nvlink_rings : bool
        True if AllReduce inside a machine runs on floor(r / 2) rings (the public DAPPLE planner).
    uniform_replicas : bool
        True if all stages have to have equally many GPUs, which PyTorch, Megatron and DeepSpeed
        need: they run a grid of stages and replicas. Files without it mean false.
    """

    use_all_gpus: bool = True
    max_stages: PositiveInt | None = None
    max_in_flight: PositiveInt | None = None
    memory_bytes: PositiveSize | None = None
    weights_factor: PositiveSize = 3.0
    recompute: bool = False
    transfer_latency_s: NonNegativeSize = 0.0
    overlap_allreduce: bool = False
    nvlink_rings: bool = False
    uniform_replicas: bool = False

    @model_serializer(mode="wrap")
    def _without_what_is_not_asked(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Write no `uniform_replicas` if it is false: files from before it stay the same."""
        plain: dict[str, Any] = write(self)
        if not self.uniform_replicas:
            plain.pop("uniform_replicas", None)
        return plain


class PipelineInstance(Instance):
    """Layers to be cut into stages on a cluster, and M microbatches to be processed.

    Attributes
    ----------
    layers : tuple of Layer
        Times and activations of one microbatch.
    num_microbatches : int
    cluster : MatrixCluster or TwoLevelCluster
    duplex : "half" or "full"
        "half": forward and backward transfers of a channel share it.
    comm_model : str
        Transfer time of d bytes from X to Y (`gadgetopt.pieces.pipeline.communication`).
    options : PipelineOptions
    """

    layers: tuple[Layer, ...] = Field(min_length=1)
    num_microbatches: Annotated[int, Field(gt=0, le=MOST_MICROBATCHES)]
    cluster: Cluster
    duplex: Duplex = "half"
    comm_model: CommModel = "pair_slice"
    options: PipelineOptions = PipelineOptions()

    @model_validator(mode="after")
    def _model_fits_cluster(self) -> Self:
        if isinstance(self.cluster, MatrixCluster):
            if self.comm_model in ("simple", "planner_code"):
                raise ValueError(f"comm_model: {self.comm_model!r} needs a cluster of two levels")
            if self.options.nvlink_rings:
                raise ValueError("options.nvlink_rings: true needs a cluster of two levels")
        return self

    @property
    def num_layers(self) -> int:
        """Number of layers L."""
        return len(self.layers)

    @property
    def num_gpus(self) -> int:
        """Number of GPUs V."""
        return self.cluster.num_gpus

    @property
    def most_stages(self) -> int:
        """Largest number of stages that a plan can have."""
        natural = min(self.num_layers, self.num_gpus)
        allowed = self.options.max_stages
        return natural if allowed is None else min(natural, allowed)

    @property
    def two_level(self) -> TwoLevelCluster | None:
        """The cluster if it has two levels, else None."""
        return self.cluster if isinstance(self.cluster, TwoLevelCluster) else None

    @cached_property
    def chain(self) -> Chain:
        """Exact numbers of the layers, and their prefix sums."""
        return Chain(self.layers)


class Chain:
    """Exact numbers of a chain of layers.

    Attributes
    ----------
    fwd_s, bwd_s, param_bytes, act_bytes, grad_bytes, stash_bytes : list of Fraction
        One number a layer; per microbatch on one GPU of speed 1.
    fwd_sum_s, bwd_sum_s, param_sum_bytes, stash_sum_bytes : list of Fraction
        Prefix sums: entry l is the sum over the layers before l. Length L + 1.
    """

    def __init__(self, layers: tuple[Layer, ...]):
        self.fwd_s: list[Fraction] = rationals(layer.fwd_time_s for layer in layers)
        self.bwd_s: list[Fraction] = rationals(layer.bwd_time_s for layer in layers)
        self.param_bytes: list[Fraction] = rationals(layer.param_bytes for layer in layers)
        self.act_bytes: list[Fraction] = rationals(layer.act_bytes for layer in layers)
        self.grad_bytes: list[Fraction] = [
            _either(layer.grad_bytes, layer.act_bytes) for layer in layers
        ]
        self.stash_bytes: list[Fraction] = [
            _either(layer.stash_bytes, layer.act_bytes) for layer in layers
        ]
        self.fwd_sum_s: list[Fraction] = _prefix_sums(self.fwd_s)
        self.bwd_sum_s: list[Fraction] = _prefix_sums(self.bwd_s)
        self.param_sum_bytes: list[Fraction] = _prefix_sums(self.param_bytes)
        self.stash_sum_bytes: list[Fraction] = _prefix_sums(self.stash_bytes)


def _either(value: float | None, default: float) -> Fraction:
    return decimal_rational(default if value is None else value)


def _prefix_sums(numbers: list[Fraction]) -> list[Fraction]:
    sums = [Fraction(0)]
    for x in numbers:
        sums.append(sums[-1] + x)
    return sums
