"""Profiles from traces of torch.profiler: layers are what `record_function("layer.3")` marks.

A trace is what `export_chrome_trace` writes. The forward of a layer is what runs between the begin
and the end of its mark; its backward is found by the sequence numbers that PyTorch gives operators
and their gradients alike. Where the trace has kernels of a GPU, times are theirs, else those of the
operators on the CPU. A layer that is marked several times, once for each minibatch, gets the mean.

With `record_shapes=True` the trace also has the shapes of operators' inputs: a boundary carries the
input of the next layer, and parameters are those of linear layers, embeddings, convolutions and
norms.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.profiles import Profile, ProfileNode
from gadgetopt.system.reading import decoded, read_bytes

#: Traces give times in microseconds. By definition.
_US_PER_S = 10**6
_LAYER = re.compile(r"layer\.(0|[1-9]\d{0,4})")
_BACKWARD = "autograd::engine::evaluate_function: "
_KERNELS = ("kernel", "gpu_memcpy", "gpu_memset")
#: Bytes of an element, by what traces call its type. By definition.
_ELEMENT_BYTES = {"float": 4, "double": 8, "c10::Half": 2, "c10::BFloat16": 2, "long int": 8}
#: Inputs of operators that are parameters.
_PARAMETERS = {
    "aten::linear": (1, 2),
    "aten::embedding": (0,),
    "aten::conv1d": (1, 2),
    "aten::conv2d": (1, 2),
    "aten::conv3d": (1, 2),
    "aten::layer_norm": (2, 3),
    "aten::rms_norm": (2,),
}


@dataclass(frozen=True)
class _Event:
    """Something that ran on a thread from `begin_us` to `end_us`."""

    name: str
    begin_us: float
    end_us: float
    args: Mapping[str, Any]

    @property
    def us(self) -> float:
        return self.end_us - self.begin_us


@dataclass
class _Layer:
    """What was found of a layer, over all its marks."""

    marks: int = 0
    fwd_us: float = 0.0
    bwd_us: float = 0.0
    input_bytes: int = 0
    param_bytes: int = 0


@dataclass
class _Trace:
    """Events of a trace: marks and operators by thread, times of kernels by their operator."""

    marks: list[tuple[Any, _Event]] = field(default_factory=list)
    operators: dict[Any, list[_Event]] = field(default_factory=lambda: defaultdict(list))
    kernel_us: dict[Any, float] = field(default_factory=lambda: defaultdict(float))

    def within(self, thread: Any, event: _Event) -> list[_Event]:
        """Return the operators of a thread that ran within an event, in order."""
        operators = self.operators[thread]
        first = bisect.bisect_left(operators, event.begin_us, key=lambda o: o.begin_us)
        last = bisect.bisect_left(operators, event.end_us, lo=first, key=lambda o: o.begin_us)
        return [o for o in operators[first:last] if o.end_us <= event.end_us]

    def busy_us(self, operators: Sequence[_Event]) -> float:
        """Return the time of operators: that of their kernels if there are any in the trace."""
        if self.kernel_us:
            ids = {o.args.get("External id") for o in operators}
            return float(
                sum(self.kernel_us.get(number, 0.0) for number in ids if number is not None)
            )
        return sum(o.us for o in outermost(operators))


def outermost(operators: Sequence[_Event]) -> Iterator[_Event]:
    """Yield the operators, in order of their begins, that no other one called."""
    end = -math.inf
    for operator in operators:
        if operator.begin_us >= end:
            yield operator
            end = operator.end_us


def read_trace(path: Path) -> Profile:
    """Read a trace of torch.profiler; see the module.

    Raises
    ------
    InputError
        If the file is no trace, marks no layers, leaves some out or marks them unequally often, or
        was recorded without shapes.
    """
    content = read_bytes(path)
    trace = _events(path, decoded(path, content))
    layers = _layers(path, trace)
    nodes = []
    for number, layer in sorted(layers.items()):
        following = layers.get(number + 1)
        nodes.append(
            ProfileNode(
                f"layer.{number}",
                "layer",
                layer.fwd_us / layer.marks / _US_PER_S,
                layer.bwd_us / layer.marks / _US_PER_S,
                following.input_bytes if following else 0.0,
                layer.param_bytes,
            )
        )
    notes = {
        "minibatches": layers[0].marks,
        "times": "kernels of the GPU" if trace.kernel_us else "operators on the CPU",
    }
    edges = tuple((n, n + 1) for n in range(len(nodes) - 1))
    digest = hashlib.sha256(content).hexdigest()
    return Profile(path.name.partition(".")[0], tuple(nodes), edges, digest, notes)


def _events(path: Path, text: str) -> _Trace:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
    events = content.get("traceEvents") if isinstance(content, dict) else None
    if not isinstance(events, list):
        raise InputError(
            f"{path}: traceEvents: is no list, expected what export_chrome_trace wrote"
        )
    trace = _Trace()
    for number, event in enumerate(events):
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        kind, name = event.get("cat"), event.get("name")
        if not isinstance(name, str) or kind not in ("user_annotation", "cpu_op", *_KERNELS):
            continue
        begin, duration = (_number(path, number, event, key) for key in ("ts", "dur"))
        args = event.get("args")
        found = _Event(name, begin, begin + duration, args if isinstance(args, dict) else {})
        thread = str(event.get("pid")), str(event.get("tid"))
        if kind == "cpu_op":
            trace.operators[thread].append(found)
        elif kind in _KERNELS:
            trace.kernel_us[_hashable(found.args.get("External id"))] += found.us
        elif _LAYER.fullmatch(name):
            trace.marks.append((thread, found))
    for operators in trace.operators.values():
        operators.sort(key=lambda o: (o.begin_us, -o.end_us))
    return trace


def _number(path: Path, number: int, event: Mapping[str, Any], key: str) -> float:
    value = event.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf:
        return float(value)
    raise InputError(
        f"{path}: traceEvents[{number}].{key}: {value!r}, expected a non-negative number"
    )


def _hashable(value: Any) -> Any:
    return value if isinstance(value, int | str) else None


def _layers(path: Path, trace: _Trace) -> dict[int, _Layer]:
    """Return the layers by their numbers, with all times that belong to them."""
    if not trace.marks:
        raise InputError(
            f'{path}: marks no layers, expected record_function("layer.0"), ("layer.1"), ...'
        )
    layers: dict[int, _Layer] = defaultdict(_Layer)
    layer_of: dict[Any, int] = {}
    for thread, mark in trace.marks:
        number = int(mark.name.rpartition(".")[2])
        operators = trace.within(thread, mark)
        layer = layers[number]
        layer.marks += 1
        layer.fwd_us += trace.busy_us(operators)
        if layer.marks == 1:
            _add_shapes(path, mark.name, layer, operators)
        for operator in operators:
            sequence = _hashable(operator.args.get("Sequence number"))
            if sequence is not None and not operator.name.startswith(_BACKWARD):
                layer_of.setdefault(sequence, number)
    for thread, operators in trace.operators.items():
        for operator in operators:
            sequence = _hashable(operator.args.get("Sequence number"))
            if operator.name.startswith(_BACKWARD) and sequence in layer_of:
                inside = trace.within(thread, operator)
                layers[layer_of[sequence]].bwd_us += trace.busy_us(inside)
    for number in range(max(layers) + 1):
        if number not in layers:
            raise InputError(f"{path}: layer.{number}: is not marked, but layer.{max(layers)} is")
        if layers[number].marks != layers[0].marks:
            raise InputError(
                f"{path}: layer.{number}: marked {layers[number].marks} times, "
                f"expected {layers[0].marks} as layer.0"
            )
    return layers


def _add_shapes(path: Path, name: str, layer: _Layer, operators: Sequence[_Event]) -> None:
    """Add the bytes of the first input and of the parameters."""
    outer = list(outermost(operators))
    if not any(o.args.get("Input Dims") for o in outer):
        raise InputError(
            f"{path}: {name}: operators have no shapes, expected profile(record_shapes=True)"
        )
    for operator in outer:
        sizes = _input_bytes(operator)
        parameters = _PARAMETERS.get(operator.name, ())
        data = [size for k, size in enumerate(sizes) if k not in parameters and size]
        if data and not layer.input_bytes:
            layer.input_bytes = data[0]
    for operator in operators:
        sizes = _input_bytes(operator)
        for k in _PARAMETERS.get(operator.name, ()):
            layer.param_bytes += sizes[k] if k < len(sizes) else 0


def _input_bytes(operator: _Event) -> list[int]:
    """Return the bytes of an operator's inputs, 0 for what is no tensor of a known type."""
    shapes, types = operator.args.get("Input Dims"), operator.args.get("Input type")
    if not isinstance(shapes, list) or not isinstance(types, list):
        return []
    return [
        _ELEMENT_BYTES.get(kind, 0) * math.prod(shape) if _is_shape(shape) else 0
        for shape, kind in zip(shapes, types, strict=False)
    ]


def _is_shape(shape: Any) -> bool:
    return (
        isinstance(shape, list)
        and bool(shape)
        and all(isinstance(n, int) and 0 <= n < 2**40 for n in shape)
    )
