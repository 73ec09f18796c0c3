"""How the model library is built: lines of every room, reading paths, trusted lines, methods.

No study counts the lines of the library's files.

A system's folder has the paper above a line and what is ours below it. Lines are those of all
Python files, with their docstrings and comments. What declares parts is counted apart:
`__init__.py`, and the decorators above functions.

    python benchmarks/structure.py                   # of this checkout
    python benchmarks/structure.py --before COMMIT   # and lines of every room in another commit
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from gadgetopt.system.methods import methods
from gadgetopt.system.registry import problems
from gadgetopt.system.rooms import DECORATORS

ROOT = Path(__file__).parents[1]
#: What a system's folder may have above the line, in the order of reading, and below it.
PAPER = (
    "instance", "evaluate", "features", "tables", "formulations", "algorithms", "baselines",
    "guarantees", "statements", "subproblems",
)  # fmt: skip
OURS = ("heuristics", "proving", "data", "pictures")
#: Rooms below the line in the layout of before.
FORMER = ("bounds", "certificate", "exact", "generate", "importers", "learning")
#: Text of the files of `models/` by their paths in it.
Files = dict[str, str]


def files_here() -> Files:
    """Return the Python files of this checkout."""
    top = ROOT / "models"
    return {p.relative_to(top).as_posix(): p.read_text("utf-8") for p in sorted(top.rglob("*.py"))}


def files_of(commit: str) -> Files:
    """Return the Python files of a commit."""
    command = ["git", "archive", commit, "models"]
    packed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        return {
            member.name.removeprefix("models/"): inside.read().decode()
            for member in archive
            if member.name.endswith(".py") and (inside := archive.extractfile(member))
        }


def place(path: str, systems: set[str]) -> tuple[str, str] | None:
    """Return the folder of a system, or of a family, and the room of a file there.

    A family's folder has what its problems share. Declarations are in no room: None.
    """
    folder = max((s for s in systems if path.startswith(f"{s}/")), key=len, default="")
    inside = path.removeprefix(f"{folder}/") if folder else path.partition("/")[2]
    top = inside.partition("/")[0].removesuffix(".py")
    if path.endswith("__init__.py") or not inside:
        return None
    known = top in (*PAPER, *OURS, *FORMER) or "/" in inside
    return folder or path.partition("/")[0], top if known else "tables"


def systems_of(files: Files) -> set[str]:
    """Return the folders that declare a problem."""
    declares = re.compile(r"^PROBLEM\b.* = ", re.MULTILINE)
    return {
        path.removesuffix("/__init__.py")
        for path, text in files.items()
        if path.endswith("/__init__.py") and declares.search(text)
    }


def lines_by_room(files: Files) -> Counter[tuple[str, str]]:
    """Return the lines of every room of every system or family."""
    systems, lines = systems_of(files), Counter[tuple[str, str]]()
    for path, text in files.items():
        if where := place(path, systems):
            lines[where] += len(text.splitlines())
    return lines


def decorator_lines(text: str) -> int:
    """Return the lines of the decorators in a file that declare parts."""
    found = 0
    for node in ast.parse(text).body:
        for decorator in getattr(node, "decorator_list", ()):
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if ast.unparse(called).removeprefix("gadgetopt.") in DECORATORS:
                found += (decorator.end_lineno or decorator.lineno) - decorator.lineno + 1
    return found


def declared(files: Files) -> tuple[int, int]:
    """Return the lines of all `__init__.py`, and of all decorators that declare parts."""
    inits = [text for path, text in files.items() if path.endswith("__init__.py")]
    others = [text for path, text in files.items() if not path.endswith("__init__.py")]
    return sum(len(t.splitlines()) for t in inits), sum(map(decorator_lines, others))


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Print a table in Markdown; numbers have commas."""
    head = list(head)
    print(f"| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    for row in rows:
        print(f"| {' | '.join(f'{x:,}' if isinstance(x, int) else str(x) for x in row)} |")
    print()


def print_rooms(now: Files, before: Files | None) -> None:
    """Print the lines of each room of all systems together, and of declarations."""
    trees = [now] if before is None else [before, now]
    rooms = [Counter[str]() for _ in trees]
    for counted, tree in zip(rooms, trees, strict=True):
        for (_, room), lines in lines_by_room(tree).items():
            counted[room] += lines
    others = sorted({room for counted in rooms for room in counted} - {*PAPER, *OURS})
    rows = [[room, *(c[room] for c in rooms)] for room in (*PAPER, *OURS, *others)]
    inits, decorators = zip(*map(declared, trees), strict=True)
    rows.append(["`__init__.py`", *inits])
    rows.append(["decorators, in the rooms above", *decorators])
    rows.append(["all", *(sum(len(text.splitlines()) for text in tree.values()) for tree in trees)])
    head = ["now"] if before is None else ["before", "now"]
    table(["lines of the rooms", *head], rows)


def front_lines(files: Files) -> dict[str, int]:
    """Return the lines above the line of every system, and of what a family shares."""
    lines = Counter[str]()
    for (system, room), count in lines_by_room(files).items():
        lines[system] += count if room in PAPER else 0
    return dict(lines)


def print_fronts(files: Files) -> None:
    """Print lines above and below the line, of every system, and of what a family shares."""
    lines = lines_by_room(files)
    rows = []
    for system, front in sorted(front_lines(files).items()):
        below = [lines[system, room] for room in OURS]
        rows.append([system, front, sum(below), *below])
    rows.append(["all", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True))])
    table(["lines of a system, or shared by a family", "paper", "ours", *OURS], rows)


def print_methods() -> None:
    """Print how many methods each system has."""
    rows = []
    for problem in problems():
        every = methods(problem)
        paper = [m for m in problem.methods if m.room in PAPER]
        defaults = len(problem.default_methods)
        rows.append([problem.name, len(every), len(paper), len(problem.methods), defaults])
    head = ["methods of a system", "all", "declared, paper's rooms", "declared", "`compare` runs"]
    table(head, rows)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--before", metavar="COMMIT", help="compare the rooms with this commit")
    before = parser.parse_args().before
    here = files_here()
    print_rooms(here, files_of(before) if before else None)
    print_fronts(here)
    print_methods()
    sys.stdout.flush()
    for script in ("reading_paths", "trusted_lines"):
        subprocess.run([sys.executable, ROOT / "benchmarks" / f"{script}.py"], check=True)
        print(flush=True)


if __name__ == "__main__":
    main()
