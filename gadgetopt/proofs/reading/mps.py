"""MPS files, free and fixed, read exactly.

Where HiGHS, SCIP, CPLEX, Gurobi and CBC agree, so do we. Where two of them differ, the file is
refused; the message names the section and line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gadgetopt.proofs.reading.decimals import Exact, bound, exact, finite
from gadgetopt.proofs.reading.draft import Draft, DraftRow, NamedModel, NegativeUp
from gadgetopt.proofs.reading.mps_lines import (
    FIXED,
    FREE,
    WITH_VALUE,
    WITHOUT_VALUE,
    Fields,
    OtherLayout,
)
from gadgetopt.proofs.reading.text import Unreadable

#: Sections of models that are not linear, or not exactly one model.
REFUSED_SECTIONS = {
    "SOS", "SOS1", "SOS2", "SETS", "QUADOBJ", "QMATRIX", "QSECTION", "QCMATRIX", "CSECTION",
    "INDICATORS", "GENCONS", "LAZYCONS", "USERCUTS", "PWLOBJ", "PWLNAM", "PWLCON", "SCENARIOS",
    "MULTIOBJ", "BRANCH", "CONSTRAINTS",
}  # fmt: skip
SENSES = {
    "MAX": "max", "MAXIMIZE": "max", "MAXIMISE": "max",
    "MIN": "min", "MINIMIZE": "min", "MINIMISE": "min",
}  # fmt: skip
#: In place of a row: the objective, and rows without sides, which are left out.
OBJECTIVE, LEFT_OUT = -1, -2

_BINARY = (
    "{} integer columns between markers have no bound and are binary, as HiGHS, SCIP, CPLEX, "
    "Gurobi and CBC read them; GLPK, Xpress and lp_solve give them no upper bound"
)


def read_mps(text: str, negative_up: NegativeUp = "refused") -> NamedModel:
    """Return the model of an MPS file.

    A file is read in free form. If a line does not fit, or names something unknown, the file is
    read in fixed form, in which names may hold spaces.

    Raises
    ------
    Unreadable
        If it is no mixed-integer linear program, or is one that solvers read differently.
    """
    try:
        free = _MpsReader(FREE).read(text, negative_up)
    except OtherLayout as error:
        try:
            return _MpsReader(FIXED).read(text, negative_up)
        except OtherLayout:
            raise Unreadable(str(error)) from None
    if _has_spaces_in_names(text):
        try:
            fixed = _MpsReader(FIXED).read(text, negative_up)
        except Unreadable:
            return free
        if fixed != free:
            raise Unreadable("means one model in free form and another in fixed form")
    return free


def _has_spaces_in_names(text: str) -> bool:
    """Return True if a column's name, read in fixed form, holds a space."""
    return any(" " in line[4:12].strip() for line in text.split("\n") if line[:1] == " ")


@dataclass
class _MpsReader:
    """Reads the sections of one file."""

    fields: Fields
    draft: Draft = field(default_factory=Draft)
    #: Row names: index in the draft, or what stands for it.
    index: dict[str, int] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    objective: str | None = None
    in_integers: bool = False
    integer_without_bound: set[int] = field(default_factory=set)
    right_sides: dict[int, Exact] = field(default_factory=dict)
    ranges: dict[int, Exact] = field(default_factory=dict)
    sets: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, Exact] = field(default_factory=dict)
    wanted_objective: str | None = None
    #: The line that is read.
    at: int = 0

    def read(self, text: str, negative_up: NegativeUp) -> NamedModel:
        """Return the model of a text."""
        parts: dict[str, Callable[[Iterator[tuple[int, str]]], None]] = {
            "ROWS": self.read_rows, "COLUMNS": self.read_columns, "RHS": self.read_right_sides,
            "RANGES": self.read_ranges, "BOUNDS": self.read_bounds,
            "OBJSENSE": self.read_sense, "OBJNAME": self.read_objective,
        }  # fmt: skip
        for section, number, lines in _sections(text):
            self.at = number
            head, *rest = section.split()
            try:
                if head == "ENDATA":
                    self.finish()
                    return self.draft.named_model(negative_up)
                if head in parts:
                    parts[head](iter([(number, " ".join(rest))] if rest else lines))
                elif head in REFUSED_SECTIONS:
                    raise Unreadable("is not read: the model would not be linear and exact")
                elif head != "NAME":
                    raise Unreadable("is no section of MPS (they are in capital letters)")
                if head in ("NAME", *(parts if rest else ())) and lines:
                    self.at = lines[0][0]
                    raise OtherLayout("a line that belongs to no section")
            except Unreadable as error:
                raise type(error)(f"line {self.at}, {head[:20]}: {error}") from None
            except ValueError as error:
                raise Unreadable(f"line {self.at}, {head[:20]}: {error}") from None
        raise Unreadable("ends without ENDATA")

    def read_sense(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read OBJSENSE."""
        for self.at, line in lines:
            word = line.strip()
            if word.upper() not in SENSES:
                raise Unreadable(f"{word[:20]!r} is neither MAX nor MIN")
            self.draft.sense = SENSES[word.upper()]

    def read_objective(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read OBJNAME: which of the rows without sides is the objective."""
        for self.at, line in lines:
            self.wanted_objective = line.strip()
        if self.index:
            raise Unreadable("stands after the rows")

    def read_rows(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read ROWS: kinds and names."""
        split = self.fields.row
        for self.at, line in lines:
            kind, name = split(line)
            if name in self.index or not name:
                raise Unreadable(f"a second row of the name {name!r}")
            if kind == "N":
                wanted = self.wanted_objective or name
                is_objective = self.objective is None and name == wanted
                self.objective = name if is_objective else self.objective
                self.index[name] = OBJECTIVE if is_objective else LEFT_OUT
            elif kind in ("L", "G", "E"):
                self.index[name] = len(self.kinds)
                self.kinds.append(kind)
                self.draft.rows.append(DraftRow(name))
            else:
                raise OtherLayout(f"{kind[:20]!r} is no kind of a row: N, L, G or E")
        if self.wanted_objective and self.objective is None:
            raise Unreadable(f"no row N of the name {self.wanted_objective!r}, which OBJNAME names")

    def read_columns(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read COLUMNS: names, markers and entries."""
        split, draft, index = self.fields.column, self.draft, self.index
        current, j, met = None, -1, set[str]()
        for self.at, line in lines:
            if "'MARKER'" in line and self.is_marker(line.split()):
                continue
            name, *entries = split(line)
            if name != current:
                if name in draft.index or not name:
                    raise Unreadable(f"column {name!r} stands in two places")
                current, j = name, draft.add_column(name)
                met.clear()
                if self.in_integers:
                    draft.columns[j].integer = True
                    self.integer_without_bound.add(j)
            for row, text in zip(entries[::2], entries[1::2], strict=True):
                i = self.row_of(index, row)
                if row in met:
                    raise Unreadable(f"column {name!r} has two entries in row {row!r}")
                met.add(row)
                value = self.number(text)
                if i >= 0:
                    draft.rows[i].columns.append(j)
                    draft.rows[i].values.append(value)
                elif i == OBJECTIVE:
                    draft.costs[j] = value

    def is_marker(self, words: Sequence[str]) -> bool:
        """Heed a line that begins or ends the integer columns; False for another line."""
        if len(words) != 3 or words[1] != "'MARKER'":
            return False
        if words[2] not in ("'INTORG'", "'INTEND'"):
            raise Unreadable(f"the marker {words[2][:20]} is neither 'INTORG' nor 'INTEND'")
        begins = words[2] == "'INTORG'"
        if begins == self.in_integers:
            raise Unreadable(f"a second marker {words[2]}")
        self.in_integers = begins
        return True

    def row_of(self, index: dict[str, int], row: str) -> int:
        """Return what a row's name stands for."""
        i = index.get(row)
        if i is None:
            raise OtherLayout(f"no row has the name {row[:40]!r}")
        return i

    def number(self, text: str) -> Exact:
        """Return a number; those that were met before are not read again."""
        value = self.numbers.get(text)
        if value is None:
            value = self.numbers[text] = finite(text)
        return value

    def is_first_set(self, section: str, name: str) -> bool:
        """Return True for lines of the set that counts, the first; say that there are others."""
        first = self.sets.setdefault(section, name)
        if name == first:
            return True
        note = f"{section} has several sets; the first, {first!r}, counts"
        if note not in self.draft.notes:
            self.draft.notes.append(note)
        return False

    def entries(self, section: str, lines: Iterator[tuple[int, str]]) -> Iterator[tuple[str, str]]:
        """Yield rows and numbers of a section's first set."""
        for self.at, line in lines:
            name, *entries = self.fields.side(line)
            if self.is_first_set(section, name):
                yield from zip(entries[::2], entries[1::2], strict=True)

    def read_right_sides(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read RHS; of the objective, it is the constant, subtracted."""
        for row, text in self.entries("RHS", lines):
            i = self.row_of(self.index, row)
            if i == LEFT_OUT:
                continue
            if i in self.right_sides:
                raise Unreadable(f"row {row!r} has two right sides")
            self.right_sides[i] = self.number(text)

    def read_ranges(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read RANGES."""
        for row, text in self.entries("RANGES", lines):
            i = self.row_of(self.index, row)
            if i == LEFT_OUT:
                continue
            if i == OBJECTIVE or i in self.ranges:
                raise Unreadable(
                    f"row {row!r} is the objective" if i < 0 else f"row {row!r} has two ranges"
                )
            self.ranges[i] = self.number(text)

    def read_bounds(self, lines: Iterator[tuple[int, str]]) -> None:
        """Read BOUNDS of the first set."""
        for self.at, line in lines:
            kind, name, column, text = self.fields.bound(line, self.draft)
            if kind in ("SC", "SI", "SN"):
                raise Unreadable(f"{kind} makes column {column!r} semi-continuous, not linear")
            if kind not in WITH_VALUE and kind not in WITHOUT_VALUE:
                raise OtherLayout(f"{kind[:20]!r} is no kind of a bound that is read")
            j = self.draft.index.get(column)
            if j is None:
                raise OtherLayout(f"no column has the name {column[:40]!r}")
            if self.is_first_set("BOUNDS", name):
                self.give_bound(kind, j, text)

    def give_bound(self, kind: str, j: int, text: str) -> None:
        """Give a column a bound."""
        column = self.draft.columns[j]
        self.integer_without_bound.discard(j)
        if kind in ("BV", "LI", "UI"):
            column.integer = True
        if kind == "BV":
            column.set_lower(0)
            column.set_upper(1)
        elif kind == "PL":
            column.set_upper(math.inf)
        elif kind == "MI":
            column.set_lower(-math.inf)
        elif kind == "FR":
            column.set_lower(-math.inf)
            if column.upper is not None:  # one may follow, as after MI
                raise Unreadable(f"column {column.name!r} has a second upper bound")
        elif kind == "FX":
            value = exact(text)
            column.set_lower(value)
            column.set_upper(value)
        elif kind in ("LO", "LI"):
            column.set_lower(bound(text))
        else:
            column.set_upper(bound(text))

    def finish(self) -> None:
        """Give the rows their sides, and integer columns without a bound theirs."""
        draft = self.draft
        draft.offset = -self.right_sides.get(OBJECTIVE, 0)
        for i, (row, kind) in enumerate(zip(draft.rows, self.kinds, strict=True)):
            side = self.right_sides.get(i, 0)
            width = self.ranges.get(i)
            row.lower = None if kind == "L" else side
            row.upper = None if kind == "G" else side
            if width is not None and kind == "E":
                row.lower, row.upper = min(side, side + width), max(side, side + width)
            elif width is not None:
                width = max(width, -width)
                row.lower = side - width if kind == "L" else side
                row.upper = side if kind == "L" else side + width
        for j in self.integer_without_bound:
            draft.columns[j].set_lower(0)
            draft.columns[j].set_upper(1)
        if self.integer_without_bound:
            draft.notes.append(_BINARY.format(len(self.integer_without_bound)))


def _sections(text: str) -> Iterator[tuple[str, int, list[tuple[int, str]]]]:
    """Yield each section's first line, its number, and the numbered lines that follow."""
    section, at, lines = "", 0, list[tuple[int, str]]()
    for number, line in enumerate(text.split("\n"), 1):
        if not line or line[0] == "*" or not line.strip():
            continue
        if line[0] in " \t":
            if not section:
                raise Unreadable(f"line {number}: a line before the first section")
            lines.append((number, line))
            continue
        if section:
            yield section, at, lines
        section, at, lines = line, number, []
        if line.split()[0] == "ENDATA":
            break
    if section:
        yield section, at, lines
