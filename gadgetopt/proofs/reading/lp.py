"""CPLEX LP files read exactly.

Where HiGHS and SCIP read a line alike, so do we; where they differ, or one of them changes what the
file says, it is refused, and the message names the section and line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from gadgetopt.proofs.reading.decimals import INFINITY, Exact, bound, finite, simplest
from gadgetopt.proofs.reading.draft import Column, Draft, DraftRow, NamedModel, NegativeUp
from gadgetopt.proofs.reading.text import Unreadable

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eEdD][+-]?[0-9]+)?)
    | (?P<operator>->|==|<=|>=|=<|=>|::|[<>=:+\-*/^\[\]])
    | (?P<name>[^\s<>=:+\-*/^\[\]\\][^\s<>=:+\-*^\\]*)
    )""",
    re.VERBOSE,
)
#: Relations, as what the left side may not pass: above, below, or either.
_RELATIONS = {
    "<": "upper", "<=": "upper", "=<": "upper", ">": "lower", ">=": "lower", "=>": "lower",
    "=": "both",
}  # fmt: skip
_TURNED = {"upper": "lower", "lower": "upper", "both": "both"}

HEADS = {
    "min": r"min|minimi[sz]e|minimum",
    "max": r"max|maximi[sz]e|maximum",
    "rows": r"subject\s+to|such\s+that|st|s\.t\.|st\.",
    "bounds": r"bounds?",
    "integers": r"gen|generals?|int|integers?",
    "binaries": r"bin|binary|binaries",
    "end": r"end",
}
REFUSED = re.compile(
    r"(semi-?\s*continuous|semis?|sc|sos[12]?|pwlobj|lazy\s+constraints|user\s+cuts|sec"
    r"|general\s+constraints?|gencons?|multi-objectives?|scenarios?)\s*:?",
    re.IGNORECASE,
)


class Token(NamedTuple):
    """A number, operator or name, and its line."""

    kind: str
    text: str
    line: int


class _Wrong(Unreadable):
    def __init__(self, token: Token | None, message: str):
        at = "at its end" if token is None else f"line {token.line}"
        super().__init__(f"{at}: {message}")


def read_lp(text: str, negative_up: NegativeUp = "refused") -> NamedModel:
    """Return the model of an LP file.

    Raises
    ------
    Unreadable
        If it is no mixed-integer linear program, or is one that solvers read differently.
    """
    reader = _LpReader()
    read: dict[str, Callable[[list[Token]], None]] = {
        "min": reader.read_objective, "max": reader.read_objective, "rows": reader.read_rows,
        "bounds": reader.read_bounds, "integers": reader.read_integers,
        "binaries": reader.read_binaries,
    }  # fmt: skip
    for kind, tokens in _lp_sections(text):
        if kind in ("min", "max"):
            reader.draft.sense = kind
        read[kind](tokens)
    return reader.finish(negative_up)


def _lp_sections(text: str) -> list[tuple[str, list[Token]]]:
    """Return the kinds of sections and their tokens."""
    sections: list[tuple[str, list[Token]]] = []
    ended = False
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.split("\\", 1)[0].strip()
        if not line:
            continue
        if ended:
            raise Unreadable(f"line {number}: a line after End")
        if REFUSED.fullmatch(line):
            raise Unreadable(f"line {number}: the section {line[:40]!r} is not read: not linear")
        head = _head(line, [kind for kind, _ in sections])
        if not sections and (head is None or head[0] not in ("min", "max")):
            raise Unreadable(f"line {number}: {line[:40]!r} in place of Minimize or Maximize")
        if head is not None:
            kind, line = head
            ended = kind == "end"
            if line.lower().startswith("multi-objectives"):
                raise Unreadable(f"line {number}: several objectives")
            if not ended:
                sections.append((kind, []))
        if line:
            sections[-1][1].extend(_tokens(line, number))
    if not ended:
        raise Unreadable("ends without End")
    return sections


def _head(line: str, met: Sequence[str]) -> tuple[str, str] | None:
    """Return the kind of section that a line begins, and what follows on the line; or None.

    The words that begin a section may be names of columns, too: then a relation follows, or the
    section has been there.
    """
    for kind, words in HEADS.items():
        head = re.match(rf"(?:{words})(?=\s|$)", line, re.IGNORECASE)
        if not head:
            continue
        rest = line[head.end() :].strip()
        begins = rest[:1] not in ("<", ">", "=", ":")
        if kind in ("min", "max"):
            begins = begins and not met
        elif kind == "rows":
            begins = begins and "rows" not in met
        else:
            begins = not rest
        return (kind, rest) if begins else None
    return None


def _tokens(line: str, number: int) -> list[Token]:
    out, place = [], 0
    while place < len(line):
        found = _TOKEN.match(line, place)
        if not found:
            raise Unreadable(f"line {number}: {line[place : place + 20].strip()!r} is no name")
        kind = found.lastgroup or ""
        out.append(Token(kind, found[kind], number))
        place = found.end()
        while place < len(line) and line[place].isspace():
            place += 1
    return out


class _Source:
    """Tokens, one after the other."""

    def __init__(self, tokens: Sequence[Token]):
        self.tokens, self.place = tokens, 0

    def __bool__(self) -> bool:
        return self.place < len(self.tokens)

    def peek(self, ahead: int = 0) -> Token | None:
        """Return a token without taking it."""
        place = self.place + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def take(self) -> Token:
        """Take the next token."""
        token = self.peek()
        if token is None:
            raise _Wrong(None, "a section ends too early")
        self.place += 1
        return token

    def at_relation(self) -> bool:
        """Return True if a relation follows."""
        token = self.peek()
        return token is not None and token.kind == "operator" and token.text in _RELATIONS

    def at_label(self) -> bool:
        """Return True if a name and a colon follow."""
        name, colon = self.peek(), self.peek(1)
        return name is not None and name.kind == "name" and colon is not None and colon.text == ":"

    def label(self) -> str | None:
        """Take a name and its colon if they follow."""
        if not self.at_label():
            return None
        self.place += 2
        return self.tokens[self.place - 2].text

    def sign(self) -> int:
        """Take signs, which multiply."""
        sign = 1
        while (token := self.peek()) and token.text in ("+", "-"):
            sign = -sign if token.text == "-" else sign
            self.place += 1
        return sign


@dataclass
class _Expression:
    """Terms by column, a constant, and whether anything but a number was there."""

    terms: dict[int, Exact] = field(default_factory=dict)
    constant: Exact = 0
    numbers: int = 0
    first: Token | None = None


@dataclass
class _LpReader:
    draft: Draft = field(default_factory=Draft)
    binaries: list[tuple[Column, Token]] = field(default_factory=list)

    def expression(self, source: _Source) -> _Expression:
        """Take terms and constants up to a relation or the end; those of one column add up."""
        out = _Expression(first=source.peek())
        begin = source.place
        while source and not source.at_relation():
            before = source.place
            sign = source.sign()
            if before > begin and source.place == before:
                token = source.take()
                raise _Wrong(token, f"{token.text[:40]!r} follows a term without a sign")
            self.term(source, sign, out)
        return out

    def term(self, source: _Source, sign: int, out: _Expression) -> None:
        """Take a number, a column, or a number and a column."""
        token = source.take()
        value: Exact = 1
        if token.kind == "number":
            value = _number_of(token)
            name = source.peek()
            if name is None or name.kind != "name":
                out.constant = _plus(out.constant, sign * value)
                out.numbers += 1
                return
            token = source.take()
        if token.text == "->":
            raise _Wrong(token, "an indicator, which is not linear")
        if token.kind != "name":
            raise _Wrong(token, f"{token.text!r} is no part of a linear term")
        if INFINITY.fullmatch(token.text):
            raise _Wrong(token, f"{token.text!r} is infinite, which only a bound may be")
        j = self.draft.column_index(token.text)
        out.terms[j] = _plus(out.terms.get(j, 0), sign * value)

    def read_objective(self, tokens: list[Token]) -> None:
        """Read the objective, with a constant if it has one."""
        source = _Source(tokens)
        source.label()
        found = self.expression(source)
        if source:
            raise _Wrong(source.peek(), "a relation in the objective")
        self.draft.costs, self.draft.offset = found.terms, found.constant

    def read_rows(self, tokens: list[Token]) -> None:
        """Read rows: `terms relation number`, or `number relation terms relation number`."""
        source = _Source(tokens)
        while source:
            self.read_row(source, source.label() or f"R{len(self.draft.rows) + 1}")

    def read_row(self, source: _Source, name: str) -> None:
        """Read one row."""
        row, said = DraftRow(name), f"row {name[:40]!r}"
        found = self.expression(source)
        relation = self.relation(source, said)
        if not found.terms and found.numbers == 1:
            _limit(row, _TURNED[relation], found.constant)
            found = self.expression(source)
            relation = self.relation(source, said)
            if not found.terms:
                raise _Wrong(found.first, f"{said} has no columns")
        if found.numbers:
            raise _Wrong(
                found.first, f"{said} has a constant on the left, which solvers read differently"
            )
        if _limit(row, relation, self.right_side(source)):
            raise _Wrong(found.first, f"{said} has two limits on one side")
        row.columns, row.values = list(found.terms), list(found.terms.values())
        self.draft.rows.append(row)

    def relation(self, source: _Source, said: str) -> str:
        """Take a relation."""
        if not source.at_relation():
            raise _Wrong(source.peek(), f"{said} has no relation and number on the right")
        return _RELATIONS[source.take().text]

    def right_side(self, source: _Source) -> Exact:
        """Take the number on the right of a relation, with which its line or the row ends."""
        sign = source.sign()
        token = source.take()
        if token.kind != "number":
            raise _Wrong(token, f"{token.text[:40]!r} in place of a number on the right side")
        after = source.peek()
        goes_on = after is not None and after.line == token.line
        if after is not None and goes_on and not source.at_label() and not source.at_relation():
            raise _Wrong(after, f"{after.text[:40]!r} after the number on the right side")
        return sign * _number_of(token)

    def read_bounds(self, tokens: list[Token]) -> None:
        """Read bounds, one line each."""
        for _, line in groupby(tokens, key=lambda token: token.line):
            self.read_bound(_Source(list(line)))

    def read_bound(self, source: _Source) -> None:
        """Read `column free`, or a column with a number on one side or both."""
        begin = source.take()
        source.place = 0
        left = _signed_bound(source)
        if left is not None:
            turned = _TURNED[self.relation(source, "a bound")]
        column = self.named(source.take())
        if left is not None:
            _give(column, turned, left, begin)
            if not source:
                return
        elif (word := source.peek()) is not None and word.text.lower() == "free":
            source.take()
            _give(column, "lower", -math.inf, begin)
            if source or column.upper is not None:
                raise _Wrong(begin, f"column {column.name!r} is free and has an upper bound")
            return
        relation = self.relation(source, "a bound")
        right = _signed_bound(source)
        if right is None or source:
            raise _Wrong(begin, "a bound is no `number <= column <= number`")
        _give(column, relation, right, begin)

    def read_integers(self, tokens: list[Token]) -> None:
        """Read the names of integer columns."""
        for token in tokens:
            self.named(token).integer = True

    def read_binaries(self, tokens: list[Token]) -> None:
        """Read the names of binary columns."""
        self.binaries += [(self.named(token), token) for token in tokens]

    def named(self, token: Token) -> Column:
        """Return the column of a token."""
        if token.kind != "name":
            raise _Wrong(token, f"{token.text[:40]!r} is no name of a column")
        return self.draft.column(token.text)

    def finish(self, negative_up: NegativeUp) -> NamedModel:
        """Return the model; binary columns may have no other bounds."""
        for column, token in self.binaries:
            if (column.lower, column.upper) not in ((None, None), (0, 1), (0, None), (None, 1)):
                raise _Wrong(
                    token,
                    f"column {column.name!r} is binary and has other bounds, which solvers read "
                    "differently: list it under General",
                )
            column.integer, column.lower, column.upper = True, 0, 1
        return self.draft.named_model(negative_up)


def _plus(a: Exact, b: Exact) -> Exact:
    total = a + b
    return simplest(total) if isinstance(total, Fraction) else total


def _number_of(token: Token) -> Exact:
    try:
        return finite(token.text)
    except ValueError as error:
        raise _Wrong(token, str(error)) from None


def _signed_bound(source: _Source) -> Exact | float | None:
    """Take a number with its signs, which may be infinite; None if none follows."""
    begin = source.place
    sign = source.sign()
    token = source.peek()
    if token is None or not (token.kind == "number" or INFINITY.fullmatch(token.text)):
        source.place = begin
        return None
    source.take()
    try:
        return sign * bound(token.text)
    except ValueError as error:
        raise _Wrong(token, str(error)) from None


def _limit(row: DraftRow, side: str, value: Exact) -> bool:
    """Limit a row; True if it had such a limit."""
    had = (side != "upper" and row.lower is not None) or (side != "lower" and row.upper is not None)
    if side != "upper":
        row.lower = value
    if side != "lower":
        row.upper = value
    return had


def _give(column: Column, side: str, value: Exact | float, token: Token | None) -> None:
    try:
        if side == "both" and isinstance(value, float):
            raise Unreadable(f"column {column.name!r} is fixed at infinity")
        if side != "upper":
            column.set_lower(value)
        if side != "lower":
            column.set_upper(value)
    except Unreadable as error:
        raise _Wrong(token, str(error)) from None
