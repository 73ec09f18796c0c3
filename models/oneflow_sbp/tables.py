"""Tables derived from an instance: operators by class, edges by class, and their exact costs.

Operators of equal kind, shapes, attributes and placement form a class and share one list of
signatures; edges between equal classes share one table of conversions. Repeated layers so cost the
memory and the time of one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from .boxing import boxing_cost
from .labels import (
    Label,
    Shape,
    elements,
    label_text,
    parse_label,
    shard_shape,
    split_devices,
    splits,
)
from .operators import flops
from .signatures import Signature, signature_list

if TYPE_CHECKING:
    from .instance import Costs, OneFlowSbpInstance, Operator, Placement

#: Exact costs by pairs of labels; None where no conversion is allowed.
CostTable = tuple[tuple[Fraction | None, ...], ...]


@dataclass(frozen=True)
class ListedTable:
    """Costs of an edge by pairs of signatures, as an instance lists them.

    Attributes
    ----------
    costs : CostTable
    rows, columns : tuple of Label
        What stands in for a label: a name for every signature of the producer, and of the consumer.
        Those that cost the same with every signature of the other have the same name.
    by_names : dict
        The costs by two names.
    """

    costs: CostTable
    rows: tuple[Label, ...]
    columns: tuple[Label, ...]
    by_names: dict[tuple[Label, Label], Fraction | None]


@dataclass(frozen=True)
class OperatorClass:
    r"""Operators that differ in name only.

    Attributes
    ----------
    signatures : tuple of Signature
        :math:`K_o`.
    compute : tuple of Fraction
        :math:`\hat c_{ok}`, in the unit of the objective.
    memory_bytes : tuple of int
        :math:`m_{ok}`, of the device that keeps most.
    shape : tuple of int
    tensor_bytes : int
    group : int
        Number of the placement.
    input_tables : tuple of int or None
        Numbers of the tables that the instance lists for the inputs.
    """

    signatures: tuple[Signature, ...]
    compute: tuple[Fraction, ...]
    memory_bytes: tuple[int, ...]
    shape: Shape
    tensor_bytes: int
    group: int
    input_tables: tuple[int | None, ...] = ()


class Edge(NamedTuple):
    """Use of the output of `source` in an input slot of `target`; `tied` forbids to convert it."""

    source: int
    target: int
    slot: int
    tied: bool


class Tables:
    """Operators, edges and costs by number.

    Attributes
    ----------
    number : dict
        Number of every operator, by name.
    classes : list of OperatorClass
    class_of : list of int
        Class of every operator.
    edges : list of Edge
        One for every input slot of every operator, in their order.
    pinned : dict
        The label of the output of every pinned operator.
    ties : list of pairs of int
        Operators whose outputs have the same label.
    """

    def __init__(self, instance: OneFlowSbpInstance):
        self.costs: Costs = instance.costs
        self.placements: tuple[Placement, ...] = instance.placements
        self.factor: int = instance.variable_memory_factor
        self.number: dict[str, int] = {o.name: i for i, o in enumerate(instance.operators)}
        self.pinned: dict[int, Label] = {
            self.number[o]: parse_label(text) for o, text in instance.pins.items()
        }
        self.ties: list[tuple[int, int]] = [
            (self.number[a], self.number[b]) for a, b in instance.ties
        ]
        self.classes: list[OperatorClass] = []
        self.class_of: list[int] = []
        self.edges: list[Edge] = []
        self._conversions: dict[tuple[int, int, int], CostTable] = {}
        self._listed: dict[int, ListedTable] = {
            number: _listed_table(costs) for number, costs in enumerate(instance.edge_tables)
        }
        self._costs: dict[Hashable, dict[tuple[Label, Label], Fraction | None]] = {}
        self._read(instance)

    def _read(self, instance: OneFlowSbpInstance) -> None:
        group_of = {p.name: g for g, p in enumerate(instance.placements)}
        known: dict[Hashable, int] = {}
        for i, operator in enumerate(instance.operators):
            sources = [self.number[name] for name in operator.inputs]
            inputs = [instance.operators[u] for u in sources]
            key = (
                operator.kind,
                operator.shape,
                operator.dtype_bytes,
                operator.placement,
                operator.attributes,
                tuple((o.shape, o.dtype_bytes) for o in inputs),
                operator.signatures,
                operator.input_tables,
            )
            if key not in known:
                known[key] = len(self.classes)
                group = group_of[operator.placement]
                try:
                    self.classes.append(self._class(operator, inputs, group))
                except ValueError as error:
                    raise ValueError(f"operators[{i}] ({operator.name}): {error}") from None
            self.class_of.append(known[key])
            update = operator.kind == "update"
            self.edges.extend(
                Edge(u, i, slot, update and slot == 0) for slot, u in enumerate(sources)
            )
        for edge in self.edges:
            self._check_table(edge, instance.operators)
        for o, label in self.pinned.items():
            if not any(s.output == label for s in self.signatures[o]):
                name = instance.operators[o].name
                raise ValueError(f"pins[{name!r}]: no signature puts out {label_text(label)}")

    def _check_table(self, edge: Edge, operators: Sequence[Operator]) -> None:
        listed = self.listed(edge)
        if listed is None:
            return
        source, target, slot = operators[edge.source], operators[edge.target], edge.slot
        found = len(listed.rows), len(listed.columns)
        expected = tuple(len(self.classes[self.class_of[o]].signatures) for o in edge[:2])
        if found != expected:
            raise ValueError(
                f"operators[{edge.target}].input_tables[{slot}]: a table of {found[0]} x {found[1]}"
                f" costs, expected {expected[0]} x {expected[1]} for the signatures of "
                f"{source.name} and {target.name}"
            )

    def _class(self, operator: Operator, inputs: Sequence[Operator], group: int) -> OperatorClass:
        placement = self.placements[group]
        shapes = tuple(o.shape for o in inputs)
        ratio = self.costs.compute_ratio
        if self.costs.unit == "seconds":
            ratio = 1 / Fraction(self.costs.flops_per_s or 1)
        if operator.signatures is not None:
            signatures = _listed_signatures(operator, shapes, placement)
            compute = [s.compute for s in operator.signatures]
            memory = [s.memory_bytes for s in operator.signatures]
        else:
            signatures = signature_list(
                operator.kind, operator.attributes, shapes, operator.shape, placement.hierarchy
            )
            compute = [self._flops(operator, inputs, s, placement) for s in signatures]
            factor = self.factor if operator.kind == "variable" else 1
            memory = [
                factor
                * operator.dtype_bytes
                * elements(shard_shape(operator.shape, s.output, placement.hierarchy))
                for s in signatures
            ]
        return OperatorClass(
            signatures,
            tuple(ratio * c for c in compute),
            tuple(memory),
            operator.shape,
            operator.tensor_bytes,
            group,
            operator.input_tables,
        )

    def _flops(
        self,
        operator: Operator,
        inputs: Sequence[Operator],
        signature: Signature,
        placement: Placement,
    ) -> Fraction:
        """Return the floating-point operations of one device."""
        whole = flops(operator.kind, operator.attributes, [o.shape for o in inputs])
        if whole is None and self.costs.elementwise == "inputs_and_output":
            tensors = [*zip((o.elements for o in inputs), signature.inputs, strict=True)]
            tensors.append((operator.elements, signature.output))
            weight = 10 if operator.kind in ("softmax", "softmax_grad") else 1
            return sum(
                (Fraction(weight * n, split_devices([x], placement.hierarchy)) for n, x in tensors),
                Fraction(0),
            )
        if whole is None:
            whole = operator.elements
        held = [*signature.inputs, signature.output]
        return Fraction(whole, split_devices(held, placement.hierarchy))

    @cached_property
    def signatures(self) -> list[tuple[Signature, ...]]:
        """Signature list of every operator."""
        return [self.classes[c].signatures for c in self.class_of]

    def conversions(self, edge: Edge) -> CostTable:
        """Return the costs of an edge: rows are signatures of the source, columns of the target."""
        listed = self.listed(edge)
        if listed is not None:
            return listed.costs
        key = (self.class_of[edge.source], self.class_of[edge.target], edge.slot)
        if key not in self._conversions:
            source, target = self.classes[key[0]], self.classes[key[1]]
            wanted = [s.inputs[edge.slot] for s in target.signatures]
            made = {s.output for s in source.signatures}
            costs = self.edge_costs(edge, made, set(wanted))
            rows = {a: tuple(costs[a, b] for b in wanted) for a in made}
            self._conversions[key] = tuple(rows[s.output] for s in source.signatures)
        return self._conversions[key]

    def listed(self, edge: Edge) -> ListedTable | None:
        """Return the table that the instance lists for an edge, if it does."""
        numbers = self.classes[self.class_of[edge.target]].input_tables
        number = numbers[edge.slot] if numbers else None
        return None if number is None else self._listed[number]

    def held(self, edge: Edge) -> Sequence[Label]:
        """Return the label that each signature of an edge's producer puts out, or its name."""
        listed = self.listed(edge)
        if listed is not None:
            return listed.rows
        return [s.output for s in self.signatures[edge.source]]

    def wanted(self, edge: Edge) -> Sequence[Label]:
        """Return the label that each signature of an edge's consumer wants, or its name."""
        listed = self.listed(edge)
        if listed is not None:
            return listed.columns
        return [s.inputs[edge.slot] for s in self.signatures[edge.target]]

    def edge_costs(
        self, edge: Edge, have: Iterable[Label], want: Iterable[Label]
    ) -> dict[tuple[Label, Label], Fraction | None]:
        """Return the costs of an edge between labels, or names of `held` and `wanted`."""
        listed = self.listed(edge)
        if listed is not None:
            return listed.by_names
        source = self.classes[self.class_of[edge.source]]
        group = self.classes[self.class_of[edge.target]].group
        costs = self._known_costs(source, group)
        for pair in product(have, want):
            if pair not in costs:
                costs[pair] = self._conversion_cost(source, group, *pair)
        return costs

    def conversion_cost(
        self, source: OperatorClass, group: int, have: Label, want: Label
    ) -> Fraction | None:
        """Return the cost of giving a tensor another label on a group of devices."""
        costs = self._known_costs(source, group)
        if (have, want) not in costs:
            costs[have, want] = self._conversion_cost(source, group, have, want)
        return costs[have, want]

    def _known_costs(
        self, source: OperatorClass, group: int
    ) -> dict[tuple[Label, Label], Fraction | None]:
        key = (source.shape, source.tensor_bytes, source.group, group)
        return self._costs.setdefault(key, {})

    def _conversion_cost(
        self, source: OperatorClass, group: int, have: Label, want: Label
    ) -> Fraction | None:
        from_, to = self.placements[source.group], self.placements[group]
        moved = boxing_cost(
            self.costs.rules,
            have,
            want,
            source.shape,
            source.tensor_bytes,
            from_.hierarchy,
            to.hierarchy,
            same_group=source.group == group,
        )
        if not moved:
            return moved
        cost = Fraction(moved)
        if self.costs.unit == "seconds" and self.costs.link_bytes_per_s is not None:
            cost /= min(from_.devices, to.devices) * self.costs.link_bytes_per_s
        return cost + self.costs.wait


def _listed_table(costs: CostTable) -> ListedTable:
    """Return a table of a file; its rows and columns are named by the first that is alike."""
    rows, columns = _names(costs), _names(tuple(zip(*costs, strict=True)))
    by_names = {
        (a, b): cost
        for a, row in zip(rows, costs, strict=True)
        for b, cost in zip(columns, row, strict=True)
    }
    return ListedTable(costs, rows, columns, by_names)


def _names(lines: CostTable) -> tuple[Label, ...]:
    names: dict[Hashable, Label] = {}
    return tuple(names.setdefault(line, (str(i),)) for i, line in enumerate(lines))


def _listed_signatures(
    operator: Operator, shapes: Sequence[tuple[int, ...]], placement: Placement
) -> tuple[Signature, ...]:
    """Return the signatures of a file, once their labels fit the shapes."""
    found = []
    for k, given in enumerate(operator.signatures or ()):
        where = f"signatures[{k}]"
        if len(given.inputs) != len(shapes):
            raise ValueError(f"{where}.inputs: {len(given.inputs)} labels for {len(shapes)} inputs")
        texts = [(f"inputs[{s}]", text) for s, text in enumerate(given.inputs)]
        tensors = zip([*texts, ("output", given.output)], [*shapes, operator.shape], strict=True)
        read = []
        for (slot, text), shape in tensors:
            label = parse_label(text)
            if len(label) != len(placement.hierarchy):
                raise ValueError(
                    f"{where}.{slot}: {text!r}, expected a label of {len(placement.hierarchy)} "
                    "levels"
                )
            for axis, slices in splits(label, placement.hierarchy).items():
                if axis >= len(shape) or shape[axis] < slices:
                    extent = f"extent {shape[axis]}" if axis < len(shape) else "not an axis"
                    raise ValueError(
                        f"{where}.{slot}: axis {axis} ({extent}) is cut into {slices} slices"
                    )
            read.append(label)
        found.append(Signature(tuple(read[:-1]), read[-1]))
    return tuple(found)
