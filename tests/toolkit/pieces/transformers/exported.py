"""Archives in the form of `torch.export.save`, written without PyTorch."""

from __future__ import annotations

import json
import zipfile

#: Number of the type of 32-bit reals in PyTorch's schema.
FLOAT = 7


def tensor(name):
    return {"as_tensor": {"name": name}}


def argument(value):
    if isinstance(value, str):
        return tensor(value)
    return {"as_int": value} if isinstance(value, int) else value


def node(operator, output, module="", **arguments):
    """Return a node; arguments are texts, which name tensors, numbers, or what the file says."""
    given = [{"name": k, "arg": argument(v), "kind": 1} for k, v in arguments.items()]
    return {
        "target": f"torch.ops.aten.{operator}.default",
        "inputs": given,
        "outputs": [tensor(output)],
        "metadata": {"nn_module_stack": f"L__self__,,Net;L__self__{module},{module},Part"},
    }


def program(nodes, shapes, parameters=(), inputs=("x",), output=None):
    """Return the content of a graph's file."""
    names = [{"parameter": {"arg": {"name": p}, "parameter_name": p}} for p in parameters]
    return {
        "graph_module": {
            "graph": {
                "nodes": nodes,
                "outputs": [tensor(output or nodes[-1]["outputs"][0]["as_tensor"]["name"])],
                "tensor_values": {
                    name: {"dtype": FLOAT, "sizes": [{"as_int": n} for n in shape]}
                    for name, shape in shapes.items()
                },
            },
            "signature": {
                "input_specs": [*names, *({"user_input": {"arg": tensor(x)}} for x in inputs)]
            },
        },
        "schema_version": {"major": 8, "minor": 20},
    }


def write(path, content):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/models/model.json", json.dumps(content))
        archive.writestr("net/data/sample_inputs/model.pt", "not read")
    return path


def perceptron(layers=2, width=4, batch=3):
    """Return the content of linear layers `layers.0`, `layers.1`, ..."""
    nodes, shapes = [], {"x": (batch, width)}
    for k in range(layers):
        shapes |= {f"w{k}": (width, width), f"y{k}": (batch, width)}
        before = f"y{k - 1}" if k else "x"
        nodes.append(node("linear", f"y{k}", f"layers.{k}", input=before, weight=f"w{k}"))
    return program(nodes, shapes, [f"w{k}" for k in range(layers)])
