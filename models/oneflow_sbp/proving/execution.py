"""Evaluation by execution: small instances are computed in numpy on pretend devices.

Every device holds its shard of every tensor, computes its operators on shards alone, and shards
move only by the steps of `boxing`. The logical tensor must come out: slices joined, copies equal,
addends summed. This finds a wrong signature, and a conversion that does not do what it is charged
for; the bytes that devices receive are counted on the way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.memory import MOST_CELLS

from ..boxing import BETWEEN_GROUPS, Step, conversion
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import BROADCAST, PARTIAL, Label, Shape, axis_of
from ..shapes import Attributes
from ..signatures import Signature
from .kernels import compute, slice_bounds

#: One array for every device, the inner dimension of the hierarchy varying fastest.
Shards = list[Floats]
Hierarchy = Sequence[int]

#: Elements of all tensors on all devices beyond which an instance is not executed.
MOST_ELEMENTS = MOST_CELLS // 2


@dataclass(frozen=True)
class Execution:
    """What an execution found.

    Attributes
    ----------
    error : float
        The largest difference between a tensor of the devices and the logical one, relative to the
        largest element of the logical tensor; infinite where copies disagree or shapes are wrong.
    operator : str
        The operator where it is.
    received_bytes : int
        Bytes that devices received in all conversions.
    """

    error: float
    operator: str
    received_bytes: int


def execute(
    instance: OneFlowSbpInstance, solution: OneFlowSbpSolution, rng: np.random.Generator
) -> Execution:
    """Execute an instance of known kinds under the signatures of a solution, on random data.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    solution : OneFlowSbpSolution
    rng : numpy.random.Generator
        Draws sources and variables, and the addends of partial ones.

    Raises
    ------
    ModelRefused
        If an operator is of kind "custom", or the tensors are too large.
    """
    placement = {p.name: p for p in instance.placements}
    size = sum(o.elements * placement[o.placement].devices for o in instance.operators)
    if size > MOST_ELEMENTS:
        raise ModelRefused(f"{size} elements on all devices, expected at most {MOST_ELEMENTS}")
    custom = next((o.name for o in instance.operators if o.kind == "custom"), None)
    if custom is not None:
        raise ModelRefused(f"operator {custom!r} is of kind 'custom', which cannot be executed")
    tables = instance.tables
    chosen = [k[solution.signature[o]] for o, k in enumerate(tables.signatures)]
    choices = choices_of_ids(instance)
    whole: list[Floats] = []
    held: list[Shards] = []
    worst, where, received = 0.0, "", 0
    for o, operator in enumerate(instance.operators):
        hierarchy = placement[operator.placement].hierarchy
        sources = [tables.number[name] for name in operator.inputs]
        if operator.kind in ("source", "variable"):
            value = _drawn(operator.shape, choices.get(o), rng)
            shards = place(value, chosen[o].output, hierarchy, rng)
        else:
            inputs = []
            for u, want in zip(sources, chosen[o].inputs, strict=True):
                steps = _steps(instance, u, o, chosen[u].output, want)
                before = placement[instance.operators[u].placement].hierarchy
                converted, elements = convert(held[u], steps, before, hierarchy)
                inputs.append(converted)
                received += elements * instance.operators[u].dtype_bytes
            task = operator.kind, operator.attributes
            value = compute(*task, [whole[u] for u in sources], operator.shape)
            shapes = [instance.operators[u].shape for u in sources]
            try:
                shards = run_operator(*task, inputs, chosen[o], shapes, operator.shape, hierarchy)
            except ValueError:  # the shards do not fit each other
                return Execution(math.inf, operator.name, received)
        whole.append(value)
        held.append(shards)
        error = difference(shards, value, chosen[o].output, hierarchy)
        if error > worst:
            worst, where = error, operator.name
    return Execution(worst, where, received)


def _steps(
    instance: OneFlowSbpInstance, u: int, o: int, have: Label, want: Label
) -> tuple[Step, ...]:
    """Return the steps that turn the output of operator u into what operator o wants."""
    source, target = instance.operators[u], instance.operators[o]
    placement = {p.name: p for p in instance.placements}
    steps = conversion(
        instance.costs.rules,
        have,
        want,
        source.shape,
        source.tensor_bytes,
        placement[source.placement].hierarchy,
        placement[target.placement].hierarchy,
        same_group=source.placement == target.placement,
    )
    if steps is None:
        raise ModelRefused(f"{source.name} -> {target.name}: a conversion that is not allowed")
    return steps


def choices_of_ids(instance: OneFlowSbpInstance) -> dict[int, int]:
    """Return for every source of ids, or of classes, how many there are to choose from."""
    tables, found = instance.tables, {}
    for operator in instance.operators:
        inputs = [tables.number[name] for name in operator.inputs]
        if operator.kind == "embedding":
            found[inputs[1]] = instance.operators[inputs[0]].shape[0]
        elif operator.kind == "embedding_grad":
            found[inputs[0]] = operator.shape[0]
        elif operator.kind == "cross_entropy_grad" and len(inputs) == 2:
            found[inputs[1]] = operator.shape[-1]
    return found


def _drawn(shape: Shape, choices: int | None, rng: np.random.Generator) -> Floats:
    if choices is None:
        return rng.standard_normal(shape)
    return rng.integers(0, choices, shape).astype(np.float64)


def run_operator(
    kind: str,
    attributes: Attributes,
    inputs: Sequence[Shards],
    signature: Signature,
    shapes: Sequence[Shape],
    shape: Shape,
    hierarchy: Hierarchy,
) -> Shards:
    """Let every device compute its shard of the output from its shards of the inputs.

    Raises
    ------
    ValueError
        If the shards do not fit each other.
    """
    shards = []
    for k, device in enumerate(product(*map(range, hierarchy))):
        own = [held[k] for held in inputs]
        bounds = [_bounds(n, a, signature.output, hierarchy, device) for a, n in enumerate(shape)]
        first_row = 0
        if kind == "embedding":
            first_row, _ = _bounds(shapes[0][0], 0, signature.inputs[0], hierarchy, device)
        elif kind == "embedding_grad":
            first_row = bounds[0][0]
        extents = tuple(stop - start for start, stop in bounds)
        shards.append(compute(kind, attributes, own, extents, first_row))
    return shards


def _bounds(
    extent: int, axis: int, label: Label, hierarchy: Hierarchy, device: Sequence[int]
) -> tuple[int, int]:
    """Return the part of an axis that a device holds."""
    start, stop = 0, extent
    for part, slices, k in zip(label, hierarchy, device, strict=True):
        if axis_of(part) == axis:
            cuts = slice_bounds(stop - start, slices)
            start, stop = start + cuts[k], start + cuts[k + 1]
    return start, stop


# -- tensors on devices ------------------------------------------------------------------------


def place(
    value: Floats, label: Label, hierarchy: Hierarchy, rng: np.random.Generator | None = None
) -> Shards:
    """Return the shards of a tensor.

    Parameters
    ----------
    value : array
        The logical tensor.
    label : Label
    hierarchy : sequence of int
    rng : numpy.random.Generator, optional
        Draws the addends of partial values; without it the first device holds all, the others
        zeros.
    """
    if not label:
        return [value]
    if label[0] == BROADCAST:
        return place(value, label[1:], hierarchy[1:], rng) * hierarchy[0]
    parts = _parts(value, label[0], hierarchy[0], rng)
    return [shard for part in parts for shard in place(part, label[1:], hierarchy[1:], rng)]


def _parts(value: Floats, part: str, devices: int, rng: np.random.Generator | None) -> Shards:
    axis = axis_of(part)
    if axis is not None:
        cuts = slice_bounds(value.shape[axis], devices)[1:-1]
        return np.split(value, cuts, axis=axis)
    if part == BROADCAST:
        return [value] * devices
    if rng is None:
        return [value, *([np.zeros_like(value)] * (devices - 1))]
    addends = [rng.standard_normal(value.shape) for _ in range(devices - 1)]
    return [*addends, value - sum(addends, np.zeros_like(value))]


def assemble(shards: Shards, label: Label, hierarchy: Hierarchy) -> Floats | None:
    """Return the logical tensor of shards; None if copies disagree or slices do not fit."""
    if not label:
        return shards[0]
    inner = math.prod(hierarchy[1:])
    groups = [shards[k * inner : (k + 1) * inner] for k in range(hierarchy[0])]
    if label[0] == BROADCAST:
        copies = zip(*groups, strict=True)
        agree = all(_joined(list(shards), BROADCAST) is not None for shards in copies)
        return assemble(groups[0], label[1:], hierarchy[1:]) if agree else None
    parts = [assemble(group, label[1:], hierarchy[1:]) for group in groups]
    known = [part for part in parts if part is not None]
    return _joined(known, label[0]) if len(known) == len(parts) else None


def _joined(parts: Shards, part: str) -> Floats | None:
    axis = axis_of(part)
    shapes = {tuple(n for a, n in enumerate(x.shape) if a != axis) for x in parts}
    if len(shapes) > 1:
        return None
    if axis is not None:
        return np.concatenate(parts, axis=axis)
    if part == PARTIAL:
        return np.asarray(sum(parts, np.zeros_like(parts[0])))
    scale = 1 + float(np.abs(parts[0]).max(initial=0))
    copies_agree = all(np.allclose(x, parts[0], rtol=0, atol=1e-9 * scale) for x in parts)
    return parts[0] if copies_agree else None


def difference(shards: Shards, value: Floats, label: Label, hierarchy: Hierarchy) -> float:
    """Return the relative difference between shards and their logical tensor."""
    found = assemble(shards, label, hierarchy)
    if found is None or found.shape != value.shape:
        return math.inf
    scale = 1 + float(np.abs(value).max(initial=0))
    return float(np.abs(found - value).max(initial=0)) / scale


# -- conversions -------------------------------------------------------------------------------


def convert(
    shards: Shards, steps: Sequence[Step], source: Hierarchy, target: Hierarchy
) -> tuple[Shards, int]:
    """Perform the steps of a conversion; return the shards and the elements that devices received.

    Parameters
    ----------
    shards : list of arrays
    steps : sequence of Step
    source, target : sequence of int
        The hierarchies of the groups that have and that want it.
    """
    received = 0
    for step in steps:
        if step.collective == BETWEEN_GROUPS:
            value = assemble(shards, step.source, source)
            assert value is not None, "shards of the label they had"
            shards = place(value, step.target, target, np.random.default_rng(0))
            addends = math.prod(h for x, h in zip(step.source, source, strict=True) if x == PARTIAL)
            copies = math.prod(
                h for x, h in zip(step.target, target, strict=True) if x == BROADCAST
            )
            received += (addends + copies - 1) * value.size
        else:
            shards = list(shards)
            for group in _groups(source, step.dimension or 0):
                changed, elements = _collective([shards[k] for k in group], step)
                received += elements
                for k, shard in zip(group, changed, strict=True):
                    shards[k] = shard
    return shards, received


def _groups(hierarchy: Hierarchy, dimension: int) -> Iterator[list[int]]:
    """Yield the devices that differ in one dimension only, group by group."""
    numbers = np.arange(math.prod(hierarchy)).reshape(hierarchy)
    for group in np.moveaxis(numbers, dimension, -1).reshape(-1, hierarchy[dimension]):
        yield group.tolist()


def _collective(shards: Shards, step: Step) -> tuple[Shards, int]:
    """Perform one collective in a group of devices.

    An all-reduce is a reduce-scatter and an all-gather. What becomes partial has random addends,
    equal ones in equal groups: no operator may rely on all but one being zero.
    """
    dimension = step.dimension or 0
    a, b = step.source[dimension], step.target[dimension]
    devices = len(shards)
    joined = _joined(shards, a)
    assert joined is not None, "shards of the label they had"
    after = _parts(joined, b, devices, np.random.default_rng(0))
    size = joined.size
    match step.collective:
        case "all_gather":
            return after, devices * size - sum(x.size for x in shards)
        case "reduce_scatter":
            return after, (devices - 1) * size
        case "all_reduce":
            return after, 2 * (devices - 1) * size
        case "all_to_all":
            # What a device keeps is cut by both its old and its new slice.
            kept = sum(_parts(x, b, devices, None)[k].size for k, x in enumerate(shards))
            return after, size - kept
        case _:
            return after, 0
