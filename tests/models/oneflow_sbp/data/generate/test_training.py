"""Training graphs: their gradients are those of the loss, by finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.data.generate import networks
from gadgetopt.models.oneflow_sbp.data.generate.training import (
    Graph,
    NoGradient,
)
from gadgetopt.models.oneflow_sbp.proving.kernels import compute

EPSILON = 1e-6


def values_of(graph: Graph, given: dict) -> dict:
    """Compute all operators, with given values of data and variables."""
    values = {}
    for o in graph.operators.values():
        inputs = [values[name] for name in o.inputs]
        values[o.name] = (
            given[o.name] if o.name in given else compute(o.kind, o.attributes, inputs, o.shape)
        )
    return values


def drawn(graph: Graph) -> dict:
    rng = np.random.default_rng(3)
    given = {
        o.name: rng.standard_normal(o.shape)
        for o in graph.operators.values()
        if o.kind in ("source", "variable")
    }
    for o in graph.operators.values():
        choices = {
            "embedding": (1, 0, 0),
            "cross_entropy_grad": (1, 0, -1),
        }.get(o.kind)
        if choices and len(o.inputs) > choices[0]:
            extent = graph.shape(o.inputs[choices[1]])[choices[2]]
            name = o.inputs[choices[0]]
            given[name] = rng.integers(0, extent, graph.shape(name)).astype(float)
    return given


def loss_of(graph: Graph, given: dict) -> float:
    """Return the cross entropy whose gradient the graph computes."""
    last = next(o for o in graph.operators.values() if o.kind == "cross_entropy_grad")
    values = values_of(graph, given)
    logits = values[last.inputs[0]]
    classes = values[last.inputs[1]] if len(last.inputs) == 2 else np.zeros(logits.shape[:-1])
    right = np.take_along_axis(logits, classes.astype(int)[..., None], axis=-1)
    return float(np.log(np.exp(logits).sum(axis=-1)).sum() - right.sum())


def check_gradients(graph: Graph) -> None:
    given = drawn(graph)
    values = values_of(graph, given)
    updates = [o for o in graph.operators.values() if o.kind == "update"]
    variables = [o.name for o in graph.operators.values() if o.kind == "variable"]
    assert sorted(o.inputs[0] for o in updates) == sorted(variables)
    rng = np.random.default_rng(4)
    for o in updates:
        variable, gradient = o.inputs
        direction = rng.standard_normal(o.shape)
        losses = [
            loss_of(graph, {**given, variable: given[variable] + sign * EPSILON * direction})
            for sign in (1, -1)
        ]
        slope = (losses[0] - losses[1]) / (2 * EPSILON)
        found = float((values[gradient] * direction).sum())
        assert found == pytest.approx(slope, rel=1e-4, abs=1e-5), variable


NETWORKS = {
    "perceptron": lambda: networks.perceptron([3, 5, 4, 2], 6),
    "transformer": lambda: networks.transformer(2, 4, 2, 3, 2, 5),
    "wide_embedding": lambda: networks.wide_embedding(5, 3, 2, 4, 6, 3),
    "mixture_of_experts": lambda: networks.mixture_of_experts(2, 2, 4, 3, 2, 4, 3),
}


@pytest.mark.parametrize("network", NETWORKS)
def test_the_gradients_of_a_network_are_those_of_its_loss(network):
    check_gradients(NETWORKS[network]())


@pytest.mark.parametrize("a", [False, True])
@pytest.mark.parametrize("b", [False, True])
@pytest.mark.parametrize("lead", [(), (2,)])
def test_the_gradients_of_a_product_with_transposed_operands(a, b, lead):
    graph = Graph()
    left = graph.variable("left", *lead, *((3, 4) if not a else (4, 3)))
    right = graph.variable("right", *lead, *((4, 5) if not b else (5, 4)))
    flags = {k: True for k, given in (("transpose_a", a), ("transpose_b", b)) if given}
    graph.train(graph.add("product", "matmul", left, right, **flags))
    check_gradients(graph)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_gradients_of_a_weight_of_many_rows_of_activations(transposed):
    graph = Graph()
    x = graph.variable("x", 2, 3, 4)
    w = graph.variable("w", *((5, 4) if transposed else (4, 5)))
    flags = {"transpose_b": True} if transposed else {}
    graph.train(graph.add("product", "matmul", x, w, **flags))
    check_gradients(graph)


def test_the_gradients_of_every_other_operator():
    graph = Graph()
    x = graph.variable("x", 2, 3, 4)
    row, bias, column = (
        graph.variable("row", 4),
        graph.variable("bias", 4),
        graph.variable("c", 3, 1),
    )
    t = graph.add("tanh", "tanh", graph.add("product", "multiply", x, row))
    t = graph.add("sigmoid", "sigmoid", graph.add("difference", "subtract", t, column))
    t = graph.add("biased", "bias_add", t, bias)
    t = graph.add("gelu", "gelu", graph.add("scaled", "scale", t, factor=1.5))
    t = graph.add("normal", "layer_norm", t, graph.variable("gain", 4), graph.variable("shift", 4))
    mask = graph.add("mask", "positive", graph.source("drawn", 2, 3, 4))
    t = graph.add("dropped", "dropout", t, mask)
    first = graph.add("first", "slice", t, axis=1, start=0, rows=1)
    rest = graph.add("rest", "slice", t, axis=1, start=1, rows=2)
    t = graph.add("joined_again", "concat", rest, first, axis=1)
    t = graph.add("softmax", "softmax", t)
    t = graph.add("turned", "transpose", t, permutation=(2, 0, 1))
    t = graph.reshape("flat", t, 4, 6)
    t = graph.add("sums", "reduce_sum", t, axes=(0,), keep_axes=True)
    t = graph.add("joined", "add", t, graph.variable("more", 5, 6))
    graph.train(t)
    check_gradients(graph)


def test_a_tensor_of_two_uses_has_the_sum_of_their_gradients():
    graph = Graph()
    w = graph.variable("w", 4, 4)
    first = graph.add("first", "matmul", graph.source("x", 3, 4), w)
    graph.train(graph.add("second", "matmul", first, w))
    check_gradients(graph)


def test_an_operator_without_a_known_gradient_is_named():
    graph = Graph()
    w, out = graph.variable("w", 3), graph.variable("out", 3)
    slope = graph.add("slope", "relu_grad", out, w)
    with pytest.raises(NoGradient, match="slope: the gradient of relu_grad is not known"):
        graph.train(slope)


def test_shapes_that_do_not_fit_name_the_operator():
    graph = Graph()
    w = graph.variable("w", 4, 5)
    with pytest.raises(ValueError, match=r"^mm: matmul: axis 0 of input 1 has extent 4, not the 5"):
        graph.add("mm", "matmul", w, w)
