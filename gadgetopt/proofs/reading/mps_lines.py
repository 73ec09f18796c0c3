"""The lines of MPS files: free, with words, or fixed, with places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gadgetopt.proofs.reading.draft import Draft
from gadgetopt.proofs.reading.text import Unreadable

#: Kinds of bounds that have no value.
WITHOUT_VALUE = {"FR", "MI", "PL", "BV"}
WITH_VALUE = {"LO", "UP", "FX", "LI", "UI"}


class OtherLayout(Unreadable):
    """A line that the other layout of MPS may read."""


@dataclass(frozen=True)
class Fields:
    """How the lines of sections fall into words: the same words from both layouts.

    rows: kind, name; columns and sides: name of the column or set, then names and numbers in turn;
    bounds: kind, set, column, number or "".
    """

    row: Callable[[str], list[str]]
    column: Callable[[str], list[str]]
    side: Callable[[str], list[str]]
    bound: Callable[[str, Draft], list[str]]


def _free_row(line: str) -> list[str]:
    words = line.split()
    if len(words) != 2:
        raise OtherLayout("a row is a kind and a name")
    return words


def _free_column(line: str) -> list[str]:
    words = line.split()
    if len(words) not in (3, 5):
        raise OtherLayout("a column, then one or two rows, each with its number")
    return words


def _free_side(line: str) -> list[str]:
    words = line.split()
    if not 2 <= len(words) <= 5:
        raise OtherLayout("a name of the set, then one or two rows, each with its number")
    return words if len(words) % 2 else ["", *words]


def _free_bound(line: str, draft: Draft) -> list[str]:
    words = line.split()
    kind, *rest = words
    has_value = kind in WITH_VALUE
    if len(rest) == 1 and not has_value:
        return [kind, "", rest[0], ""]
    if len(rest) == 2 and has_value:
        return [kind, "", *rest]
    if len(rest) == 2:
        first, second = (word in draft.index for word in rest)
        if first and second:
            raise Unreadable(f"{rest[0]!r} may be a column or the name of the set of bounds")
        return [kind, "", rest[0], ""] if first else [kind, rest[0], rest[1], ""]
    if len(rest) == 3:
        return [kind, *rest]
    raise OtherLayout("a kind, a name of the set, a column and its number")


#: Fields of a fixed line, from the first character to the one after the last.
_PLACES = [(1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61)]


def _fixed_fields(line: str) -> list[str]:
    begin = 0
    for start, end in _PLACES:
        if line[begin:start].strip():
            raise OtherLayout("a character between the fields of a fixed line")
        begin = end
    if line[begin:].strip() or "\t" in line:
        raise OtherLayout("a character after the fields of a fixed line")
    return [line[start:end].strip() for start, end in _PLACES]


def _fixed_row(line: str) -> list[str]:
    kind, name, *rest = _fixed_fields(line)
    if any(rest):
        raise OtherLayout("a row is a kind and a name")
    return [kind, name]


def _fixed_entries(line: str) -> list[str]:
    kind, *words = _fixed_fields(line)
    if kind or bool(words[3]) != bool(words[4]):
        raise OtherLayout("a name, then one or two rows, each with its number")
    return words if words[3] else words[:3]


def _fixed_bound(line: str, _draft: Draft) -> list[str]:
    *words, fourth, fifth = _fixed_fields(line)
    if fourth or fifth:
        raise OtherLayout("a kind, a name of the set, a column and its number")
    return words


FREE = Fields(_free_row, _free_column, _free_side, _free_bound)
FIXED = Fields(_fixed_row, _fixed_entries, _fixed_entries, _fixed_bound)
