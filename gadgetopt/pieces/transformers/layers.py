r"""The layers of a transformer: parameters and floating-point operations, as exact whole numbers.

The chain is the embedding, the blocks, and the head. A multiply-add is two operations. With
:math:`\ell_{lin}` the operations of all products with weights and :math:`\ell_{att}` those of
scores and weighted values, over a sequence of s tokens,

.. math::

    F = \ell_{lin} + \ell_{att}, \qquad I = \ell_{lin} + 2 \ell_{att}, \qquad W = \ell_{lin},

where F is the forward, I the gradient of the input and W that of the weights. Norms, activations,
softmax and the lookup of embeddings count nothing. Attention is counted in full: a causal kernel
does half of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .architecture import Attention, Experts, LatentAttention, Transformer

Kind = Literal["embedding", "block", "head"]


@dataclass(frozen=True)
class ModelLayer:
    """One layer of a transformer.

    Attributes
    ----------
    name : str
    kind : "embedding", "block" or "head"
    params : int
        All parameters; those of the head without a matrix that is the embedding's.
    expert_params : int
        Of these, the ones of routed experts, which expert parallelism divides.
    token_weights : int
        Weights with which every token is multiplied.
    sequence_weights : int
        Products with weights that are made once a sequence, such as of a classifier.
    score_flops : int
        Operations of attention for every pair of tokens.
    kept_bytes : int
        Bytes a token that the backward of a block needs in 16 bits, item by item.
    kept_logits : int
        Logits a token, kept in 32 bits.
    routed : int
        Elements of a token that go to its experts, and as many back.
    """

    name: str
    kind: Kind
    params: int
    expert_params: int = 0
    token_weights: int = 0
    sequence_weights: int = 0
    score_flops: int = 0
    kept_bytes: int = 0
    kept_logits: int = 0
    routed: int = 0

    def linear_flops(self, sequence: int) -> int:
        r"""Return :math:`\ell_{lin}` of a sequence."""
        return 2 * (sequence * self.token_weights + self.sequence_weights)

    def attention_flops(self, sequence: int) -> int:
        r"""Return :math:`\ell_{att}` of a sequence, in full."""
        return sequence * sequence * self.score_flops


def layers_of(model: Transformer) -> tuple[ModelLayer, ...]:
    """Return the chain of embedding, blocks and head."""
    blocks = tuple(_block(model, number) for number in range(model.blocks))
    return (_embedding(model), *blocks, _head(model))


def num_params(model: Transformer) -> int:
    """Return the number of parameters, shared ones once."""
    return sum(layer.params for layer in layers_of(model))


def tied_params(model: Transformer) -> int:
    """Return the parameters that embedding and head share."""
    return model.vocabulary * model.hidden if model.tied else 0


def _embedding(model: Transformer) -> ModelLayer:
    h = model.hidden
    rows = model.vocabulary + model.learned_positions + model.segments
    params, products = rows * h, 0
    if model.segments:
        params += 2 * h  # BERT normalises what it has looked up
    if model.image is not None:
        projection = model.image.patch_elements * h
        params += projection + h + h  # with its bias, and the class token
        products = model.image.patches * projection
    return ModelLayer("embedding", "embedding", params, sequence_weights=products)


def _head(model: Transformer) -> ModelLayer:
    h, v = model.hidden, model.vocabulary
    if model.pooler:
        return ModelLayer("head", "head", h * h + h, sequence_weights=h * h)
    norm = h if model.style == "gated" else 2 * h
    if model.image is not None:
        classifier = h * model.labels
        return ModelLayer(
            "head", "head", norm + classifier + model.labels, sequence_weights=classifier
        )
    own = 0 if model.tied else v * h
    return ModelLayer("head", "head", norm + own, token_weights=v * h, kept_logits=v)


def _block(model: Transformer, number: int) -> ModelLayer:
    """Return a block: attention, feed-forward or experts, and their norms."""
    attention = _attention(model.attention, model.hidden)
    if model.is_moe(number) and model.experts is not None:
        forward = _experts(model.experts, model.hidden)
    else:
        forward = _feed_forward(model)
    # Two norms: 16-bit input and output of each; the classic block also keeps two dropout masks.
    norms, dropout = (2, 0) if model.style == "gated" else (4, 2)
    return ModelLayer(
        f"block {number}",
        "block",
        params=attention.params + forward.params + norms * model.hidden,
        expert_params=forward.expert_params,
        token_weights=attention.weights + forward.weights,
        score_flops=attention.score_flops,
        kept_bytes=attention.kept_bytes + forward.kept_bytes + (8 + dropout) * model.hidden,
        routed=forward.routed,
    )


@dataclass(frozen=True)
class _Part:
    """Attention, or what follows it, of one block."""

    params: int
    weights: int
    kept_bytes: int
    score_flops: int = 0
    expert_params: int = 0
    routed: int = 0


def _attention(attention: Attention | LatentAttention, h: int) -> _Part:
    if isinstance(attention, LatentAttention):
        return _latent_attention(attention, h)
    a, k, d = attention.heads, attention.kv_heads, attention.head_dim
    weights = h * d * (2 * a + 2 * k)
    biases = attention.bias * (a + 2 * k) * d + attention.output_bias * h
    # Kept: queries and output, keys and values in 16 bits, a log-sum-exp a head in 32.
    return _Part(weights + biases, weights, 4 * a * d + 4 * k * d + 4 * a, score_flops=4 * a * d)


def _latent_attention(attention: LatentAttention, h: int) -> _Part:
    a, rank, latent = attention.heads, attention.query_rank, attention.kv_rank
    key, value = attention.nope_dim + attention.rope_dim, attention.value_dim
    query = h * rank + rank * a * key if rank else h * a * key
    weights = (
        query
        + h * (latent + attention.rope_dim)
        + latent * a * (attention.nope_dim + value)
        + a * value * h
    )
    norms = (rank or 0) + latent
    # Kept: queries and keys, values and output of all heads; both latent vectors before and after
    # their norms; the key's part with positions; a log-sum-exp a head.
    kept = 4 * a * key + 4 * a * value + 4 * norms + 2 * attention.rope_dim + 4 * a
    return _Part(weights + norms, weights, kept, score_flops=2 * a * (key + value))


def _feed_forward(model: Transformer) -> _Part:
    h, inner = model.hidden, model.inner
    if model.style == "classic":
        weights = 2 * h * inner
        # Kept: the activation's input and output.
        return _Part(weights + inner + h, weights, 4 * inner)
    weights = 3 * h * inner
    biases = model.inner_bias * (2 * inner + h)
    # Kept: gate, the other half, and their product.
    return _Part(weights + biases, weights, 6 * inner)


def _experts(experts: Experts, h: int) -> _Part:
    expert = 3 * h * experts.inner
    used = experts.per_token + experts.shared
    router = h * experts.count
    routed = experts.count * expert
    shared = experts.shared * expert
    bias = experts.count if experts.correction_bias else 0
    # Kept: a feed-forward of each expert, and the copies of the token that were sent to them.
    kept = 6 * experts.inner * used + 2 * experts.per_token * h
    return _Part(
        params=routed + shared + router + bias,
        weights=used * expert + router,
        kept_bytes=kept,
        expert_params=routed,
        routed=experts.per_token * h,
    )
