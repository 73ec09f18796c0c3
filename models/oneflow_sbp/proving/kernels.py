"""What every kind of operator computes, in numpy: on whole tensors, or on a device's shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from gadgetopt.numbers.arrays import Floats

from ..labels import Shape
from ..shapes import Attributes, channel_axis, equation_of, reduced_axes

#: Keeps the variance of a normalisation away from zero. By definition.
_EPSILON = 1e-5
#: The step of an update. By definition.
_STEP = 0.25


def compute(
    kind: str,
    attributes: Attributes,
    inputs: Sequence[Floats],
    shape: Shape,
    first_row: int = 0,
) -> Floats:
    """Return the output of an operator.

    Parameters
    ----------
    kind : str
    attributes : Attributes
    inputs : sequence of arrays
        Whole tensors, or the shards of one device.
    shape : Shape
        Of the output, or of the device's shard of it.
    first_row : int
        Of an embedding's table, or of its gradient: the first row that this device holds.
    """
    if kind in ("matmul", "weight_grad", "einsum"):
        equation = equation_of(kind, [x.ndim for x in inputs], attributes)
        return np.asarray(np.einsum(equation, *inputs))
    if kind == "reduce_sum":
        axes = reduced_axes(inputs[0].shape, attributes)
        kept = np.asarray(inputs[0].sum(axis=axes, keepdims=True))
        return kept if attributes.keep_axes else kept.squeeze(axes)
    if kind == "reshape":
        return inputs[0].reshape(shape)
    if kind == "concat":
        return np.concatenate(inputs, axis=attributes.axis or 0)
    if kind == "slice":
        return inputs[0][_range(attributes, shape)]
    if kind == "pad":
        padded = np.zeros(shape)
        padded[_range(attributes, inputs[0].shape)] = inputs[0]
        return padded
    if kind == "expand":
        return np.asarray(np.broadcast_to(np.expand_dims(inputs[0], attributes.axis or 0), shape))
    if kind == "transpose":
        return inputs[0].transpose(attributes.permutation)
    if kind == "scale":
        return inputs[0] * (1.0 if attributes.factor is None else attributes.factor)
    if kind == "bias_add":
        extents = [1] * inputs[0].ndim
        extents[channel_axis(inputs[0].shape, attributes)] = -1
        return inputs[0] + inputs[1].reshape(extents)
    if kind == "embedding":
        return _rows(inputs[0], inputs[1], first_row)
    if kind == "embedding_grad":
        return _rows_grad(inputs[0], inputs[1], shape[0], first_row)
    if kind == "moe_gate":
        assert attributes.capacity is not None, "checked with the shapes"
        return inputs[0][..., None] * _places(inputs[0], attributes.capacity)
    if kind == "moe_gate_grad":
        return np.asarray((inputs[1] * _places(inputs[0], inputs[1].shape[-1])).sum(axis=-1))
    return _BY_KIND[kind](*inputs)


def _range(attributes: Attributes, shape: Shape) -> tuple[slice, ...]:
    """Return where a slice of this shape lies."""
    axis, start = attributes.axis or 0, attributes.start or 0
    return (slice(None),) * axis + (slice(start, start + shape[axis]),)


def _sigmoid(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def _gelu(x: Floats) -> Floats:
    return x * _sigmoid(1.702 * x)


def _gelu_grad(x: Floats, grad: Floats) -> Floats:
    s = _sigmoid(1.702 * x)
    return grad * (s + 1.702 * x * s * (1 - s))


def _softmax(x: Floats) -> Floats:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _softmax_grad(y: Floats, grad: Floats) -> Floats:
    return np.asarray(y * (grad - (grad * y).sum(axis=-1, keepdims=True)))


def _normalised(x: Floats) -> tuple[Floats, Floats]:
    """Return x with mean 0 and variance 1 along its last axis, and its standard deviation."""
    deviation = np.sqrt(x.var(axis=-1, keepdims=True) + _EPSILON)
    return (x - x.mean(axis=-1, keepdims=True)) / deviation, deviation


def _layer_norm(x: Floats, *affine: Floats) -> Floats:
    normal, _ = _normalised(x)
    for operand, apply in zip(affine, (np.multiply, np.add), strict=False):
        normal = apply(normal, operand)
    return normal


def _layer_norm_grad(x: Floats, grad: Floats, *scale: Floats) -> Floats:
    normal, deviation = _normalised(x)
    inner = grad * scale[0] if scale else grad
    projected = normal * (inner * normal).mean(axis=-1, keepdims=True)
    return np.asarray((inner - inner.mean(axis=-1, keepdims=True) - projected) / deviation)


def _layer_norm_scale_grad(x: Floats, grad: Floats) -> Floats:
    normal, _ = _normalised(x)
    return np.asarray((grad * normal).sum(axis=tuple(range(x.ndim - 1))))


def _cross_entropy_grad(logits: Floats, *classes: Floats) -> Floats:
    """Return the gradient of the loss against the given classes, class 0 without them."""
    right = classes[0] if classes else np.zeros(logits.shape[:-1])
    hot = np.arange(logits.shape[-1]) == right[..., None]
    return np.asarray(_softmax(logits) - hot)


def _rows(table: Floats, ids: Floats, first_row: int) -> Floats:
    """Return rows of a table; zeros for those that this device does not hold."""
    own = ids.astype(np.int64) - first_row
    held = (own >= 0) & (own < len(table))
    return np.asarray(np.where(held[..., None], table[np.where(held, own, 0)], 0.0))


def _rows_grad(ids: Floats, grad: Floats, rows: int, first_row: int) -> Floats:
    own = ids.astype(np.int64).ravel() - first_row
    held = (own >= 0) & (own < rows)
    table = np.zeros((rows, grad.shape[-1]))
    np.add.at(table, own[held], grad.reshape(-1, grad.shape[-1])[held])
    return table


def _places(probabilities: Floats, capacity: int) -> Floats:
    """Return 1 where a token of a group takes a place of its most probable expert.

    Tokens beyond the capacity of an expert get none. Shape (groups, tokens, experts, capacity).
    """
    chosen = np.arange(probabilities.shape[-1]) == probabilities.argmax(axis=-1)[..., None]
    place = chosen.cumsum(axis=1) - 1
    taken = chosen[..., None] & (place[..., None] == np.arange(capacity))
    return taken.astype(np.float64)


_BY_KIND: dict[str, Callable[..., Floats]] = {
    "relu": lambda x: np.maximum(x, 0),
    "relu_grad": lambda y, grad: grad * (y > 0),
    "gelu": _gelu,
    "gelu_grad": _gelu_grad,
    "tanh": np.tanh,
    "tanh_grad": lambda y, grad: grad * (1 - y * y),
    "sigmoid": _sigmoid,
    "sigmoid_grad": lambda y, grad: grad * y * (1 - y),
    "positive": lambda x: (x > 0).astype(np.float64),
    "dropout": np.multiply,
    "multiply": np.multiply,
    "add": np.add,
    "subtract": np.subtract,
    "softmax": _softmax,
    "softmax_grad": _softmax_grad,
    "layer_norm": _layer_norm,
    "layer_norm_grad": _layer_norm_grad,
    "layer_norm_scale_grad": _layer_norm_scale_grad,
    "cross_entropy_grad": _cross_entropy_grad,
    "update": lambda weight, grad: weight - _STEP * grad,
}


def slice_bounds(extent: int, slices: int) -> list[int]:
    """Return where balanced slices of an axis begin, and its end; the first are one larger."""
    size, more = divmod(extent, slices)
    return list(accumulate((size + (k < more) for k in range(slices)), initial=0))
