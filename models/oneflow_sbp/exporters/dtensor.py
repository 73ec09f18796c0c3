"""Plans as placements of PyTorch's DTensor: a JSON file, and Python text that executes it.

S(i) is `Shard(i)`, B is `Replicate()`, P is `Partial()`; a label of a hierarchy is one placement
for each dimension of the mesh, the outer first. The Python text (`python_text`) converts where
labels differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.system.declaring import exporter

from ..evaluate import conversion_steps, table_of
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import BROADCAST, PARTIAL, Label, axis_of, split, splits
from ..signatures import Signature
from .python_text import python_text, without_python

#: The name and the version of the JSON format.
FORMAT = "dtensor/1"


@exporter(suffixes=(".json", ".py"))
def write(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> Exported:
    """Placements for PyTorch's DTensor as JSON, and a Python file that executes them.

    Raises
    ------
    InputError
        If there are several groups of devices, or a conversion into P, which DTensor lacks.
    """
    if len(instance.placements) > 1:
        raise InputError(
            f"dtensor: {len(instance.placements)} groups of devices, but a DTensor has one mesh; "
            "export a plan for each group"
        )
    chosen = signatures_of(instance, solution)
    for refusal in _into_partial(instance, chosen):
        raise InputError(refusal)
    hierarchy = instance.placements[0].hierarchy
    nodes = {
        operator.name: {
            "output": written_label(signature.output),
            "inputs": list(map(written_label, signature.inputs)),
            "signature": k,
        }
        for operator, signature, k in zip(
            instance.operators, chosen, solution.signature, strict=True
        )
    }
    files = {".json": _document(hierarchy, nodes)}
    notes = list(_uneven(instance, chosen))
    missing = without_python(instance)
    if missing:
        notes.append(f"no Python file: operators of the kinds {', '.join(missing)} have no text")
    else:
        files[".py"] = python_text(instance, chosen)
    return Exported(files, tuple(notes))


def _document(hierarchy: tuple[int, ...], nodes: Mapping[str, Any]) -> str:
    """Return the JSON, a line for each operator."""
    names = [f"d{d}" for d in range(len(hierarchy))]
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(node)}" for name, node in nodes.items())
    return (
        f'{{"format": {json.dumps(FORMAT)},\n "mesh_shape": {json.dumps(list(hierarchy))},\n'
        f' "mesh_dim_names": {json.dumps(names)},\n "nodes": {{\n{lines}\n }}}}\n'
    )


def signatures_of(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> list[Signature]:
    """Return the signature of every operator."""
    lists = zip(instance.tables.signatures, solution.signature, strict=True)
    return [signatures[k] for signatures, k in lists]


def _into_partial(instance: OneFlowSbpInstance, chosen: list[Signature]) -> Iterator[str]:
    """Yield conversions of S or B into P."""
    for edge in instance.tables.edges:
        if table_of(instance, edge) is not None:
            continue  # whoever listed the costs allowed the pair
        have, want = chosen[edge.source].output, chosen[edge.target].inputs[edge.slot]
        for step in conversion_steps(instance, edge, have, want) or ():
            for a, b in zip(step.source, step.target, strict=True):
                if b == PARTIAL != a:
                    source, target = (
                        instance.operators[o].name for o in (edge.source, edge.target)
                    )
                    yield (
                        f"dtensor: {source} to input {edge.slot} of {target}: turns {a} into P, "
                        "which DTensor does not do; solve with costs.into_partial 'forbidden'"
                    )


def _uneven(instance: OneFlowSbpInstance, chosen: list[Signature]) -> Iterator[str]:
    """Yield a note if an axis does not divide: DTensor cuts it elsewhere than we count."""
    hierarchy = instance.placements[0].hierarchy
    uneven = [
        operator.name
        for operator, signature in zip(instance.operators, chosen, strict=True)
        if any(
            operator.shape[axis] % slices
            for axis, slices in splits(signature.output, hierarchy).items()
        )
    ]
    if uneven:
        yield (
            f"{uneven[0]} has an axis that does not divide (such tensors: {len(uneven)}): DTensor "
            "makes the last slices smaller or empty, the costs here count even ones"
        )


# -- labels ------------------------------------------------------------------------------------


def written_label(label: Label) -> list[str]:
    """Return a label as DTensor's placements print: S(0), R and P."""
    return [_written_part(part) for part in label]


def _written_part(part: str) -> str:
    axis = axis_of(part)
    return {BROADCAST: "R", PARTIAL: "P"}[part] if axis is None else f"S({axis})"


def _read_part(text: object) -> str:
    parts = {"R": BROADCAST, "P": PARTIAL} | {f"S({axis})": split(axis) for axis in range(100)}
    part = parts.get(text) if isinstance(text, str) else None
    if part is None:
        raise InputError(f"{text!r}, expected S(0), R or P")
    return part


# -- reading -----------------------------------------------------------------------------------


def read_back(instance: OneFlowSbpInstance, exported: Exported) -> OneFlowSbpSolution:
    """Return the signatures that the JSON file says.

    Raises
    ------
    InputError
        If it is no such file, or an operator has no such signature.
    """
    try:
        document = json.loads(exported.text(".json"))
    except ValueError as error:
        raise InputError(f"is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(f"format: expected {FORMAT!r}")
    hierarchy = list(instance.placements[0].hierarchy)
    if document.get("mesh_shape") != hierarchy:
        raise InputError(f"mesh_shape: {document.get('mesh_shape')}, expected {hierarchy}")
    nodes = document.get("nodes")
    if not isinstance(nodes, dict):
        raise InputError("nodes: is missing, expected the operators")
    names = [operator.name for operator in instance.operators]
    for name in nodes:
        if name not in names:
            raise InputError(f"nodes: {name!r} is no operator of the instance")
    return OneFlowSbpSolution(
        signature=tuple(
            _read_node(nodes.get(name), signatures, f"nodes[{name!r}]")
            for name, signatures in zip(names, instance.tables.signatures, strict=True)
        )
    )


def _read_node(node: Any, signatures: tuple[Signature, ...], where: str) -> int:
    """Return the number of a node's signature: the one it names, or the first of its labels."""
    if not isinstance(node, Mapping) or not isinstance(node.get("inputs"), list):
        raise InputError(f"{where}: expected the placements of its output and inputs")
    inputs = tuple(_read_label(label, f"{where}.inputs") for label in node["inputs"])
    said = Signature(inputs, _read_label(node.get("output"), f"{where}.output"))
    k = node.get("signature")
    if k is None:
        k = next((k for k, signature in enumerate(signatures) if signature == said), None)
    if not isinstance(k, int) or isinstance(k, bool) or not 0 <= k < len(signatures):
        raise InputError(f"{where}: {said} is no signature of this operator")
    if signatures[k] != said:
        raise InputError(f"{where}: {said}, but signature {k} is {signatures[k]}")
    return k


def _read_label(label: Any, where: str) -> Label:
    if not isinstance(label, list):
        raise InputError(f"{where}: {label!r}, expected a list such as ['S(0)']")
    try:
        return tuple(map(_read_part, label))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
