"""AMPL's .nl files in text form, read exactly, as far as they are linear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gadgetopt.proofs.reading.decimals import Exact, exact
from gadgetopt.proofs.reading.draft import Draft, DraftRow, NamedModel
from gadgetopt.proofs.reading.text import Unreadable

#: Segments that make a model more than linear, or that need another solver's functions.
REFUSED_SEGMENTS = {
    "V": "a shared subexpression", "F": "a function from outside", "L": "a logical constraint",
    "S": "a suffix (special ordered sets come so)",
}  # fmt: skip
#: Lines of the header, and places of its numbers.
HEADER_LINES = 10
MOST_COUNT = 10**8


def read_nl(text: str, columns: Sequence[str] = (), rows: Sequence[str] = ()) -> NamedModel:
    """Return the model of an .nl file.

    Parameters
    ----------
    columns, rows : sequence of str
        Names, from the .col and .row files beside it; none for x0, x1, ... and r0, r1, ...

    Raises
    ------
    Unreadable
        If it is no mixed-integer linear program.
    """
    return _NlReader(text.split("\n"), columns, rows).read()


@dataclass
class _NlReader:
    lines: Sequence[str]
    column_names: Sequence[str]
    row_names: Sequence[str]
    place: int = 0
    draft: Draft = field(default_factory=Draft)
    met: set[str] = field(default_factory=set)

    def read(self) -> NamedModel:
        """Return the model."""
        try:
            self.read_header()
            segments = {
                "C": self.read_row_constant, "O": self.read_objective, "r": self.read_row_sides,
                "b": self.read_bounds, "J": self.read_row_terms, "G": self.read_costs,
                "k": self.skip_counted, "x": self.skip_counted, "d": self.skip_counted,
            }  # fmt: skip
            while (line := self.next_line(end=True)) is not None:
                kind = line[:1]
                if kind in REFUSED_SEGMENTS:
                    raise Unreadable(f"{REFUSED_SEGMENTS[kind]}, which is not read")
                if kind not in segments:
                    raise Unreadable(f"{line[:20]!r} is no segment of an .nl file")
                segments[kind](line[1:])
            for part in ("r", "b"):
                if part not in self.met and (
                    self.draft.rows if part == "r" else self.draft.columns
                ):
                    raise Unreadable(f"ends without its segment {part}")
        except Unreadable as error:
            raise Unreadable(f"line {self.place}: {error}") from None
        except (ValueError, IndexError) as error:
            raise Unreadable(f"line {self.place}: {error}") from None
        return self.draft.named_model("refused")

    def next_line(self, end: bool = False) -> str | None:
        """Return the next line without its comment; at the end None, if that may be the end."""
        while self.place < len(self.lines):
            line = self.lines[self.place].split("#", 1)[0].strip()
            self.place += 1
            if line:
                return line
        if not end:
            raise Unreadable("the file ends too early")
        return None

    def words(self) -> list[str]:
        """Return the words of the next line."""
        return (self.next_line() or "").split()

    def read_header(self) -> None:
        """Read the numbers of columns, rows and integers; refuse what is not linear."""
        if not self.words()[0].startswith("g"):
            raise Unreadable("is no .nl file in text form, which begins with g")
        head = [[_count(word) for word in self.words()] for _ in range(HEADER_LINES - 1)]
        n_columns, n_rows, n_objectives = head[0][:3]
        if len(head[0]) > 5 and head[0][5]:
            raise Unreadable("logical constraints, which are not read")
        nonlinear = [*head[1], *head[2][:2], *head[3]]
        if any(nonlinear):
            raise Unreadable("nonlinear rows, objectives or complementarity, which are not read")
        n_binary, n_integer, *n_nonlinear = head[5][:5]
        if any(n_nonlinear):
            raise Unreadable("nonlinear integer columns, which are not read")
        if n_objectives > 1:
            self.draft.notes.append(f"of {n_objectives} objectives, the first counts")
        if n_binary + n_integer > n_columns:
            raise Unreadable("more integer columns than columns")
        _check_names(self.column_names, n_columns, "columns")
        _check_names(self.row_names, n_rows, "rows")
        for j in range(n_columns):
            name = self.column_names[j] if self.column_names else f"x{j}"
            if name in self.draft.index:
                raise Unreadable(f"there are two columns of the name {name!r}")
            self.draft.add_column(name)
            self.draft.columns[j].integer = j >= n_columns - n_binary - n_integer
        names = self.row_names or [f"r{i}" for i in range(n_rows)]
        self.draft.rows = [DraftRow(name) for name in names[:n_rows]]
        self.n_objectives = n_objectives
        self.constants: dict[int, Exact] = {}

    def once(self, segment: str) -> None:
        """Refuse a segment that has been there."""
        if segment in self.met:
            raise Unreadable(f"a second segment {segment}")
        self.met.add(segment)

    def constant(self) -> Exact:
        """Return the constant that is all there is of an expression."""
        words = self.words()
        if len(words) != 1 or words[0][0] != "n":
            raise Unreadable(f"{' '.join(words)[:20]!r} in place of a constant: it is not linear")
        return exact(words[0][1:])

    def read_row_constant(self, rest: str) -> None:
        """Read C: the constant of a row, which moves to its sides."""
        i = self.index(rest, len(self.draft.rows), "C")
        if "r" in self.met:
            raise Unreadable("a row's constant after the rows' sides")
        self.constants[i] = self.constant()

    def read_objective(self, rest: str) -> None:
        """Read O: the sense of an objective and its constant."""
        number, sense = rest.split()
        k = self.index(number, self.n_objectives, "O")
        if sense not in ("0", "1"):
            raise Unreadable(f"{sense[:20]!r} is no sense, 0 or 1")
        value = self.constant()
        if k == 0:
            self.draft.sense = "max" if sense == "1" else "min"
            self.draft.offset = value

    def index(self, text: str, count: int, segment: str) -> int:
        """Return an index whose segment has not been there."""
        i = _count(text.split(maxsplit=1)[0])
        if i >= count:
            raise Unreadable(f"{segment}{i} is out of range")
        self.once(f"{segment}{i}")
        return i

    def read_row_sides(self, _rest: str) -> None:
        """Read r: sides of rows."""
        self.once("r")
        for i, row in enumerate(self.draft.rows):
            low, high = self.sides()
            shift = self.constants.get(i, 0)
            row.lower = None if low is None else low - shift
            row.upper = None if high is None else high - shift

    def read_bounds(self, _rest: str) -> None:
        """Read b: bounds of columns."""
        self.once("b")
        for column in self.draft.columns:
            low, high = self.sides()
            column.lower = float("-inf") if low is None else low
            column.upper = float("inf") if high is None else high

    def sides(self) -> tuple[Exact | None, Exact | None]:
        """Return two limits of a line: a code and its numbers."""
        code, *numbers = self.words()
        wanted = {"0": 2, "1": 1, "2": 1, "3": 0, "4": 1}
        if code == "5":
            raise Unreadable("a complementarity condition, which is not read")
        if len(numbers) != wanted.get(code, -1):
            raise Unreadable(f"{code[:20]!r} is no kind of limits with its numbers")
        values = [exact(number) for number in numbers]
        if code == "0":
            return values[0], values[1]
        if code == "4":
            return values[0], values[0]
        return (values[0] if code == "2" else None), (values[0] if code == "1" else None)

    def terms(self, count: int) -> Iterator[tuple[int, Exact]]:
        """Yield the columns and numbers of as many lines."""
        met = set[int]()
        for _ in range(count):
            column, number = self.words()
            j = _count(column)
            if j in met or j >= len(self.draft.columns):
                raise Unreadable(f"column {j} is out of range, or there twice")
            met.add(j)
            yield j, exact(number)

    def read_row_terms(self, rest: str) -> None:
        """Read J: the terms of a row."""
        number, count = rest.split()
        row = self.draft.rows[self.index(number, len(self.draft.rows), "J")]
        for j, value in self.terms(_count(count)):
            row.columns.append(j)
            row.values.append(value)

    def read_costs(self, rest: str) -> None:
        """Read G: the terms of an objective."""
        number, count = rest.split()
        k = self.index(number, self.n_objectives, "G")
        costs = dict(self.terms(_count(count)))
        if k == 0:
            self.draft.costs = costs

    def skip_counted(self, rest: str) -> None:
        """Skip a segment that only helps a solver: k, x and d."""
        for _ in range(_count(rest.split(maxsplit=1)[0])):
            self.next_line()


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= MOST_COUNT):
        raise Unreadable(f"{text[:20]!r} is no count")
    return int(text)


def _check_names(names: Sequence[str], count: int, kind: str) -> None:
    # A .row file names the objectives after the rows.
    if names and len(names) < count:
        raise Unreadable(f"the file of names has {len(names)} of {count} {kind}")
