"""Networks as graphs, from the data to the gradients and updates of training (reconstructed)."""

from __future__ import annotations

from collections.abc import Sequence

from .training import Graph


def perceptron(widths: Sequence[int], batch: int, placements: Sequence[str] = ("g0",)) -> Graph:
    """Return a perceptron in training: products, and a relu after each but the last.

    Parameters
    ----------
    widths : sequence of int
        Of the input and of every layer's output.
    batch : int
    placements : sequence of str
        Groups of devices; each gets as many layers in a row.
    """
    graph = Graph(placements[0])
    layers = len(widths) - 1
    tensor = graph.source("x", batch, widths[0])
    for k in range(layers):
        graph.placement = placements[k * len(placements) // layers]
        weight = graph.variable(f"w{k}", widths[k], widths[k + 1])
        tensor = graph.add(f"mm{k}", "matmul", tensor, weight)
        if k < layers - 1:
            tensor = graph.add(f"relu{k}", "relu", tensor)
    graph.train(tensor)
    return graph


def transformer(
    layers: int, width: int, heads: int, sequence: int, batch: int, words: int
) -> Graph:
    """Return a transformer in training: embedding, blocks with pre-normalisation, classifier.

    The axes of activations are batch, position and feature; those of attention batch, head,
    position and feature of the head. Weights of attention have an axis of heads, so that splitting
    it is splitting the model. The hidden layer is four times as wide.

    Parameters
    ----------
    layers, width, heads, sequence, batch : int
    words : int
        Rows of the embedding, and classes; 0 leaves out both ends.
    """
    graph = Graph()
    if words:
        ids = graph.source("ids", batch, sequence)
        tensor = graph.add("embedded", "embedding", graph.variable("table", words, width), ids)
    else:
        tensor = graph.source("x", batch, sequence, width)
    for k in range(layers):
        tensor = _attention(graph, f"{k}", tensor, width, heads)
        tensor = _feed_forward(graph, f"{k}", tensor, width)
    if not words:
        graph.train(tensor)
        return graph
    normal = graph.add("normal", "layer_norm", tensor)
    head = graph.variable("classifier", width, words)
    logits = graph.add("logits", "matmul", normal, head)
    graph.train(logits, graph.source("next_ids", batch, sequence))
    return graph


def _attention(graph: Graph, k: str, tensor: str, width: int, heads: int) -> str:
    normal = graph.add(f"ln_a{k}", "layer_norm", tensor)
    head = width // heads
    q, key, v = (
        graph.add(
            f"{letter}{k}",
            "einsum",
            normal,
            graph.variable(f"w_{letter}{k}", width, heads, head),
            equation="bsd,dhe->bhse",
        )
        for letter in "qkv"
    )
    scores = graph.add(f"scores{k}", "matmul", q, key, transpose_b=True)
    weights = graph.add(f"softmax{k}", "softmax", scores)
    context = graph.add(f"context{k}", "matmul", weights, v)
    w_o = graph.variable(f"w_o{k}", heads, head, width)
    out = graph.add(f"attended{k}", "einsum", context, w_o, equation="bhse,hed->bsd")
    return graph.add(f"add_a{k}", "add", tensor, out)


def _feed_forward(graph: Graph, k: str, tensor: str, width: int) -> str:
    normal = graph.add(f"ln_f{k}", "layer_norm", tensor)
    up = graph.add(f"up{k}", "matmul", normal, graph.variable(f"w_up{k}", width, 4 * width))
    active = graph.add(f"gelu{k}", "gelu", up)
    w_down = graph.variable(f"w_down{k}", 4 * width, width)
    down = graph.add(f"down{k}", "matmul", active, w_down)
    return graph.add(f"add_f{k}", "add", tensor, down)


def wide_embedding(
    rows: int, width: int, fields: int, hidden: int, classes: int, batch: int
) -> Graph:
    """Return a huge embedding, a small hidden layer and a huge classifier in training.

    Parameters
    ----------
    rows, width : int
        Of the table.
    fields : int
        Ids of a sample.
    hidden, classes, batch : int
    """
    graph = Graph()
    ids = graph.source("ids", batch, fields)
    embedded = graph.add("embedded", "embedding", graph.variable("table", rows, width), ids)
    features = graph.reshape("features", embedded, batch, fields * width)
    w_in = graph.variable("w_hidden", fields * width, hidden)
    active = graph.add("relu", "relu", graph.add("hidden", "matmul", features, w_in))
    w_out = graph.variable("classifier", hidden, classes)
    logits = graph.add("logits", "matmul", active, w_out)
    graph.train(logits, graph.source("classes", batch))
    return graph


def mixture_of_experts(
    layers: int, groups: int, tokens: int, width: int, experts: int, hidden: int, capacity: int
) -> Graph:
    """Return blocks of experts in training, one expert for every token (after GShard).

    Tokens compete for the places of an expert within their group. The axes of what experts see are
    expert, group, place and feature.

    Parameters
    ----------
    layers, groups, tokens, width, experts, hidden : int
        `tokens` of a group.
    capacity : int
        Places that an expert has for each group.
    """
    graph = Graph()
    tensor = graph.source("x", groups, tokens, width)
    for k in range(layers):
        normal = graph.add(f"ln{k}", "layer_norm", tensor)
        w_gate = graph.variable(f"w_gate{k}", width, experts)
        gate = graph.add(f"gate{k}", "softmax", graph.add(f"affinity{k}", "matmul", normal, w_gate))
        combine = graph.add(f"combine{k}", "moe_gate", gate, capacity=capacity)
        dispatch = graph.add(f"dispatch{k}", "positive", combine)
        to_experts, from_experts = "gsec,gsm->egcm", "gsec,egcm->gsm"
        sent = graph.add(f"sent{k}", "einsum", dispatch, normal, equation=to_experts)
        w_up = graph.variable(f"w_up{k}", experts, width, hidden)
        up = graph.add(f"up{k}", "einsum", sent, w_up, equation="egcm,emf->egcf")
        active = graph.add(f"relu{k}", "relu", up)
        w_down = graph.variable(f"w_down{k}", experts, hidden, width)
        down = graph.add(f"down{k}", "einsum", active, w_down, equation="egcf,efm->egcm")
        returned = graph.add(f"returned{k}", "einsum", combine, down, equation=from_experts)
        tensor = graph.add(f"add{k}", "add", tensor, returned)
    graph.train(tensor)
    return graph
