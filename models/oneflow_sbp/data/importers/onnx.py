"""Networks in ONNX files: shapes, constants, and the graph of what is left.

An ONNX file holds a network for inference. Its weights become variables, its inputs sources, and
the graph of its training is derived from it: the gradient of the cross entropy of its first output,
the gradients of all operators, and an update for every weight. What computes shapes and other
constants is evaluated, and what only renames or, in inference, does nothing is left out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.file_imports import errors_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer
from gadgetopt.system.reading import read_bytes

from ...labels import Shape
from ..generate.presets import (
    costs_of,
    instance_of,
)
from ..generate.training import (
    Graph,
    NoGradient,
)

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, ValueInfoProto

#: Elements of an intermediate result up to which it is evaluated if all its inputs are constants.
MOST_CONSTANTS = 10**6
#: At the end of a network these change no class; the loss is computed from their input.
_LAST = ("Softmax", "LogSoftmax")


@dataclass
class Network:
    """An ONNX graph with known shapes.

    Attributes
    ----------
    nodes : list of NodeProto
        In topological order.
    shapes : dict
        Of all tensors.
    constants : dict
        Values that do not depend on the network's inputs and are no weights.
    weights : dict
        Shapes of the weights: initializers of real numbers with more than one element.
    inputs : list of str
    output : str
    folded : int
        Nodes that were evaluated.
    """

    nodes: list[NodeProto]
    shapes: dict[str, Shape]
    constants: dict[str, np.ndarray[Any, Any]]
    weights: dict[str, Shape]
    inputs: list[str]
    output: str
    folded: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


@importer(
    name="onnx",
    help={
        "devices": "8, or 2x4 for two groups of four devices",
        "batch": "extent of the first axis of every input, if the file leaves it open",
        "dimensions": "extents of axes that the file names, such as sequence=128,height=224",
        "training": "false for the network alone, without gradients and updates",
    },
)
def read_onnx(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    devices: int | str = "8",
    batch: int = 0,
    dimensions: str = "",
    training: bool = True,
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> ImportOutcome:
    """Networks in ONNX files; the training graph is derived.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    devices : int or str
        "8", or "2x4" for two groups of four.
    batch : int
        Extent of the first axis of every input where the file leaves it open; 0: it must not.
    dimensions : str
        Extents of axes that the file names, such as "sequence=128,height=224".
    training : bool
        True for the training graph, False for the network alone.
    unit, compute_ratio, memory_limit_gb
        Costs and memory limit, as of the presets.

    Raises
    ------
    InputError
        If the package onnx is missing, a file is no network, an extent is open, or operators are
        not supported, in one line.
    """
    if not files:
        raise InputError("files: none given, expected at least one")
    extents = _extents(dimensions)
    costs = costs_of(unit, compute_ratio)
    instances, details, sources = [], [], []
    for path in map(Path, files):
        model, digest = _load(path)
        network = read_network(model, path, batch, extents)
        graph, logits = _converted(network, path)
        forward = len(graph.operators)
        with errors_of(path):
            if training:
                _train(graph, logits)
            instance = instance_of(graph, [devices], costs, memory_limit_gb)
        name = f"{path.stem}_{str(devices).replace('x', 'by')}"
        instances.append((name, instance))
        sources.append({"name": path.name, "sha256": digest})
        details.append(
            {
                "name": name,
                "nodes_read": len(network.nodes) + network.folded,
                "nodes_evaluated": network.folded,
                "nodes_left_out": dict(sorted(network.left_out.items())),
                "weights": len(network.weights),
                "operators_of_the_network": forward,
                "operators": len(instance.operators),
            }
        )
    options = {
        "devices": devices,
        "batch": batch,
        "dimensions": dimensions,
        "training": training,
        "unit": unit,
        "compute_ratio": compute_ratio,
        "memory_limit_gb": memory_limit_gb,
    }
    return ImportOutcome(
        list(instances),
        {"instances": details},
        {"format": "onnx", "files": sources, "options": options},
    )


def _extents(dimensions: str) -> dict[str, int]:
    extents = {}
    for entry in filter(None, str(dimensions).split(",")):
        name, equals, value = entry.partition("=")
        if not equals or not value.isascii() or not value.isdigit() or not int(value):
            raise InputError(f"dimensions: {entry!r}, expected a name and a number, sequence=128")
        extents[name.strip()] = int(value)
    return extents


def _load(path: Path) -> tuple[ModelProto, str]:
    try:
        import onnx
    except ModuleNotFoundError:
        raise InputError(
            "import onnx: the package onnx is not installed; pip install 'gadgetopt[onnx]'"
        ) from None
    from google.protobuf.message import DecodeError

    content = read_bytes(path)
    try:
        model = onnx.load_model_from_string(content)
    except DecodeError:
        raise InputError(f"{path}: is not an ONNX file") from None
    if not model.graph.node or not model.graph.output:
        raise InputError(f"{path}: is not an ONNX file with nodes and an output")
    return model, hashlib.sha256(content).hexdigest()


def read_network(
    model: ModelProto, path: Path, batch: int = 0, extents: dict[str, int] | None = None
) -> Network:
    """Return the graph of a model with all shapes, constants evaluated.

    Raises
    ------
    InputError
        If the extent of an axis is open or a shape cannot be inferred.
    """
    import onnx
    from onnx import numpy_helper, shape_inference

    graph = model.graph
    initial = {t.name: t for t in graph.initializer}
    inputs = [value for value in graph.input if value.name not in initial]
    for value in inputs:
        _close(value, path, batch, extents or {})
    del graph.value_info[:]
    for value in graph.output:
        value.type.tensor_type.ClearField("shape")
    try:
        inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True).graph
    except shape_inference.InferenceError as error:
        raise InputError(f"{path}: shapes: {str(error).strip().splitlines()[-1]}") from None
    shapes = {t.name: tuple(t.dims) for t in graph.initializer}
    for value in (*inferred.input, *inferred.value_info, *inferred.output):
        shape = _known(value)
        if shape is not None:
            shapes[value.name] = shape
    real = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}
    real.add(onnx.TensorProto.DOUBLE)
    weights = {
        name: shapes[name]
        for name, t in initial.items()
        if t.data_type in real and int(np.prod(shapes[name])) > 1
    }
    constants = {
        name: numpy_helper.to_array(t) for name, t in initial.items() if name not in weights
    }
    network = Network(
        [], shapes, constants, weights, [v.name for v in inputs], graph.output[0].name
    )
    for node in graph.node:
        if _evaluated(node, network):
            network.folded += 1
        else:
            network.nodes.append(node)
    _drop_last(network)
    return network


def _close(value: ValueInfoProto, path: Path, batch: int, extents: dict[str, int]) -> None:
    """Give every axis of an input an extent."""
    for axis, dim in enumerate(value.type.tensor_type.shape.dim):
        if dim.HasField("dim_value") and dim.dim_value > 0:
            continue
        extent = extents.get(dim.dim_param) or (batch if axis == 0 else 0)
        if extent <= 0:
            name = dim.dim_param or "without a name"
            option = "batch" if axis == 0 else f"dimensions, such as {name}=128"
            raise InputError(f"{path}: axis {axis} ({name}) of input {value.name!r}: set {option}")
        dim.dim_value = extent


def _known(value: ValueInfoProto) -> Shape | None:
    if not value.type.tensor_type.HasField("shape"):
        return None
    dims = value.type.tensor_type.shape.dim
    if not all(dim.HasField("dim_value") for dim in dims):
        return None
    return tuple(dim.dim_value for dim in dims)


def _evaluated(node: NodeProto, network: Network) -> bool:
    """Evaluate a node whose inputs are constants; False if they are not."""
    from onnx.reference import ReferenceEvaluator

    constants = network.constants
    if node.op_type == "Shape" and node.input[0] in network.shapes:
        shape = np.array(network.shapes[node.input[0]], dtype=np.int64)
        given = {a.name: a.i for a in node.attribute}
        constants[node.output[0]] = shape[given.get("start") : given.get("end")]
        return True
    given_inputs = [name for name in node.input if name]
    if not all(name in constants for name in given_inputs):
        return False
    if any(int(np.prod(network.shapes.get(name, (0,)))) > MOST_CONSTANTS for name in node.output):
        return False
    values = ReferenceEvaluator(node).run(None, {name: constants[name] for name in given_inputs})
    constants.update(zip(node.output, map(np.asarray, values), strict=True))
    network.shapes.update({name: constants[name].shape for name in node.output})
    return True


def _drop_last(network: Network) -> None:
    for node in reversed(network.nodes):
        if network.output in node.output and node.op_type in _LAST:
            network.output = node.input[0]
            network.nodes.remove(node)
            network.left_out[node.op_type] += 1
            return


def _converted(network: Network, path: Path) -> tuple[Graph, str]:
    """Return the graph of a network, and the operator that holds its output."""
    from .onnx_operators import (
        Conversion,
        NotConverted,
        NotSupported,
    )

    conversion = Conversion(network)
    problems: Counter[str] = Counter()
    for node in network.nodes:
        try:
            conversion.convert(node)
        except NotSupported as error:
            problems[str(error)] += 1
        except NotConverted:
            continue  # an input comes from an operator that is not supported
        except ValueError as error:
            raise InputError(f"{path}: node {node.name or node.output[0]!r}: {error}") from None
    if problems:
        listed = "; ".join(f"{what} ({times} times)" for what, times in problems.most_common())
        raise InputError(f"{path}: not supported: {listed}")
    if network.output not in conversion.tensors:
        raise InputError(f"{path}: output {network.output!r} is not computed from the inputs")
    return conversion.graph, conversion.tensors[network.output]


def _train(graph: Graph, logits: str) -> None:
    """Add the training of the network's output against classes along its last axis."""
    shape = graph.shape(logits)
    if len(shape) < 2:
        raise NoGradient(f"output of {len(shape)} axes, expected samples and classes")
    graph.train(logits, graph.source("classes", *shape[:-1]))
