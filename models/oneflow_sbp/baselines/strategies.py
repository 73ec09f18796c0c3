"""The strategies that people choose by hand.

Each fixes the labels of data and of weights, and the compiler's pass infers the rest. The gradient
of the loss is held as the data is, since it is computed from the data's classes, and the gradient
of a weight as the weight, or as a sum over samples where those are split (reconstructed).

A weight is split by columns along an axis that its product has, and by rows along one that is
summed: S(1) and S(0) of the second operand of a matmul. For other products the axes follow from
their equation, so that heads of attention, rows of an embedding and experts are split as usual. A
weight that is not multiplied, such as a bias, is held as the activation that it meets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..algorithms.inference import Hint, fitting, inferred
from ..instance import OneFlowSbpInstance, Operator
from ..labels import BROADCAST, PARTIAL, axis_of, fits, split
from ..signatures import rows_of

#: The part that a strategy gives a tensor on one dimension of the hierarchy.
_Parts = Mapping[str, str]


@method(kind="baseline", reference="4 C")
def data_parallel(instance: OneFlowSbpInstance) -> MethodOutcome:
    """Data split by samples, all weights on every device."""
    return _with(instance, lambda dimension: _by_samples(instance))


@method(kind="baseline", reference="4 C")
def model_parallel_col(instance: OneFlowSbpInstance) -> MethodOutcome:
    """Weights split along an axis of their products, data on every device."""
    return _with(instance, lambda dimension: _by_weights(instance, lambda first, second: first))


@method(kind="baseline", reference="4 C")
def model_parallel_row(instance: OneFlowSbpInstance) -> MethodOutcome:
    """Weights split along a summed axis, data on every device."""
    return _with(instance, lambda dimension: _by_weights(instance, lambda first, second: second))


@method(kind="baseline", reference="Shoeybi et al. 2019; 4 C")
def megatron(
    instance: OneFlowSbpInstance,
    *,
    outer: Literal["data", "model"] = "data",
) -> MethodOutcome:
    """Weights split by columns and by rows in turn, one all-reduce for each pair.

    Split weights by columns and by rows in turn and keep data on every device.

    A weight is split by rows if the activation that it is multiplied with is split since a weight
    that was split by columns, else by columns; so the product by rows is the only one that needs a
    sum over the devices. Rows of an embedding are split.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    outer : "data" or "model"
        What the outer of two dimensions of the hierarchy does: data parallelism, or the same.

    References
    ----------
    M. Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model
    Parallelism", arXiv:1909.08053.
    """
    levels = len(instance.placements[0].hierarchy)

    def parts(dimension: int) -> _Parts:
        if levels > 1 and dimension == 0 and outer == "data":
            return _by_samples(instance)
        return _in_turn(instance)

    return _with(instance, parts)


@method(kind="baseline", reference="4 C")
def all_broadcast(instance: OneFlowSbpInstance) -> MethodOutcome:
    """Every device computes everything.

    Let every device compute everything; no transfer within a group of devices.
    """
    signature = []
    for operator, signatures in zip(instance.operators, instance.tables.signatures, strict=True):
        everywhere = [
            k
            for k, s in enumerate(signatures)
            if all(part == BROADCAST for label in (*s.inputs, s.output) for part in label)
        ]
        if not everywhere:
            return MethodOutcome(notes={"stuck_at": operator.name})
        signature.append(everywhere[0])
    return fitting(instance, tuple(signature))


def _with(instance: OneFlowSbpInstance, parts_of: Callable[[int], _Parts]) -> MethodOutcome:
    """Infer the signatures of all operators from the parts of some of their outputs."""
    levels = len(instance.placements[0].hierarchy)
    parts = [parts_of(dimension) for dimension in range(levels)]
    hierarchies = {p.name: p.hierarchy for p in instance.placements}
    hints: dict[int, Hint] = {}
    for o, operator in enumerate(instance.operators):
        hint = tuple(p.get(operator.name) for p in parts)
        if any(part is not None for part in hint):
            hints[o] = _fitting(hint, operator, hierarchies[operator.placement])
    return inferred(instance, hints)


def _gradients(instance: OneFlowSbpInstance) -> Iterator[tuple[str, str]]:
    """Yield every weight that is updated, and its gradient."""
    for operator in instance.operators:
        if operator.kind == "update":
            yield operator.inputs[0], operator.inputs[1]


def _fitting(hint: Hint, operator: Operator, hierarchy: tuple[int, ...]) -> Hint:
    """Return a hint whose inner splits are given up as far as the shape does not allow them."""
    for dimension in reversed(range(len(hint))):
        if fits(tuple(part or BROADCAST for part in hint), operator.shape, hierarchy):
            break
        hint = (*hint[:dimension], BROADCAST, *hint[dimension + 1 :])
    return hint


def _data(instance: OneFlowSbpInstance) -> Iterator[str]:
    """Yield the operators that hold data, or the gradient of the loss."""
    for operator in instance.operators:
        if operator.kind in ("source", "cross_entropy_grad"):
            yield operator.name


def _by_samples(instance: OneFlowSbpInstance) -> _Parts:
    parts = {o.name: BROADCAST for o in instance.operators if o.kind == "variable"}
    parts.update((gradient, PARTIAL) for _, gradient in _gradients(instance))
    return {**parts, **dict.fromkeys(_data(instance), split(0))}


def _by_weights(
    instance: OneFlowSbpInstance, choose: Callable[[str | None, str | None], str | None]
) -> _Parts:
    """Split weights by the first of (columns, rows) that is chosen and exists."""
    parts = dict.fromkeys(_data(instance), BROADCAST)
    for weight, (columns, rows) in _splits(instance).items():
        parts[weight] = choose(columns, rows) or columns or rows or BROADCAST
    return {**{gradient: parts[w] for w, gradient in _gradients(instance)}, **parts}


def _in_turn(instance: OneFlowSbpInstance) -> _Parts:
    """Follow the activations: split after a weight by columns, whole after one by rows.

    What is whole is held by every device, but for the sum itself that a weight by rows leaves.
    """
    parts = dict.fromkeys(_data(instance), BROADCAST)
    axes = _splits(instance)
    is_split: dict[str, bool] = {}
    for operator in instance.operators:
        weights = [name for name in operator.inputs if name in axes and name not in parts]
        others = [name for name in operator.inputs if name not in axes]
        state = bool(others) and any(is_split.get(name, False) for name in others)
        if operator.kind in ("add", "layer_norm"):
            # A residual sum is whole where one of its addends is, a normalised row always.
            state = operator.kind == "add" and all(is_split.get(name, False) for name in others)
        summed = False
        for weight in weights:
            columns, rows = axes[weight]
            by_rows = state or operator.kind == "embedding"
            parts[weight] = (rows if by_rows else columns) or columns or rows or BROADCAST
            state = parts[weight] == columns
            summed = parts[weight] == rows
        is_split[operator.name] = state
        if operator.kind == "cross_entropy_grad":
            break  # the pass infers gradients from the weights
        if operator.kind not in ("source", "variable") and not state and not summed:
            parts[operator.name] = BROADCAST
    return {**{gradient: parts[w] for w, gradient in _gradients(instance) if w in parts}, **parts}


def _splits(instance: OneFlowSbpInstance) -> dict[str, tuple[str | None, str | None]]:
    """Return for every weight how it is split by columns and by rows in its first product."""
    number = instance.tables.number
    found: dict[str, tuple[str | None, str | None]] = {
        o.name: (None, None) for o in instance.operators if o.kind == "variable"
    }
    seen: set[str] = set()
    for operator in instance.operators:
        for slot, name in enumerate(operator.inputs):
            if name not in found or name in seen or operator.kind in ("custom", "update"):
                continue
            seen.add(name)
            shapes = [instance.operators[number[x]].shape for x in operator.inputs]
            rows = rows_of(operator.kind, shapes, operator.shape, operator.attributes)
            cut = [row for row in rows if axis_of(row[0][slot]) is not None]
            columns = next((r[0][slot] for r in cut if axis_of(r[1]) is not None), None)
            summed = next((r[0][slot] for r in cut if r[1] == PARTIAL), None)
            found[name] = columns, summed
    return found
