r"""Seconds of a microbatch in every layer of a transformer, and what it keeps and sends.

A pass takes the longer of two times: its operations at the share `mfu` of the device's peak, and
its weights once through the device's memory,

.. math:: \max\{ FLOPs / (mfu \cdot peak),\ bytes / bandwidth \}.

`mfu` is a guess, not a measurement. On t tensor-parallel devices operations and weights are
divided by t, and a block moves :math:`8sbh(t-1)/t` bytes through the links of its box, forward and
again for the gradient of the input: two all-gathers and two reduce-scatters of its activations. A
block of experts over g devices sends :math:`2sb\,e\,h\,(g-1)/g` bytes to the experts of its tokens
and as many back, in either pass. Nothing of this is hidden behind operations.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .accelerators import Device
from .activations import (
    HALF_BYTES,
    ActivationModel,
    Recompute,
    boundary_bytes,
    kept_bytes,
)
from .architecture import Transformer
from .layers import ModelLayer, layers_of

#: Collectives of a block's tensor parallelism in one pass, each of all its activations; and of
#: embedding or head. By definition.
_BLOCK_COLLECTIVES, _END_COLLECTIVES = 4, 1
#: Exchanges of a block of experts in one pass: to the experts and back. By definition.
_EXCHANGES = 2


@dataclass(frozen=True)
class Execution:
    """How the microbatches of a model are executed.

    Attributes
    ----------
    device : Device
    sequence, microbatch : int
        Tokens s of a sequence, and sequences b of a microbatch.
    mfu : Fraction
        Share of the peak that products reach.
    tensor_parallel, expert_parallel : int
        t and g.
    tensor_bytes_per_s, expert_bytes_per_s : Fraction
        Links between the devices of either group.
    sequence_parallel : bool
    recompute : "none", "selective" or "full"
    activation_model : "formula" or "itemised"
    causal : bool
        True if attention computes the half that a causal mask leaves.
    flash_attention : bool
        True if the backward of attention recomputes the scores.
    count_activations : bool
        True if a pass also reads its input and writes its output in memory.
    param_bytes : int
        Of one parameter.
    """

    device: Device
    sequence: int
    microbatch: int
    mfu: Fraction
    tensor_parallel: int = 1
    expert_parallel: int = 1
    tensor_bytes_per_s: Fraction = Fraction(1)
    expert_bytes_per_s: Fraction = Fraction(1)
    sequence_parallel: bool = True
    recompute: Recompute = "selective"
    activation_model: ActivationModel = "formula"
    causal: bool = False
    flash_attention: bool = False
    count_activations: bool = False
    param_bytes: int = HALF_BYTES

    @property
    def tokens(self) -> int:
        """Tokens of a microbatch."""
        return self.sequence * self.microbatch


@dataclass(frozen=True)
class LayerCosts:
    """One layer, for one microbatch on one device; exact numbers.

    Attributes
    ----------
    layer : ModelLayer
    fwd_s, input_grad_s, weight_grad_s : Fraction
    param_bytes : Fraction
        Parameters that one device holds.
    boundary_bytes : Fraction
        Activations that leave the layer, and gradients that come back.
    stash_bytes, weight_stash_bytes : Fraction
        Kept from the forward on; and the part that is kept until the gradient of the weights.
    """

    layer: ModelLayer
    fwd_s: Fraction
    input_grad_s: Fraction
    weight_grad_s: Fraction
    param_bytes: Fraction
    boundary_bytes: Fraction
    stash_bytes: Fraction
    weight_stash_bytes: Fraction

    @property
    def bwd_s(self) -> Fraction:
        """Both gradients."""
        return self.input_grad_s + self.weight_grad_s


def layer_costs(model: Transformer, execution: Execution) -> tuple[LayerCosts, ...]:
    """Return what every layer of a model costs."""
    return tuple(_costs(model, layer, execution) for layer in layers_of(model))


def _costs(model: Transformer, layer: ModelLayer, how: Execution) -> LayerCosts:
    t = how.tensor_parallel
    linear = Fraction(how.microbatch * layer.linear_flops(how.sequence))
    attention = Fraction(how.microbatch * layer.attention_flops(how.sequence))
    if how.causal:
        attention /= 2
    # Nobody needs the gradient of what comes into the first layer.
    input_flops = linear + 2 * attention if layer.kind != "embedding" else Fraction(0)
    if how.flash_attention:
        input_flops += attention / 2
    dense = layer.params - layer.expert_params
    params = dense + Fraction(layer.expert_params, how.expert_parallel)
    weights = params * how.param_bytes / t
    boundary = boundary_bytes(model, how.tokens, t)
    moved = weights + (2 * boundary if how.count_activations else 0)

    def seconds(flops: Fraction) -> Fraction:
        computing = flops / t / (how.device.flop_per_s * how.mfu)
        return max(computing, moved / how.device.memory_bytes_per_s)

    exchange = _exchange_s(model, layer, how)
    fwd = seconds(linear + attention) + exchange
    input_grad = seconds(input_flops) + exchange
    if how.recompute == "full" and layer.kind == "block":
        input_grad += fwd
    kept = kept_bytes(
        model,
        layer,
        how.sequence,
        how.microbatch,
        tensor_parallel=t,
        sequence_parallel=how.sequence_parallel,
        recompute=how.recompute,
        activation_model=how.activation_model,
    )
    return LayerCosts(
        layer=layer,
        fwd_s=fwd,
        input_grad_s=input_grad,
        weight_grad_s=seconds(linear),
        param_bytes=weights,
        boundary_bytes=boundary,
        stash_bytes=kept.total,
        weight_stash_bytes=kept.until_weights,
    )


def _exchange_s(model: Transformer, layer: ModelLayer, how: Execution) -> Fraction:
    """Return the seconds of a pass in which tensor and expert parallelism exchange activations."""
    t, g = how.tensor_parallel, how.expert_parallel
    collectives = _BLOCK_COLLECTIVES if layer.kind == "block" else _END_COLLECTIVES
    tensor = collectives * HALF_BYTES * how.tokens * model.hidden * Fraction(t - 1, t)
    expert = _EXCHANGES * HALF_BYTES * how.tokens * layer.routed * Fraction(g - 1, g) / t
    return tensor / how.tensor_bytes_per_s + expert / how.expert_bytes_per_s
