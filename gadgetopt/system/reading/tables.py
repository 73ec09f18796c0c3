"""Lists of an instance or a solution as tables, and tables and texts as their plain values.

A list of records is a table with a column for each field of the record. A list of lists of records
has a further first column, named as the list: the number of the inner list. A list of values is a
table of one column, named as the list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.data import Data

if TYPE_CHECKING:
    import pandas as pd

#: Inner lists of a list of lists in a table.
MOST_LISTS = 10**6
#: Whole numbers up to this are doubles.
MOST_WHOLE = 2**53
_DECIMAL = re.compile(r"[+-]?[0-9]+([.][0-9]+)?")


@dataclass(frozen=True)
class ListField:
    """A field of a record that is a list.

    Attributes
    ----------
    name : str
    item : Any
        The type of its entries, or of those of the inner lists.
    nested : bool
        True for a list of lists of records.
    """

    name: str
    item: Any
    nested: bool = False

    @property
    def of_records(self) -> bool:
        """True if the entries are records."""
        return _is_record(self.item)

    @property
    def types(self) -> dict[str, Any]:
        """The columns of its table, each with the type of its values."""
        if not self.of_records:
            return {self.name: self.item}
        inner = {name: f.annotation for name, f in self.item.model_fields.items()}
        return {self.name: int, **inner} if self.nested else inner

    @property
    def required(self) -> list[str]:
        """The columns that a table must have."""
        if not self.of_records:
            return [self.name]
        inner = [name for name, f in self.item.model_fields.items() if f.is_required()]
        return [self.name, *inner] if self.nested else inner


def lists_of(record: type[Data]) -> dict[str, ListField]:
    """Return the fields of a type of record that are lists."""
    found = {}
    for name, field in record.model_fields.items():
        item = _item(field.annotation)
        if item is None:
            continue
        inner = _item(item)
        nested = inner is not None and _is_record(inner)
        found[name] = ListField(name, inner if nested else _bare(item), nested)
    return found


def _bare(annotation: Any) -> Any:
    """Return a type without its constraints, and without the None that it also allows."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
            continue
        others = [a for a in get_args(annotation) if a is not type(None)]
        if get_origin(annotation) not in (Union, UnionType) or len(others) != 1:
            return annotation
        annotation = others[0]


def _item(annotation: Any) -> Any:
    """Return the type of the entries of a list, None for another type."""
    bare = _bare(annotation)
    parts = get_args(bare)
    return parts[0] if get_origin(bare) is tuple and parts[1:] == (...,) else None


def _is_record(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Data)


def _kinds(annotation: Any) -> set[type]:
    """Return the plain types that a type's values may have."""
    bare = _bare(annotation)
    if get_origin(bare) in (Union, UnionType):
        return {kind for part in get_args(bare) for kind in _kinds(part)}
    if get_origin(bare) is Literal:
        return {type(value) for value in get_args(bare)}
    return {get_origin(bare) or bare}


# -- from tables -----------------------------------------------------------------------------------


def entries_of(table: pd.DataFrame, field: ListField, place: str) -> list[Any]:
    """Return the plain entries of a list from its table; a cell without a value is left out.

    Raises
    ------
    InputError
        If the table has other columns than the list, or lacks one.
    """
    check_columns([str(column) for column in table.columns], field, place)
    columns = [
        [_cell(value, field.types[str(name)], f"{place}.{name}") for value in table.iloc[:, k]]
        for k, name in enumerate(table.columns)
    ]
    names = [str(name) for name in table.columns]
    rows = [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]
    return grouped(rows, field, place)


def check_columns(columns: Sequence[str], field: ListField, place: str) -> None:
    """Refuse columns that are not those of a list's table, all in one line.

    Raises
    ------
    InputError
        It names columns that are unknown, missing or there twice, and what was expected.
    """
    known, needed = list(field.types), field.required
    faults = [
        f"{what} {', '.join(map(repr, found))}"
        for what, found in (
            ("unknown", [c for c in dict.fromkeys(columns) if c not in known]),
            ("missing", [c for c in needed if c not in columns]),
            ("twice", [c for c in dict.fromkeys(columns) if columns.count(c) > 1]),
        )
        if found
    ]
    if faults:
        optional = [c for c in known if c not in needed]
        more = f", and as you like {', '.join(optional)}" if optional else ""
        expected = f"{', '.join(needed)}{more}".removeprefix(", and ")
        raise InputError(f"{place}: columns: {'; '.join(faults)}; expected {expected}")


def grouped(rows: Iterable[Mapping[str, Any]], field: ListField, place: str) -> list[Any]:
    """Return rows as the entries of a list; what is None is left out.

    Raises
    ------
    InputError
        If the number of an inner list is none.
    """
    if not field.of_records:
        return [row[field.name] for row in rows]
    plain = [{k: v for k, v in row.items() if v is not None} for row in rows]
    if not field.nested:
        return plain
    groups: list[list[Any]] = []
    for k, row in enumerate(plain):
        number = row.pop(field.name, None)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < MOST_LISTS:
            raise InputError(
                f"{place}: row {k}: {field.name}: {number!r} is not the number of a list, "
                "expected them counted from 0"
            )
        groups += [[] for _ in range(number + 1 - len(groups))]
        groups[number].append(row)
    return groups


def _cell(value: Any, annotation: Any, place: str) -> Any:
    """Return the value of a cell, None if it has none; pandas turns integers beside gaps to floats.

    Raises
    ------
    InputError
        If it is of a type that no file can hold.
    """
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    value = plain(value, place)
    if isinstance(value, float) and value != value:  # noqa: PLR0124 (NaN)
        return None
    if isinstance(value, str) and value.startswith(("[", "{")) and str not in _kinds(annotation):
        return value_of(value, annotation)  # a list, as pandas reads it from a CSV file
    return _whole(value, annotation)


def _whole(value: Any, annotation: Any) -> Any:
    """Return a float that is an integer as one, where only integers are allowed."""
    exact = isinstance(value, float) and value.is_integer() and abs(value) <= MOST_WHOLE
    kinds = _kinds(annotation)
    return int(value) if exact and int in kinds and not kinds & {float, Fraction} else value


def plain(value: Any, place: str) -> Any:
    """Return a value as JSON can hold it: also arrays, series, records and exact numbers.

    Raises
    ------
    InputError
        If it is of a type that no file can hold.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Data):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, float):
        return float(value)  # not numpy's
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), place)
    if isinstance(value, Mapping):
        return {str(key): plain(part, f"{place}.{key}") for key, part in value.items()}
    if isinstance(value, Sequence | range) and not isinstance(value, bytes):
        return [plain(part, f"{place}[{k}]") for k, part in enumerate(value)]
    kind = type(value).__name__
    raise InputError(f"{place}: is of type {kind}, expected plain Python, an array or a DataFrame")


def value_of(text: str, annotation: Any) -> Any:
    """Return the plain value that a text stands for in a field of a type; None if it is empty.

    Decimals of exact fields keep all their digits.
    """
    text = text.strip()
    kinds = _kinds(annotation)
    if not text:
        return None
    if Fraction in kinds and _DECIMAL.fullmatch(text):
        return plain(Fraction(text), "")
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kinds <= {str, type(None)}:
        return text
    try:
        value = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError):
        return text
    return _whole(value, annotation)


def _no_number(text: str) -> Any:
    raise ValueError(text)


# -- to tables -------------------------------------------------------------------------------------


def tables_of(record: Data) -> dict[str, pd.DataFrame]:
    """Return a table for each list of a record."""
    import pandas as pd

    tables = {}
    for name, field in lists_of(type(record)).items():
        entries = getattr(record, name)
        if entries is None:
            continue
        columns = {column: _series(cells) for column, cells in _columns(entries, field).items()}
        tables[name] = pd.DataFrame(columns)
    return tables


def _columns(entries: Sequence[Any], field: ListField) -> dict[str, list[Any]]:
    if not field.of_records:
        return {field.name: [_readable(entry) for entry in entries]}
    numbered = [(0, entry) for entry in entries]
    if field.nested:
        numbered = [(k, entry) for k, inner in enumerate(entries) for entry in inner or ()]
    columns: dict[str, list[Any]] = {}
    if field.nested:
        columns[field.name] = [k for k, _ in numbered]
    for name in field.item.model_fields:
        columns[name] = [_readable(getattr(entry, name)) for _, entry in numbered]
    return columns


def _readable(value: Any) -> Any:
    """Return a value with exact numbers as decimals where these are the same, else as fractions."""
    if isinstance(value, Fraction):
        return _number(value)
    if isinstance(value, Data):
        return value.model_dump(mode="json", exclude_none=True)
    if isinstance(value, Mapping):
        return {key: _readable(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_readable(part) for part in value]
    return value


def _number(value: Fraction) -> int | float | str:
    if value.denominator == 1:
        return value.numerator
    double = float(value)
    return double if decimal_rational(double) == value else str(value)


def _series(values: list[Any]) -> pd.Series[Any]:
    """Return a column as numbers if all its values are, without changing any."""
    import pandas as pd

    column = pd.Series(values, dtype=object)
    kinds = {type(value) for value in values}
    small = all(abs(v) <= MOST_WHOLE for v in values if type(v) is int)
    if kinds == {int} and small:
        return column.astype("int64")
    if kinds == {float} or (kinds == {int, float} and small):
        return column.astype("float64")
    return column.astype(bool) if kinds == {bool} else column
