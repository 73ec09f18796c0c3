"""Graphs of transformers in training, from what their configurations say.

Axes of activations are batch, position and feature; those of heads batch, group of heads, head,
position and element. Weights of attention have the axes of heads, so that splitting them is
splitting the model. Rotary positions, which cost little and have no weights, are left out. Experts
are reached by products with a dispatch tensor, as in GShard: an expert takes as many tokens of a
sequence as it gets when all get alike.
"""

from __future__ import annotations

from gadgetopt.pieces.transformers.architecture import (
    Attention,
    Experts,
    Image,
    LatentAttention,
    Transformer,
)

from ..generate.training import Graph

#: Bytes of an element in 16 bits. By definition.
_HALF_BYTES = 2


def network(model: Transformer, sequence: int, batch: int, blocks: int) -> Graph:
    """Return the first blocks of a model in training, between its embedding and its head."""
    graph = Graph(dtype_bytes=_HALF_BYTES)
    tensor = _embedding(graph, model, sequence, batch)
    for number in range(blocks):
        tensor = _block(graph, model, number, tensor)
    _head(graph, model, tensor)
    return graph


# -- both ends -----------------------------------------------------------------------------------


def _embedding(graph: Graph, model: Transformer, sequence: int, batch: int) -> str:
    if model.image is not None:
        tensor = _patches(graph, model.image, model.hidden, batch)
    else:
        table = graph.variable("words", model.vocabulary, model.hidden)
        tensor = graph.add("embedded", "embedding", table, graph.source("ids", batch, sequence))
    if model.learned_positions:
        rows = graph.variable("positions", model.learned_positions, model.hidden)
        if sequence < model.learned_positions:
            rows = graph.add("first_positions", "slice", rows, axis=0, start=0, rows=sequence)
        tensor = graph.add("positioned", "add", tensor, rows)
    if model.segments:
        types = graph.variable("segment_types", model.segments, model.hidden)
        ids = graph.source("segment_ids", batch, sequence)
        tensor = graph.add("typed", "add", tensor, graph.add("segment", "embedding", types, ids))
        tensor = _norm(graph, model, "embedding_norm", tensor)
    return tensor


def _patches(graph: Graph, image: Image, hidden: int, batch: int) -> str:
    """Add the projection of an image's patches, the class token before them."""
    pixels = graph.source("pixels", batch, image.patches, image.patch_elements)
    weights = graph.variable("w_patch", image.patch_elements, hidden)
    patches = graph.add("projected", "matmul", pixels, weights)
    patches = graph.add("patches", "bias_add", patches, graph.variable("b_patch", hidden))
    nothing = graph.source("no_pixels", batch, 1, hidden)
    token = graph.add("class", "add", nothing, graph.variable("class_token", 1, 1, hidden))
    return graph.add("tokens", "concat", token, patches, axis=1)


def _head(graph: Graph, model: Transformer, tensor: str) -> None:
    """Add the head and the gradient of the loss, all gradients and updates."""
    h, v = model.hidden, model.vocabulary
    if not model.pooler:
        tensor = _norm(graph, model, "last_norm", tensor)
    if model.pooler or model.image is not None:
        batch, outputs = graph.shape(tensor)[0], h if model.pooler else model.labels
        first = graph.add("first_rows", "slice", tensor, axis=1, start=0, rows=1)
        first = graph.reshape("first", first, batch, h)
        tensor = _biased_product(graph, "head", first, h, outputs)
        if model.pooler:
            tensor = graph.add("pooled", "tanh", tensor)
        graph.train(tensor, graph.source("classes", batch))
        return
    if model.tied:
        tensor = graph.add("logits", "matmul", tensor, "words", transpose_b=True)
    else:
        tensor = graph.add("logits", "matmul", tensor, graph.variable("w_head", h, v))
    graph.train(tensor, graph.source("next_ids", *graph.shape(tensor)[:-1]))


def _norm(graph: Graph, model: Transformer, name: str, tensor: str) -> str:
    """Add a norm: of layers with scale and shift, or RMS with a scale."""
    inputs = [graph.variable(f"scale_{name}", graph.shape(tensor)[-1])]
    if model.style == "classic":
        inputs.append(graph.variable(f"shift_{name}", graph.shape(tensor)[-1]))
    return graph.add(name, "layer_norm", tensor, *inputs)


def _biased_product(graph: Graph, name: str, tensor: str, rows: int, columns: int) -> str:
    product = graph.add(
        f"{name}_product", "matmul", tensor, graph.variable(f"w_{name}", rows, columns)
    )
    return graph.add(name, "bias_add", product, graph.variable(f"b_{name}", columns))


# -- blocks --------------------------------------------------------------------------------------


def _block(graph: Graph, model: Transformer, number: int, tensor: str) -> str:
    k = str(number)
    after = model.pooler  # BERT normalises sums, the others what goes into a part
    for part in ("a", "f"):
        inside = tensor if after else _norm(graph, model, f"norm_{part}{k}", tensor)
        if part == "a" and isinstance(model.attention, LatentAttention):
            out = _latent_attention(graph, k, model, model.attention, inside)
        elif part == "a" and isinstance(model.attention, Attention):
            out = _attention(graph, k, model.attention, inside, model.hidden)
        elif model.is_moe(number) and model.experts is not None:
            out = _experts(graph, k, model.experts, inside)
        else:
            out = _feed_forward(graph, k, model, inside)
        tensor = graph.add(f"sum_{part}{k}", "add", tensor, out)
        tensor = _norm(graph, model, f"norm_{part}{k}", tensor) if after else tensor
    return tensor


def _attention(graph: Graph, k: str, attention: Attention, tensor: str, hidden: int) -> str:
    groups, d = attention.kv_heads, attention.head_dim
    heads = attention.heads // groups

    def projected(letter: str, axes: str, *shape: int) -> str:
        weights = graph.variable(f"w_{letter}{k}", hidden, *shape, d)
        last = f"{letter}{k}_product" if attention.bias else f"{letter}{k}"
        equation = f"bsm,m{axes}e->b{axes}se"
        out = graph.add(last, "einsum", tensor, weights, equation=equation)
        if attention.bias:
            out = graph.add(
                f"{letter}{k}", "add", out, graph.variable(f"b_{letter}{k}", *shape, 1, d)
            )
        return out

    query = projected("q", "gh", groups, heads)
    key, value = projected("k", "g", groups), projected("v", "g", groups)
    scores = graph.add(f"scores{k}", "einsum", query, key, equation="bghse,bgte->bghst")
    weights = graph.add(f"softmax{k}", "softmax", scores)
    context = graph.add(f"context{k}", "einsum", weights, value, equation="bghst,bgte->bghse")
    w_o = graph.variable(f"w_o{k}", groups, heads, d, hidden)
    last = f"attended{k}_product" if attention.output_bias else f"attended{k}"
    out = graph.add(last, "einsum", context, w_o, equation="bghse,ghem->bsm")
    if attention.output_bias:
        out = graph.add(f"attended{k}", "bias_add", out, graph.variable(f"b_o{k}", hidden))
    return out


def _latent_attention(
    graph: Graph, k: str, model: Transformer, attention: LatentAttention, tensor: str
) -> str:
    """Add attention over latent vectors; the part of a key with positions is that of all heads."""
    h, a = model.hidden, attention.heads
    query, width = tensor, h
    if attention.query_rank:
        width = attention.query_rank
        query = _product(graph, f"latent_q{k}", tensor, h, width)
        query = _norm(graph, model, f"norm_q{k}", query)
    latent = _product(graph, f"latent_kv{k}", tensor, h, attention.kv_rank)
    latent = _norm(graph, model, f"norm_kv{k}", latent)

    def heads_of(name: str, source: str, rows: int, elements: int) -> str:
        weights = graph.variable(f"w_{name}{k}", rows, a, elements)
        return graph.add(f"{name}{k}", "einsum", source, weights, equation="bsm,mhe->bhse")

    q_nope = heads_of("q_nope", query, width, attention.nope_dim)
    q_rope = heads_of("q_rope", query, width, attention.rope_dim)
    key = heads_of("key", latent, attention.kv_rank, attention.nope_dim)
    value = heads_of("value", latent, attention.kv_rank, attention.value_dim)
    k_rope = _product(graph, f"key_rope{k}", tensor, h, attention.rope_dim)
    content = graph.add(f"scores_nope{k}", "einsum", q_nope, key, equation="bhse,bhte->bhst")
    place = graph.add(f"scores_rope{k}", "einsum", q_rope, k_rope, equation="bhse,bte->bhst")
    scores = graph.add(f"scores{k}", "add", content, place)
    weights = graph.add(f"softmax{k}", "softmax", scores)
    context = graph.add(f"context{k}", "einsum", weights, value, equation="bhst,bhte->bhse")
    w_o = graph.variable(f"w_o{k}", a, attention.value_dim, h)
    return graph.add(f"attended{k}", "einsum", context, w_o, equation="bhse,hem->bsm")


def _product(graph: Graph, name: str, tensor: str, rows: int, columns: int) -> str:
    return graph.add(name, "matmul", tensor, graph.variable(f"w_{name}", rows, columns))


def _feed_forward(graph: Graph, k: str, model: Transformer, tensor: str) -> str:
    h, inner = model.hidden, model.inner
    if model.style == "classic":
        up = _biased_product(graph, f"up{k}", tensor, h, inner)
        return _biased_product(graph, f"down{k}", graph.add(f"gelu{k}", "gelu", up), inner, h)
    linear = _biased_product if model.inner_bias else _product
    gate, up = (linear(graph, f"{name}{k}", tensor, h, inner) for name in ("gate", "up"))
    active = _silu(graph, k, gate)
    return linear(graph, f"down{k}", graph.add(f"gated{k}", "multiply", active, up), inner, h)


def _silu(graph: Graph, k: str, tensor: str) -> str:
    """Add x times the sigmoid of x."""
    return graph.add(f"silu{k}", "multiply", tensor, graph.add(f"sigmoid{k}", "sigmoid", tensor))


def _experts(graph: Graph, k: str, experts: Experts, tensor: str) -> str:
    _, tokens, h = graph.shape(tensor)
    count, inner = experts.count, experts.inner
    gate = _product(graph, f"router{k}", tensor, h, count)
    if experts.correction_bias:
        gate = graph.add(f"corrected{k}", "bias_add", gate, graph.variable(f"b_router{k}", count))
    gate = graph.add(f"gate_softmax{k}", "softmax", gate)
    capacity = -(-tokens * experts.per_token // count)
    combine = graph.add(f"combine{k}", "moe_gate", gate, capacity=capacity)
    dispatch = graph.add(f"dispatch{k}", "positive", combine)
    sent = graph.add(f"sent{k}", "einsum", dispatch, tensor, equation="gsec,gsm->egcm")

    def expert(name: str, source: str, rows: int, columns: int) -> str:
        weights = graph.variable(f"w_{name}{k}", count, rows, columns)
        return graph.add(f"{name}{k}", "einsum", source, weights, equation="egcm,emf->egcf")

    gated = _silu(graph, k, expert("gate", sent, h, inner))
    product = graph.add(f"gated{k}", "multiply", gated, expert("up", sent, h, inner))
    down = expert("down", product, inner, h)
    out = graph.add(f"routed{k}", "einsum", combine, down, equation="gsec,egcm->gsm")
    if not experts.shared:
        return out
    width = experts.shared * inner
    gate, up = (_product(graph, f"shared_{n}{k}", tensor, h, width) for n in ("gate", "up"))
    product = graph.add(f"shared_gated{k}", "multiply", _silu(graph, f"_shared{k}", gate), up)
    shared = _product(graph, f"shared_down{k}", product, width, h)
    return graph.add(f"experts{k}", "add", out, shared)
