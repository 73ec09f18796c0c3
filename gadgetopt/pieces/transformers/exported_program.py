"""Programs that `torch.export.save` wrote: their graph of operators, read without PyTorch.

A `.pt2` file is an archive; the graph in it is JSON. Nothing else of the archive is read: neither
weights nor the example inputs, which are pickled. Shapes are those of the example inputs, so a
program with open extents (`dynamic_shapes`) is refused.
"""

from __future__ import annotations

import hashlib
import math
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.system.reading import MOST_BYTES, check_regular

#: Bytes of an element by the number of its type, the enumeration `ScalarType` of PyTorch's schema
#: of exported programs. By definition.
_ELEMENT_BYTES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 2, 7: 4, 8: 8, 12: 1, 13: 2, 28: 2, 34: 4, 35: 8}
_ELEMENT_BYTES |= dict.fromkeys(range(29, 34), 1)
#: The schema's version that is read. By definition.
_MAJOR = 8
_MODEL = re.compile(r"[^/]+/models/[^/]+\.json")
_EXPECTED = "expected an archive of torch.export.save"


@dataclass(frozen=True)
class TensorOf:
    """Shape of a tensor, and bytes of an element."""

    shape: tuple[int, ...]
    element_bytes: int

    @property
    def elements(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Bytes of all elements."""
        return self.elements * self.element_bytes


@dataclass(frozen=True)
class Ref:
    """A tensor as an argument."""

    name: str


@dataclass(frozen=True)
class Call:
    """One operator.

    Attributes
    ----------
    name : str
    operator : str
        Such as "linear" of "torch.ops.aten.linear.default".
    arguments : mapping from names to values
        Tensors are `Ref`, lists are tuples.
    outputs : tuple of str
        Tensors.
    module : str
        Qualified name of the module that called it, "" for the model itself.
    """

    name: str
    operator: str
    arguments: Mapping[str, Any]
    outputs: tuple[str, ...]
    module: str

    @property
    def tensors(self) -> tuple[str, ...]:
        """The tensors among the arguments, in their order."""
        values = self.arguments.values()
        parts = [part for v in values for part in (v if isinstance(v, tuple) else (v,))]
        return tuple(part.name for part in parts if isinstance(part, Ref))


@dataclass(frozen=True)
class ExportedProgram:
    """The graph of a program.

    Attributes
    ----------
    calls : tuple of Call
        Producers before consumers.
    tensors : mapping
        Of all arguments and results.
    parameters : mapping
        Qualified name of every tensor that is a parameter.
    inputs : tuple of str
        What the user gives.
    varying : frozenset of str
        Tensors that depend on inputs or parameters; all others are constants.
    output : str
        The first.
    sha256 : str
        Of the graph.
    """

    calls: tuple[Call, ...]
    tensors: Mapping[str, TensorOf]
    parameters: Mapping[str, str]
    inputs: tuple[str, ...]
    varying: frozenset[str]
    output: str
    sha256: str

    def trained(self) -> frozenset[str]:
        """Return the tensors that depend on parameters."""
        found = set(self.parameters)
        for call in self.calls:
            if found.intersection(call.tensors):
                found.update(call.outputs)
        return frozenset(found)


class _Size(BaseModel):
    as_int: int | None = None


class _Meta(BaseModel):
    dtype: int
    sizes: list[_Size]


class _Named(BaseModel):
    name: str
    arg: dict[str, Any]


class _Node(BaseModel):
    target: str
    inputs: list[_Named]
    outputs: list[dict[str, Any]]
    metadata: dict[str, Any] = {}


class _Graph(BaseModel):
    nodes: list[_Node]
    outputs: list[dict[str, Any]]
    tensor_values: dict[str, _Meta]


class _TensorName(BaseModel):
    name: str


class _Parameter(BaseModel):
    arg: _TensorName
    parameter_name: str


class _Input(BaseModel):
    parameter: _Parameter | None = None
    user_input: dict[str, Any] | None = None


class _Signature(BaseModel):
    input_specs: list[_Input]


class _Module(BaseModel):
    graph: _Graph
    signature: _Signature


class _Version(BaseModel):
    major: int


class _Program(BaseModel):
    graph_module: _Module
    schema_version: _Version


def read_exported_program(path: Path) -> ExportedProgram:
    """Read a program.

    Raises
    ------
    InputError
        If the file is no such archive, or a shape in it is open.
    """
    content = _graph_of(path)
    try:
        read = _Program.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "graph"
        raise InputError(f"{path}: {place}: {first['msg']}") from None
    if read.schema_version.major != _MAJOR:
        raise InputError(
            f"{path}: schema_version.major: {read.schema_version.major}, expected {_MAJOR}, "
            "as PyTorch 2.8 to 2.13 write"
        )
    graph, signature = read.graph_module.graph, read.graph_module.signature
    tensors = {
        name: _tensor(f"{path}: tensor_values.{name}", meta)
        for name, meta in graph.tensor_values.items()
    }
    parameters: dict[str, str] = {}
    inputs: list[str] = []
    for given in signature.input_specs:
        if given.parameter is not None:
            parameters[given.parameter.arg.name] = given.parameter.parameter_name
        elif given.user_input is not None:
            inputs.extend(_refs(given.user_input.get("arg", {})))
    calls = tuple(
        _call(f"{path}: nodes[{k}] ({node.target})", node) for k, node in enumerate(graph.nodes)
    )
    _check_names(path, calls, tensors, (*parameters, *inputs))
    varying = {*parameters, *inputs}
    for call in calls:
        if varying.intersection(call.tensors):
            varying.update(call.outputs)
    output = next((name for given in graph.outputs for name in _refs(given)), "")
    if output not in varying:
        raise InputError(f"{path}: outputs: no tensor that depends on inputs or parameters")
    digest = hashlib.sha256(content).hexdigest()
    return ExportedProgram(
        calls, tensors, parameters, tuple(inputs), frozenset(varying), output, digest
    )


def _graph_of(path: Path) -> bytes:
    """Return the JSON of the graph in an archive."""
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            models = [name for name in archive.namelist() if _MODEL.fullmatch(name)]
            if len(models) != 1:
                raise InputError(f"{path}: {len(models)} graphs models/NAME.json, {_EXPECTED}")
            with archive.open(models[0]) as file:
                content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except (zipfile.BadZipFile, zlib.error, ValueError, RuntimeError) as error:
        raise InputError(f"{path}: {error}, {_EXPECTED}") from None
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: {models[0]}: more than {MOST_BYTES} bytes")
    return content


def _tensor(place: str, meta: _Meta) -> TensorOf:
    sizes = tuple(size.as_int for size in meta.sizes)
    known = tuple(n for n in sizes if n is not None)
    if len(known) < len(sizes):
        raise InputError(f"{place}: an extent is open, export without dynamic_shapes")
    if any(n <= 0 for n in known):
        raise InputError(f"{place}: extents {list(known)}, expected positive numbers")
    if meta.dtype not in _ELEMENT_BYTES:
        raise InputError(f"{place}: dtype {meta.dtype}, expected one of real or whole numbers")
    return TensorOf(known, _ELEMENT_BYTES[meta.dtype])


def _call(place: str, node: _Node) -> Call:
    stack = str(node.metadata.get("nn_module_stack", "")).rpartition(";")[2].split(",")
    return Call(
        name=next((name for given in node.outputs for name in _refs(given)), ""),
        operator=node.target.removeprefix("torch.ops.").removeprefix("aten.").split(".")[0],
        arguments={given.name: _value(place, given) for given in node.inputs},
        outputs=tuple(name for given in node.outputs for name in _refs(given)),
        module=stack[1] if len(stack) > 2 else "",
    )


def _value(place: str, given: _Named) -> Any:
    """Return an argument: numbers and texts as they are, tensors by reference, lists as tuples."""
    kind, value = next(iter(given.arg.items()), ("as_none", None))
    parts: list[Any] = value if isinstance(value, list) else []
    if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        if isinstance(value, dict) and value and "as_name" not in value:
            return next(iter(value.values()))
        raise InputError(f"{place}: {given.name}: depends on data or on an open extent")
    if kind == "as_sym_ints":
        named = [_Named(name=given.name, arg={"as_sym_int": part}) for part in parts]
        return tuple(_value(place, part) for part in named)
    if kind == "as_graph":
        raise InputError(f"{place}: {given.name}: control flow, expected a graph of operators")
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return next((Ref(name) for name in _refs(given.arg)), None)
    if kind in ("as_tensors", "as_optional_tensors"):
        tensors = [part if "as_tensor" in part else {"as_tensor": part} for part in parts]
        return tuple(next((Ref(name) for name in _refs(part)), None) for part in tensors)
    return tuple(parts) if isinstance(value, list) else value


def _refs(given: Any) -> Iterator[str]:
    """Yield the names of the tensors of an argument."""
    if not isinstance(given, dict):
        return
    parts = [given.get("as_tensor"), *(given.get("as_tensors") or ())]
    for part in parts:
        if isinstance(part, dict) and isinstance(part.get("name"), str):
            yield part["name"]


def _check_names(
    path: Path, calls: tuple[Call, ...], tensors: Mapping[str, TensorOf], given: tuple[str, ...]
) -> None:
    """Refuse tensors without a shape, and what is read before it is computed."""
    made = {name for call in calls for name in call.outputs}
    for name in (*given, *(name for call in calls for name in (*call.tensors, *call.outputs))):
        if name not in tensors:
            raise InputError(f"{path}: tensor_values: {name!r} is missing")
    known: set[str] = set()
    for k, call in enumerate(calls):
        for name in call.tensors:
            if name in made and name not in known:
                raise InputError(f"{path}: nodes[{k}]: {name!r} is computed by no node before")
        known.update(call.outputs)
