"""Instances and solutions: a graph of operators over logical tensors, and one signature for each.

What a signature list contains is in `signatures`, what a conversion costs in `boxing`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeInt,
    Rational,
    Solution,
    without,
)

from .boxing import BoxingRules, IntoPartial
from .labels import parse_label
from .operators import KINDS
from .shapes import Attributes
from .tables import Tables

#: Limits that keep every cost far inside the range of doubles.
MOST_EXTENT, MOST_BYTES, MOST_DEVICES = 10**12, 10**18, 2**20
MOST_RATE = 10**30
#: Of a device; far enough below 2**56 that sums of memory are exact in label graphs.
MOST_MEMORY_BYTES = 10**15


def _label(text: str) -> str:
    try:
        parse_label(text)
    except ValueError:
        expected = "expected a label such as 'S0', 'B', 'P' or '(S0,B)'"
        raise PydanticCustomError("label", expected) from None
    return text


def _not_negative(value: Rational) -> Rational:
    if value < 0:
        raise PydanticKnownError("greater_than_equal", {"ge": 0})
    if value > MOST_RATE:
        raise PydanticKnownError("less_than_equal", {"le": MOST_RATE})
    if value.denominator > MOST_RATE:
        raise PydanticCustomError("digits", "expected at most 30 decimals")
    return value


def _positive(value: Rational) -> Rational:
    if value <= 0:
        raise PydanticKnownError("greater_than", {"gt": 0})
    return _not_negative(value)


LabelText = Annotated[str, AfterValidator(_label)]
Cost = Annotated[Rational, AfterValidator(_not_negative)]
Rate = Annotated[Rational, AfterValidator(_positive)]
Extent = Annotated[int, Field(gt=0, le=MOST_EXTENT)]
Name = Annotated[str, Field(min_length=1)]
#: What every signature of a producer costs with every one of a consumer; None where not allowed.
EdgeTable = tuple[tuple[Cost | None, ...], ...]


class Placement(Data):
    """A group of devices.

    Attributes
    ----------
    name : str
    hierarchy : tuple of int
        Devices on each level: (p,), or (h1, h2) for h1 groups of h2 devices.
    """

    name: Name
    hierarchy: Annotated[
        tuple[Annotated[int, Field(gt=0, le=MOST_DEVICES)], ...], Field(min_length=1, max_length=2)
    ]

    @property
    def devices(self) -> int:
        """Number of devices p."""
        count = 1
        for level in self.hierarchy:
            count *= level
        return count


class ListedSignature(Data):
    """A signature given in the file instead of generated from the operator's kind.

    Attributes
    ----------
    inputs : tuple of str
        Label of every input slot.
    output : str
    compute : Rational
        Floating-point operations of one device; seconds where costs are seconds without rates.
    memory_bytes : int
        Bytes that one device keeps.
    """

    inputs: tuple[LabelText, ...]
    output: LabelText
    compute: Cost = Field(default=0, validate_default=True)
    memory_bytes: Annotated[int, Field(ge=0, le=MOST_BYTES)] = 0


class Operator(Data):
    """An operator and the logical tensor that it puts out.

    Attributes
    ----------
    name : str
    kind : str
        One of `operators.KINDS`, or "custom" with listed signatures.
    inputs : tuple of str
        The operators whose outputs fill the input slots; each is listed before this one.
    shape : tuple of int
        Of the output.
    placement : str
    dtype_bytes : int
        Bytes of one element.
    attributes : Attributes
    signatures : tuple of ListedSignature, optional
        Replace those of the kind.
    input_tables : tuple of int or None
        For every input slot the number of its table in `edge_tables`, or None: its labels say what
        it costs. By default none has one.
    """

    name: Name
    kind: str
    inputs: tuple[Name, ...] = ()
    shape: tuple[Extent, ...] = ()
    placement: Name
    dtype_bytes: Annotated[int, Field(gt=0, le=64)] = 4
    attributes: Attributes = Attributes()
    signatures: Annotated[tuple[ListedSignature, ...], Field(min_length=1)] | None = None
    input_tables: tuple[NonNegativeInt | None, ...] = ()

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(write(self), self, "input_tables")

    def table_of(self, slot: int) -> int | None:
        """Return the number of the table of an input slot, None if it has none."""
        return self.input_tables[slot] if self.input_tables else None

    @cached_property
    def elements(self) -> int:
        """Elements of the output."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def tensor_bytes(self) -> int:
        r""":math:`|T_o|`, bytes of the logical output."""
        return self.elements * self.dtype_bytes


class Costs(Data):
    r"""How compute and conversions become one number.

    In `oneflow` units, compute costs :math:`\rho` a floating-point operation of one device, and a
    conversion its total bytes; in `seconds`, :math:`1/F` and :math:`1/(p \cdot BW)`.

    Attributes
    ----------
    unit : "oneflow" or "seconds"
    boxing_table : "paper" or "oneflow"
        Volumes of conversions: Table 2 of the paper, or the released code's.
    compute_ratio : Rational
        :math:`\rho`.
    wait : Rational
        W, added to every conversion that moves anything, in the unit of the objective.
    flops_per_s, link_bytes_per_s : Rational
        F of a device and BW of its link, for seconds; neither where all costs are given as such.
    elementwise : "output" or "inputs_and_output"
        What an operator that is no product computes: an operation for every element of its output,
        or, as in the released code, of its inputs too (ten for softmax).
    forbidden_conversions : tuple of str
        Such as `B->P`, `S->B` or `S0->S1`: steps that no conversion may take, on any level.
    into_partial : "table", "free", "unit", "penalty" or "forbidden"
        What turning S or B into P costs; `table` is `free` in the paper's and `forbidden` in
        OneFlow's.
    """

    unit: Literal["oneflow", "seconds"] = "oneflow"
    boxing_table: Literal["paper", "oneflow"] = "paper"
    compute_ratio: Cost = Field(default="1/20", validate_default=True)
    wait: Cost = Field(default=0, validate_default=True)
    flops_per_s: Rate | None = None
    link_bytes_per_s: Rate | None = None
    elementwise: Literal["output", "inputs_and_output"] = "output"
    forbidden_conversions: tuple[str, ...] = ()
    into_partial: IntoPartial = "table"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.unit == "seconds" and (self.flops_per_s is None) != (self.link_bytes_per_s is None):
            raise ValueError("flops_per_s, link_bytes_per_s: expected both or neither")
        self.rules  # noqa: B018 (reads the forbidden conversions)
        return self

    @property
    def given(self) -> bool:
        """True if there are no rates: compute and conversions are given in seconds."""
        return self.unit == "seconds" and self.flops_per_s is None

    @cached_property
    def rules(self) -> BoxingRules:
        """The table of volumes without the forbidden conversions."""
        return BoxingRules(self.boxing_table, self.forbidden_conversions, self.into_partial)


class OneFlowSbpInstance(Instance):
    r"""A graph of operators, the devices, and what compute and conversions cost.

    Attributes
    ----------
    placements : tuple of Placement
        Disjoint groups of devices.
    operators : tuple of Operator
        Producers before consumers.
    costs : Costs
    memory_limit_bytes : int, optional
        :math:`M^{max}` of one device.
    variable_memory_factor : int
        Bytes kept for one byte of a variable: itself, its gradient and the optimizer's state.
    pins : dict from operator to label
        The label that an operator's output must have.
    ties : tuple of pairs of operators
        Operators whose outputs must have the same label. An update is tied to its variable anyway.
    shared_boxing : bool
        True if a tensor that several consumers want under one label is converted once.
    edge_tables : tuple of EdgeTable
        Costs of edges by pairs of signatures, in the unit of the objective: a row for every
        signature of the producer, an entry for every one of the consumer, null where they do not go
        together.
    """

    placements: Annotated[tuple[Placement, ...], Field(min_length=1)]
    operators: Annotated[tuple[Operator, ...], Field(min_length=1)]
    costs: Costs = Costs()
    memory_limit_bytes: Annotated[int, Field(gt=0, le=MOST_MEMORY_BYTES)] | None = None
    variable_memory_factor: Annotated[int, Field(gt=0, le=10**6)] = 4
    pins: dict[str, LabelText] = Field(default_factory=dict)
    ties: tuple[tuple[str, str], ...] = ()
    shared_boxing: bool = False
    edge_tables: tuple[EdgeTable, ...] = ()

    @model_serializer(mode="wrap")
    def _plain(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(write(self), self, "edge_tables")

    @model_validator(mode="after")
    def _check(self) -> Self:
        for problem in self._problems():
            raise ValueError(problem)
        self.tables  # noqa: B018 (names an operator that has no signature)
        return self

    def _problems(self) -> Iterator[str]:
        levels = len(self.placements[0].hierarchy)
        for i, placement in enumerate(self.placements):
            if len(placement.hierarchy) != levels:
                yield (
                    f"placements[{i}].hierarchy: {len(placement.hierarchy)} levels, expected "
                    f"{levels} as in placements[0]"
                )
        yield from _repeated("placements", [p.name for p in self.placements])
        yield from _repeated("operators", [o.name for o in self.operators])
        for t, table in enumerate(self.edge_tables):
            for r, row in enumerate(table):
                if len(row) != len(table[0]):
                    yield (
                        f"edge_tables[{t}][{r}]: {len(row)} costs, expected {len(table[0])} as in "
                        "the first row"
                    )
        yield from self._problems_of_operators()
        known = {o.name for o in self.operators}
        for name, text in self.pins.items():
            if name not in known:
                yield f"pins: {name!r} is not an operator"
            if len(parse_label(text)) != levels:
                yield f"pins[{name!r}]: {text!r}, expected a label of {levels} levels"
        for t, pair in enumerate(self.ties):
            for name in pair:
                if name not in known:
                    yield f"ties[{t}]: {name!r} is not an operator"

    def _problems_of_operators(self) -> Iterator[str]:
        placements = {p.name for p in self.placements}
        seen: dict[str, str] = {}
        for i, operator in enumerate(self.operators):
            where = f"operators[{i}]"
            if operator.kind not in KINDS and operator.kind != "custom":
                known = ", ".join((*KINDS, "custom"))
                yield f"{where}.kind: {operator.kind!r}, expected one of {known}"
            if operator.kind == "custom" and operator.signatures is None:
                yield f"{where}.signatures: none, but kind is 'custom'"
            if operator.placement not in placements:
                yield f"{where}.placement: {operator.placement!r} is not a placement"
            if operator.tensor_bytes > MOST_BYTES:
                yield f"{where}.shape: {operator.tensor_bytes} bytes, expected at most 1e18"
            for s, name in enumerate(operator.inputs):
                if name not in seen:
                    yield f"{where}.inputs[{s}]: {name!r} is not an operator listed before"
            tied = operator.kind == "update" and operator.inputs
            if tied and seen[operator.inputs[0]] != operator.placement:
                yield f"{where}.placement: {operator.placement!r} is not that of its variable"
            seen[operator.name] = operator.placement
            yield from self._problems_of_tables(i, operator)

    def _problems_of_tables(self, i: int, operator: Operator) -> Iterator[str]:
        where, slots, numbers = f"operators[{i}]", len(operator.inputs), operator.input_tables
        if numbers and len(numbers) != slots:
            yield f"{where}.input_tables: {len(numbers)} for {slots} inputs"
            return
        if numbers and self.shared_boxing:
            yield f"{where}.input_tables: given, but shared_boxing is for conversions by labels"
        if numbers and operator.kind == "update":
            yield f"{where}.input_tables: given, but an update takes its variable as it is held"
        for s, number in enumerate(numbers):
            if number is not None and number >= len(self.edge_tables):
                yield (
                    f"{where}.input_tables[{s}]: {number}, but there are "
                    f"{len(self.edge_tables)} edge_tables"
                )
        by_labels = any(operator.table_of(s) is None for s in range(slots))
        if self.costs.given and (operator.signatures is None or by_labels):
            yield (
                "costs.flops_per_s, link_bytes_per_s: expected both where unit is 'seconds': "
                f"{where} ({operator.name}) does not list its signatures and a table of each input"
            )

    @cached_property
    def tables(self) -> Tables:
        """Signature lists, edges and ties by number."""
        return Tables(self)


def _repeated(where: str, names: list[str]) -> Iterator[str]:
    if len(set(names)) < len(names):
        name = next(name for name, times in Counter(names).items() if times > 1)
        i = len(names) - 1 - names[::-1].index(name)
        yield f"{where}[{i}].name: {name!r} occurs twice"


class OneFlowSbpSolution(Solution):
    """The number of every operator's signature, counted from 0 in its list."""

    signature: tuple[NonNegativeInt, ...]


def size(instance: OneFlowSbpInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    tables = instance.tables
    return {
        "operators": len(instance.operators),
        "edges": len(tables.edges),
        "signatures": sum(map(len, tables.signatures)),
        "devices": sum(p.devices for p in instance.placements),
    }
