"""Python text that executes a plan with PyTorch's DTensor.

Each operator computes on the shards that its rank has; where a tensor is held otherwise than an
operator wants it, DTensor redistributes it. So the only communication is what the plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import Template

from ..instance import OneFlowSbpInstance, Operator
from ..labels import BROADCAST, PARTIAL, Label, Shape, axis_of
from ..shapes import channel_axis, equation_of, reduced_axes
from ..signatures import Signature

_HEAD = Template('''\
"""A plan for tensors on $ranks ranks, executed with PyTorch's DTensor.

    torchrun --nproc-per-node $ranks THIS_FILE

`run(tensors, mesh)` takes the whole tensors of the sources and variables and returns the outputs of
all operators; without a mesh it computes the same on one device.
"""

import torch
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor

MESH_SHAPE, MESH_DIM_NAMES = $shape, $names

#: The step of an update.
LEARNING_RATE = 0.25

#: Shapes of the sources and variables.
SHAPES = {
$shapes
}


def on_shards(function, placements, *inputs):
    """Compute on each rank's shards alone; without a mesh, on whole tensors."""
    if not isinstance(inputs[0], DTensor):
        return function(*inputs)
    output = function(*(x.to_local() for x in inputs))
    return DTensor.from_local(output, inputs[0].device_mesh, placements, run_check=False)


def by_dtensor(function, placements, *inputs):
    """Let DTensor choose how to compute, and refuse it if it holds the output otherwise."""
    output = function(*inputs)
    if isinstance(output, DTensor) and tuple(output.placements) != tuple(placements):
        raise AssertionError(f"DTensor holds {output.placements}, the plan {placements}")
    return output


def held(x, *placements):
    """Return a tensor as an operator wants it."""
    if not isinstance(x, DTensor) or tuple(x.placements) == placements:
        return x
    return x.redistribute(placements=placements)


def run(tensors, mesh=None, compute=on_shards):
    """Execute the plan; return the outputs of all operators by name."""

    def given(name, *placements):
        x = tensors[name]
        return x if mesh is None else distribute_tensor(x, mesh, placements)

    out = {}
''')

_TAIL = '''
    return out


def main():
    """Execute the plan on random tensors, and compare with one device."""
    from torch.distributed import destroy_process_group, get_rank
    from torch.distributed.device_mesh import init_device_mesh

    device = "cuda" if torch.cuda.is_available() else "cpu"
    mesh = init_device_mesh(device, MESH_SHAPE, mesh_dim_names=MESH_DIM_NAMES)
    generator = torch.Generator().manual_seed(0)
    tensors = {
        name: torch.rand(shape, generator=generator, dtype=torch.float64)
        for name, shape in SHAPES.items()
    }
    expected, found = run(tensors), run(tensors, mesh)
    worst = max((x.full_tensor().cpu() - expected[name]).abs().max() for name, x in found.items())
    if get_rank() == 0:
        print(f"largest difference to one device: {worst:.3g}")
    destroy_process_group()


if __name__ == "__main__":
    main()
'''


def without_python(instance: OneFlowSbpInstance) -> list[str]:
    """Return the kinds of operators that no text computes."""
    kinds = {operator.kind for operator in instance.operators}
    return sorted(kinds - _EXPRESSIONS.keys() - {"source", "variable"})


def python_text(instance: OneFlowSbpInstance, chosen: Sequence[Signature]) -> str:
    """Return the text of a plan."""
    placement = instance.placements[0]
    shape_of = {operator.name: operator.shape for operator in instance.operators}
    shapes = [
        f"    {o.name!r}: {tuple(o.shape)!r},"
        for o in instance.operators
        if o.kind in ("source", "variable")
    ]
    head = _HEAD.substitute(
        ranks=placement.devices,
        shape=repr(tuple(placement.hierarchy)),
        names=repr(tuple(f"d{d}" for d in range(len(placement.hierarchy)))),
        shapes="\n".join(shapes),
    )
    lines = [
        _line(operator, signature, [shape_of[name] for name in operator.inputs])
        for operator, signature in zip(instance.operators, chosen, strict=True)
    ]
    return head + "\n".join(lines) + "\n" + _TAIL


def _line(operator: Operator, signature: Signature, shapes: Sequence[Shape]) -> str:
    """Return the lines of an operator."""
    name = f"out[{operator.name!r}]"
    if operator.kind in ("source", "variable"):
        return f"    {name} = given({operator.name!r}, {_placements(signature.output)})"
    letters = "abc"[: len(operator.inputs)]
    inputs = ",\n".join(
        f"        held(out[{source!r}], {_placements(label)})"
        for source, label in zip(operator.inputs, signature.inputs, strict=True)
    )
    expression = _EXPRESSIONS[operator.kind](operator, shapes)
    return (
        f"    {name} = compute(\n"
        f"        lambda {', '.join(letters)}: {expression},\n"
        f"        [{_placements(signature.output)}],\n{inputs},\n    )"
    )


def _placements(label: Label) -> str:
    return ", ".join(map(_placement, label))


def _placement(part: str) -> str:
    axis = axis_of(part)
    if axis is None:
        return {BROADCAST: "Replicate()", PARTIAL: "Partial()"}[part]
    return f"Shard({axis})"


# -- what operators compute --------------------------------------------------------------------

#: The expression of an operator with the inputs a, b and c.
Expression = Callable[[Operator, Sequence[Shape]], str]


def _plain(text: str) -> Expression:
    return lambda operator, shapes: text


def _product(operator: Operator, shapes: Sequence[Shape]) -> str:
    attributes = operator.attributes
    if operator.kind == "matmul":
        left = "a.mT" if attributes.transpose_a else "a"
        return f"{left} @ {'b.mT' if attributes.transpose_b else 'b'}"
    if operator.kind == "weight_grad" and len(shapes[0]) == 2:
        return "a.mT @ b"
    letters = ", ".join("abc"[: len(shapes)])
    equation = equation_of(operator.kind, [len(shape) for shape in shapes], attributes)
    return f'torch.einsum("{equation}", {letters})'


def _bias(operator: Operator, shapes: Sequence[Shape]) -> str:
    extents = [1] * len(shapes[0])
    extents[channel_axis(shapes[0], operator.attributes)] = -1
    return f"a + b.reshape({extents})"


def _sum(operator: Operator, shapes: Sequence[Shape]) -> str:
    axes = tuple(reduced_axes(shapes[0], operator.attributes))
    return f"a.sum({axes}, keepdim={operator.attributes.keep_axes})"


def _transpose(operator: Operator, shapes: Sequence[Shape]) -> str:
    return f"a.permute({tuple(operator.attributes.permutation)})"


def _scale(operator: Operator, shapes: Sequence[Shape]) -> str:
    factor = operator.attributes.factor
    return f"a * {1.0 if factor is None else factor!r}"


def _layer_norm(operator: Operator, shapes: Sequence[Shape]) -> str:
    affine = "".join(f", {letter}" for letter in "bc"[: len(shapes) - 1])
    return f"F.layer_norm(a, a.shape[-1:]{affine})"


def _layer_norm_grad(operator: Operator, shapes: Sequence[Shape]) -> str:
    scale = " * c" if len(shapes) == 3 else ""
    return f"torch.func.vjp(lambda x: F.layer_norm(x, x.shape[-1:]), a)[1](b{scale})[0]"


def _cross_entropy_grad(operator: Operator, shapes: Sequence[Shape]) -> str:
    classes = "b.long()" if len(shapes) == 2 else "a[..., 0].long() * 0"
    return f"a.softmax(-1) - F.one_hot({classes}, a.shape[-1])"


_EXPRESSIONS: dict[str, Expression] = {
    "matmul": _product,
    "weight_grad": _product,
    "einsum": _product,
    "relu": _plain("torch.relu(a)"),
    "relu_grad": _plain("b * (a > 0)"),
    "gelu": _plain("F.gelu(a)"),
    "gelu_grad": _plain("torch.ops.aten.gelu_backward(b, a)"),
    "tanh": _plain("torch.tanh(a)"),
    "tanh_grad": _plain("b * (1 - a * a)"),
    "sigmoid": _plain("torch.sigmoid(a)"),
    "sigmoid_grad": _plain("b * a * (1 - a)"),
    "positive": _plain("(a > 0).to(a.dtype)"),
    "dropout": _plain("a * b"),
    "multiply": _plain("a * b"),
    "add": _plain("a + b"),
    "subtract": _plain("a - b"),
    "scale": _scale,
    "bias_add": _bias,
    "softmax": _plain("a.softmax(-1)"),
    "softmax_grad": _plain("a * (b - (b * a).sum(-1, keepdim=True))"),
    "layer_norm": _layer_norm,
    "layer_norm_grad": _layer_norm_grad,
    "reduce_sum": _sum,
    "cross_entropy_grad": _cross_entropy_grad,
    "update": _plain("a - LEARNING_RATE * b"),
    "transpose": _transpose,
}
