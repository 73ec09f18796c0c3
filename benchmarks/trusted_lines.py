"""What a check of a certificate rests on: the modules that it reaches, and their lines.

No study counts the lines of the library's files.

    python benchmarks/trusted_lines.py           # a table of all systems
    python benchmarks/trusted_lines.py --write   # and the row of each system's page

Counted are the lines of all files of the model library and of `gadgetopt.pieces` that the module of
`check_bound` imports, directly or through others, also inside functions: what could be executed, so
an upper bound on what is. Declarations (`__init__.py`) and imports for type checkers are not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gadgetopt.system.declaration import Problem
from gadgetopt.system.references import module_of
from gadgetopt.system.registry import problems

ROOT = Path(__file__).parents[1]
#: The row of a page.
ROW = re.compile(r"^\*\*Trusted lines\.\*\* .*$", re.MULTILINE)
#: Rooms whose lines are counted.
COUNTED = ("gadgetopt.models.", "gadgetopt.pieces.")


def path_of(module: str) -> Path | None:
    """Return the file of a module of ours, None for packages and all others."""
    parts = module.split(".")
    if parts[0] != "gadgetopt":
        return None
    inside = parts[1:] if parts[1:2] == ["models"] else parts
    path = ROOT.joinpath(*inside).with_suffix(".py")
    return path if path.is_file() else None


@cache
def imported(module: str) -> frozenset[str]:
    """Return the modules of ours that a module imports when it runs."""
    path = path_of(module)
    assert path is not None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(m for m in _imports(tree, module) if path_of(m) is not None)


def _imports(node: ast.AST, module: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (name.name for name in child.names)
        elif isinstance(child, ast.ImportFrom):
            above = module.split(".")[: -child.level] if child.level else []
            base = ".".join([*above, *([child.module] if child.module else [])])
            yield base
            yield from (f"{base}.{name.name}" for name in child.names)
        yield from _imports(child, module)


def reached(module: str) -> set[str]:
    """Return a module and all that it imports, directly or through others."""
    found, waiting = {module}, [module]
    while waiting:
        for other in imported(waiting.pop()) - found:
            found.add(other)
            waiting.append(other)
    return found


def trusted(problem: Problem) -> dict[str, int]:
    """Return the lines of each module that is counted."""
    modules = sorted(m for m in reached(module_of(problem.check_bound)) if m.startswith(COUNTED))
    paths = {m: path_of(m) for m in modules}
    return {m: len(p.read_text(encoding="utf-8").splitlines()) for m, p in paths.items() if p}


def row(problem: Problem) -> str:
    """Return the row of a system's page."""
    lines = trusted(problem)
    pieces = sum(n for m, n in lines.items() if m.startswith("gadgetopt.pieces."))
    own = sum(lines.values()) - pieces
    text = f"The check of `{problem.name}` rests on {own + pieces:,} lines"
    text += f" ({own:,} of the system, {pieces:,} of `gadgetopt/pieces`)" if pieces else ""
    return f"**Trusted lines.** {text}; `python benchmarks/trusted_lines.py` counts them."


def checked() -> list[Problem]:
    """Return the systems of the library that have certificates of their own."""
    return [p for p in problems() if p.check_bound is not None and _is_ours(p)]


def _is_ours(problem: Problem) -> bool:
    return module_of(problem.check_bound).startswith("gadgetopt.models.")


def page_of(problem: Problem) -> Path:
    """Return the page of a system, or of its family."""
    folder = ROOT / "models" / module_of(problem.check_bound).split(".")[2]
    return folder / "README.md"


def rows_of(page: Path) -> str:
    """Return the rows that belong at the end of a page."""
    return "\n\n".join(row(p) for p in checked() if page_of(p) == page)


def with_rows(text: str, rows: str) -> str:
    """Return a page with these rows where its rows are, at its end if they are not as many."""
    new = rows.split("\n\n")
    if len(ROW.findall(text)) == len(new):
        each = iter(new)
        return ROW.sub(lambda _: next(each), text)
    return ROW.sub("", text).rstrip("\n") + f"\n\n{rows}\n"


def main() -> None:
    """Print the table; with --write, put each row on its page."""
    for problem in checked():
        lines = trusted(problem)
        print(f"{problem.name:30} {sum(lines.values()):6,} lines in {len(lines):2} files")
    for page in sorted({page_of(p) for p in checked()}) if "--write" in sys.argv else ():
        page.write_text(
            with_rows(page.read_text(encoding="utf-8"), rows_of(page)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
