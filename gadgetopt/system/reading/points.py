"""Solutions as solvers write them: files of names and values.

Read are MIPLIB's and SCIP's .sol, Gurobi's .sol, and what HiGHS writes as raw, sparse or pretty
solution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from gadgetopt.errors import InputError
from gadgetopt.system.reading import read_text

T = TypeVar("T")

#: What such a file's name ends in.
POINTS = ".sol"

#: A line's number, a name, and the text of its value.
Stated = tuple[int, str, str]

_NOTHING = ("no solution available", "=infeas=", "=unbd=", "infeasible", "unbounded")


def read_values(path: Path, number: Callable[[str], T]) -> dict[str, T]:
    """Return the values by name that a solution file states, each read by `number`.

    Raises
    ------
    InputError
        If it cannot be read, states no solution, or a line is not a name and a number.
    """
    lines = read_text(path).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if not first:
        raise InputError(f"{path}: is empty")
    if first.startswith(("<", "{")):
        raise InputError(f"{path}: expected lines of a name and a value, as in a .sol file")
    if first == "Columns":
        found = _pretty(lines, path)
    elif first.startswith(("Model status", "# Primal solution")):
        found = _raw(lines, path)
    else:
        found = _plain(lines, path)
    out: dict[str, T] = {}
    for place, name, text in found:
        if name in out:
            raise InputError(f"{path}: {name}: stated twice")
        try:
            out[name] = number(text)
        except ValueError:
            raise InputError(f"{path}: line {place}: {name}: {text!r} is not a number") from None
    if not out and not any("=obj=" in line or "bjective" in line for line in lines):
        raise InputError(f"{path}: states no values")
    return out


def _plain(lines: list[str], path: Path) -> Iterator[Stated]:
    """Read lines `name value`, those of MIPLIB, SCIP and Gurobi; SCIP adds the objective's part."""
    for place, line in enumerate(lines, 1):
        text = line.split("#", 1)[0].strip()
        low = text.lower()
        if not text or low.startswith(("=obj=", "objective value", "solution status")):
            if any(low.endswith(word) for word in _NOTHING):
                raise InputError(f"{path}: states no solution: {text}")
            continue
        if low.startswith(_NOTHING):
            raise InputError(f"{path}: states no solution: {text}")
        name, *rest = text.split()
        if not rest or (len(rest) > 1 and not rest[1].startswith("(")):
            raise InputError(f"{path}: line {place}: {text[:60]!r} is not a name and a value")
        yield place, name, rest[0]


def _raw(lines: list[str], path: Path) -> Iterator[Stated]:
    """Read the primal columns of HiGHS's raw solution; the sparse one adds an index."""
    inside = found = False
    for place, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("# Columns") and not found:
            inside = found = True
        elif text.startswith("#"):
            inside = False
        elif inside and text:
            name, *rest = text.split()
            if not rest:
                raise InputError(f"{path}: line {place}: {text[:60]!r} is not a name and a value")
            yield place, name, rest[0]
    if not found:
        raise InputError(f"{path}: states no solution: HiGHS writes `# Columns` before its values")


def _pretty(lines: list[str], path: Path) -> Iterator[Stated]:
    """Read the columns of HiGHS's pretty solution, whose numbers end below their heads."""
    start = next(k for k, line in enumerate(lines) if line.strip() == "Columns")
    head = lines[start + 1] if start + 1 < len(lines) else ""
    if "Primal" not in head:
        raise InputError(f"{path}: states no solution: no column Primal in HiGHS's table")
    left, right = head.index("Upper") + len("Upper"), head.index("Primal") + len("Primal")
    for place, line in enumerate(lines[start + 2 :], start + 3):
        if line.strip() == "Rows":
            return
        if line.strip():
            name = line.split()[-1]
            yield place, name, line[left:right].strip()
