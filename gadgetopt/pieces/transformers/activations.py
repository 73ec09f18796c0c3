r"""Bytes that a layer keeps for its backward, and bytes of a parameter's training state.

Of a block, for b sequences of s tokens on each of t tensor-parallel devices, in 16 bits
(Korthikanti et al., arXiv 2205.05198; blocks of GPT with dropout, feed-forward four times as wide):

.. math::

    sbh \Big(\frac{34}{t} + \frac{5as}{ht}\Big) \text{ none}, \qquad
    \frac{34\,sbh}{t} \text{ selective}, \qquad 2sbh \text{ full recomputation},

and without sequence parallelism 10 of the 34 are not divided by t. `itemised` adds up what the
blocks of other models keep, which attention of the kind of FlashAttention writes: inputs and
outputs of the norms, queries, keys, values and output of the attention, its log-sum-exps, and what
is inside the feed-forward or the chosen experts.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from .architecture import Transformer
from .layers import ModelLayer

Recompute = Literal["none", "selective", "full"]
ActivationModel = Literal["formula", "itemised"]

#: Bytes of an activation, and of a parameter, in 16 bits. By definition.
HALF_BYTES = 2
#: Bytes of a logit, which the loss keeps in 32 bits. By definition.
LOGIT_BYTES = 4
#: Of 34 h, what is kept beside the norms' inputs, and what not even tensor parallelism divides
#: without sequence parallelism (Korthikanti et al.). By definition.
_ALL, _UNDIVIDED = 34, 10
#: Of 34 h, what the weights' gradients need; the rest is released after the gradient of the input
#: (settings of zero bubble pipelines). By definition.
_UNTIL_WEIGHTS = 32
#: Bytes of a parameter for Adam in mixed precision: 32-bit master copy, momentum and variance
#: (recalled). By definition.
_ADAM_BYTES = 12


def boundary_bytes(model: Transformer, tokens: int, tensor_parallel: int = 1) -> Fraction:
    """Return what crosses the boundary after any layer, forward or backward, of one device."""
    return Fraction(HALF_BYTES * tokens * model.hidden, tensor_parallel)


@dataclass(frozen=True)
class Kept:
    """Bytes that one device keeps of a microbatch in a layer.

    Attributes
    ----------
    total : Fraction
        From the forward on.
    until_weights : Fraction
        The part that the gradient of the weights still needs; the rest is released after the
        gradient of the input.
    """

    total: Fraction
    until_weights: Fraction


def kept_bytes(
    model: Transformer,
    layer: ModelLayer,
    sequence: int,
    microbatch: int,
    *,
    tensor_parallel: int = 1,
    sequence_parallel: bool = True,
    recompute: Recompute = "selective",
    activation_model: ActivationModel = "formula",
) -> Kept:
    """Return what a layer keeps of a microbatch on one device.

    The embedding keeps its output; the head keeps the inputs of its norm and of its product, and
    the logits. Of a block, the formula's scores and 2 of its 34 h are released early; of the
    itemised bytes nothing is.
    """
    tokens, t = sequence * microbatch, tensor_parallel
    boundary = HALF_BYTES * tokens * model.hidden
    if layer.kind == "embedding":
        return _all(Fraction(boundary, t))
    if layer.kind == "head":
        return _all(Fraction(2 * boundary + LOGIT_BYTES * layer.kept_logits * tokens, t))
    if recompute == "full":
        return _all(Fraction(boundary))
    if activation_model == "itemised":
        return _all(Fraction(layer.kept_bytes * tokens, t))
    undivided = 0 if sequence_parallel else _UNDIVIDED
    linear = tokens * model.hidden * (undivided + Fraction(_ALL - undivided, t))
    scores = 5 * model.attention.heads * sequence if recompute == "none" else 0
    return Kept(linear + Fraction(tokens * scores, t), linear * Fraction(_UNTIL_WEIGHTS, _ALL))


def _all(kept: Fraction) -> Kept:
    return Kept(kept, kept)


def training_bytes(gradient_bytes: int = HALF_BYTES, shards: int = 1) -> Fraction:
    """Return the bytes a parameter of Adam in mixed precision.

    Parameter in 16 bits, gradient, and 12 bytes of the optimiser, which a distributed optimiser
    divides over so many shards.
    """
    return HALF_BYTES + gradient_bytes + Fraction(_ADAM_BYTES, shards)
