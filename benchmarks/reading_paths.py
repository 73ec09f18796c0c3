"""Files that a reader of each paper's algorithm has to open.

No study reads the library's files.

A reading path is what an algorithm's module reaches by imports, also inside functions, among the
files of `models/` and `gadgetopt/pieces/`; type hints and `__init__` files do not count.

usage: python benchmarks/reading_paths.py [--files METHOD]
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gadgetopt.system.declaration import Problem
from gadgetopt.system.references import module_of
from gadgetopt.system.registry import problems

ROOT = Path(__file__).parents[1]
#: Folders whose files a reader opens, with the package each is installed as.
READ = {"models": "gadgetopt.models", "gadgetopt/pieces": "gadgetopt.pieces"}


@dataclass(frozen=True)
class ReadingPath:
    """The files that a paper's algorithm reaches, from its own on."""

    system: str
    method: str
    modules: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Return the number of lines of the files."""
        return sum(len(text(module).splitlines()) for module in self.modules)


@cache
def files() -> dict[str, Path]:
    """Return the file of each module that may be on a path."""
    found = {}
    for folder, package in READ.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT / folder).with_suffix("").parts
            if inside[-1] != "__init__":
                found[".".join([package, *inside])] = path
    return found


def text(module: str) -> str:
    return files()[module].read_text(encoding="utf-8")


@cache
def imported(module: str) -> tuple[str, ...]:
    """Return the modules that a module imports, type hints left out."""
    return tuple(dict.fromkeys(_imports(ast.parse(text(module)), module.split(".")[:-1])))


def _imports(node: ast.AST, package: list[str]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names if name.name in files())
        elif isinstance(child, ast.ImportFrom):
            above = package[: len(package) - child.level + 1] if child.level else []
            base = ".".join([*above, *([child.module] if child.module else [])])
            for name in child.names:
                inside = f"{base}.{name.name}"
                if inside in files() or base in files():
                    yield inside if inside in files() else base
        yield from _imports(child, package)


def reached(module: str) -> tuple[str, ...]:
    """Return a module and all that it reaches, nearest first."""
    order = {module: None}
    for reader in order_of(order):
        order.update(dict.fromkeys(imported(reader)))
    return tuple(order)


def order_of(found: dict[str, None]) -> Iterator[str]:
    """Yield the keys of a dictionary, also those that it gets on the way."""
    k = 0
    while k < len(found):
        yield list(found)[k]
        k += 1


def reading_paths(problem: Problem) -> Iterator[ReadingPath]:
    """Yield the reading path of every method in the room `algorithms` of a system."""
    for method in problem.methods:
        module = module_of(method.run)
        if method.origin is None and ".algorithms." in module:
            yield ReadingPath(problem.name, method.name, reached(module))


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--files", metavar="METHOD", help="list the files of one method")
    asked = parser.parse_args().files
    paths = [path for problem in problems() for path in reading_paths(problem)]
    if asked:
        for path in paths:
            if path.method == asked:
                print(f"{path.system} {path.method}", *path.modules, sep="\n  ")
        return
    print("| system | method | files | lines |\n|---|---|---:|---:|")
    for path in sorted(paths, key=lambda path: (path.system, -len(path.modules), path.method)):
        print(f"| {path.system} | `{path.method}` | {len(path.modules)} | {path.lines:,} |")


if __name__ == "__main__":
    main()
