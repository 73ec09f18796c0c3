r"""Profiles of neural networks as graphs: what profilers of pipeline planners print.

Two families of files are read, each into a `Profile`.

Text, as PipeDream's profiler prints it (``graph.txt``) and as DAPPLE's planner reads it::

    node4 -- Conv2d(3, 64) -- forward_compute_time=22.307, backward_compute_time=24.613,
    activation_size=1644167168.000, parameter_size=7168.000          (one line)
        node4 -- node5

Times are milliseconds of one minibatch, sizes bytes. Lines of edges may be indented by a tab, by
spaces or not at all: a line with one separator ``--`` is an edge, one with two or more a node.
``activation_size`` may be a list ``[a; b; c]``, whose sum is taken.

JSON, the throughput inputs of dnn-partitioning: ``nodes`` with `id`, `fpgaLatency`, `size`,
`isBackwardNode`, `colorClass`, and ``edges`` with `sourceId`, `destId`, `cost`, `size`. A backward
node belongs to the forward nodes of its colour class.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.reading import read_bytes

_TIMES = ("forward_compute_time", "backward_compute_time")
_SIZES = ("activation_size", "parameter_size")
_FIELD = re.compile(r"(\w+)=(\[[^\]]*\]|[^,\s]+)")
#: Profiles give times in milliseconds. By definition.
_MS_PER_S = 1000


@dataclass(frozen=True)
class ProfileNode:
    """An operator or a layer.

    Attributes
    ----------
    id, description : str
    fwd_s, bwd_s : float
        Seconds of one minibatch on one device.
    activation_bytes, param_bytes : float
        Bytes of its output for one minibatch, and of its parameters.
    """

    id: str
    description: str
    fwd_s: float
    bwd_s: float
    activation_bytes: float
    param_bytes: float


@dataclass(frozen=True)
class Profile:
    """A profiled network.

    Attributes
    ----------
    name : str
        The file's name without its suffixes.
    nodes : tuple of ProfileNode
        In the order of the file.
    edges : tuple of (int, int)
        Positions of producer and consumer in `nodes`, in the order of the file.
    sha256 : str
        Of the file's bytes.
    notes : mapping
        What was read besides: the sums of lists, the limits of a JSON input.
    """

    name: str
    nodes: tuple[ProfileNode, ...]
    edges: tuple[tuple[int, int], ...]
    sha256: str
    notes: Mapping[str, Any] = field(default_factory=dict)


# -- text ----------------------------------------------------------------------------------------


def read_profile(path: Path | str) -> Profile:
    """Read a profile as PipeDream and DAPPLE write it.

    Raises
    ------
    InputError
        If the file cannot be read or a line cannot be understood; the line is named.
    """
    path = Path(path)
    text, sha256 = _text_of(path)
    return parse_profile(text, path.name, sha256)


def parse_profile(text: str, name: str, sha256: str = "") -> Profile:
    """Read the text of a profile; see `read_profile`."""
    nodes: list[ProfileNode] = []
    position: dict[str, int] = {}
    pairs: list[tuple[int, str, str]] = []
    lists = 0
    for number, line in enumerate(text.splitlines(), start=1):
        parts = [part.strip() for part in line.strip().split(" -- ")]
        if parts == [""]:
            continue
        place = f"{name}: line {number}"
        if len(parts) == 1:
            raise InputError(f"{place}: {parts[0][:60]!r}, expected a node or an edge with ' -- '")
        if len(parts) == 2:
            pairs.append((number, parts[0], parts[1]))
            continue
        # A description may hold the separator itself: the last part has the numbers.
        node, summed = _node(parts[0], " -- ".join(parts[1:-1]), parts[-1], place)
        if node.id in position:
            raise InputError(f"{place}: {node.id!r} is declared twice")
        position[node.id] = len(nodes)
        nodes.append(node)
        lists += summed
    if not nodes:
        raise InputError(f"{name}: no nodes, expected lines 'id -- description -- times and sizes'")
    edges = tuple(
        (
            _known(position, a, f"{name}: line {number}"),
            _known(position, b, f"{name}: line {number}"),
        )
        for number, a, b in pairs
    )
    return Profile(_stem(name), tuple(nodes), edges, sha256, {"summed_lists": lists})


def _node(id_: str, description: str, numbers: str, place: str) -> tuple[ProfileNode, bool]:
    given = dict(_FIELD.findall(numbers))
    for wanted in (*_TIMES, *_SIZES):
        if wanted not in given:
            raise InputError(f"{place}: {wanted} is missing")
    fwd, bwd = (_number(given[name], f"{place}: {name}") / _MS_PER_S for name in _TIMES)
    activation, param = (_number(given[name], f"{place}: {name}") for name in _SIZES)
    node = ProfileNode(id_, description, float(fwd), float(bwd), float(activation), float(param))
    return node, given["activation_size"].startswith("[")


def _number(text: str, place: str) -> Fraction:
    """Return a decimal, or the sum of a list "[a; b]", exactly."""
    cells = text.strip("[]").split(";") if text.startswith("[") else [text]
    return sum((_decimal(cell.strip(), place) for cell in cells), Fraction(0))


def _decimal(text: str, place: str) -> Fraction:
    try:
        finite = math.isfinite(float(text)) and 0 <= float(text) <= 1e30
    except ValueError:
        finite = False
    if not finite:
        raise InputError(f"{place}: {text!r}, expected a number of at least 0 and at most 1e30")
    return Fraction(text) if "e" not in text.lower() else Fraction(repr(float(text)))


def _known(position: Mapping[str, int], id_: str, place: str) -> int:
    if id_ not in position:
        raise InputError(f"{place}: {id_!r} is no node of the profile")
    return position[id_]


# -- JSON ----------------------------------------------------------------------------------------


def read_partitioning_graph(path: Path | str) -> Profile:
    """Read a throughput input of dnn-partitioning.

    Latencies are taken as milliseconds. The output of a node is what its edges carry: every edge of
    a node carries the same tensor, so the largest counts once. Backward nodes are merged into the
    forward nodes of their colour class. A node's `size` is the memory that it occupies, its output
    included; what is left without the output counts as parameters. The notes hold the memory and
    the number of the devices.

    Raises
    ------
    InputError
        If the file is not such an input; the field is named.
    """
    path = Path(path)
    text, sha256 = _text_of(path)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name}: line {error.lineno}: {error.msg}, expected JSON") from error
    if not isinstance(data, dict):
        raise InputError(f"{path.name}: expected an object with nodes and edges")
    nodes = [
        _entry(n, f"{path.name}: nodes[{k}]", _NODE)
        for k, n in enumerate(_list(data, "nodes", path))
    ]
    edges = [
        _entry(e, f"{path.name}: edges[{k}]", _EDGE)
        for k, e in enumerate(_list(data, "edges", path))
    ]
    return _of_graph(path, nodes, edges, sha256, data)


_NODE = ("id", "fpgaLatency", "size", "isBackwardNode", "colorClass")
_EDGE = ("sourceId", "destId", "size", "cost")


def _list(data: Mapping[str, Any], name: str, path: Path) -> list[Any]:
    given = data.get(name)
    if not isinstance(given, list):
        raise InputError(f"{path.name}: {name}: expected a list")
    return given


def _entry(given: Any, place: str, fields: Iterable[str]) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InputError(f"{place}: expected an object")
    for name in fields:
        value = given.get(name)
        if not isinstance(value, int | float) or not math.isfinite(value) or not 0 <= value <= 1e30:
            raise InputError(f"{place}.{name}: {value!r}, expected a number of at least 0")
    return given


def _of_graph(
    path: Path,
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
    sha256: str,
    data: Mapping[str, Any],
) -> Profile:
    forward = [n for n in nodes if not n["isBackwardNode"]]
    backward_ms: Counter[Any] = Counter()
    for n in nodes:
        if n["isBackwardNode"]:
            backward_ms[n["colorClass"]] += n["fpgaLatency"]
    colours = Counter(n["colorClass"] for n in forward)
    for colour in backward_ms:
        if colour not in colours:
            raise InputError(f"{path.name}: colorClass {colour} has backward nodes only")
    position = {n["id"]: k for k, n in enumerate(forward)}
    known = {n["id"] for n in nodes}
    output = [0.0] * len(forward)
    pairs = []
    for k, e in enumerate(edges):
        for end in ("sourceId", "destId"):
            if e[end] not in known:
                raise InputError(f"{path.name}: edges[{k}].{end}: {e[end]} is no node")
        if e["sourceId"] in position and e["destId"] in position:
            u = position[e["sourceId"]]
            pairs.append((u, position[e["destId"]]))
            output[u] = max(output[u], float(e["size"]))
    profiled = tuple(
        ProfileNode(
            f"node{n['id']}",
            str(n.get("name", "")),
            float(n["fpgaLatency"]) / _MS_PER_S,
            backward_ms[n["colorClass"]] / colours[n["colorClass"]] / _MS_PER_S,
            output[k],
            max(0.0, float(n["size"]) - output[k]),
        )
        for k, n in enumerate(forward)
    )
    limits = {key: data[key] for key in ("maxFPGAs", "maxCPUs", "maxSizePerFPGA") if key in data}
    return Profile(_stem(path.name), profiled, tuple(pairs), sha256, limits)


# -- files ---------------------------------------------------------------------------------------


def _text_of(path: Path) -> tuple[str, str]:
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig"), hashlib.sha256(content).hexdigest()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not a text file (byte {error.start} is not UTF-8)") from error


def _stem(name: str) -> str:
    for suffix in (".json", ".txt", ".graph"):
        name = name.removesuffix(suffix)
    return name
