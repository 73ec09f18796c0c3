"""Lines that declare the parts of the systems.

No study counts the lines of the library's files.

    python benchmarks/declarations.py

Counted are all lines of the `__init__.py` files of the model library, their docstrings included,
and those of the decorators above functions.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from gadgetopt.system.declaring import DECORATORS

MODELS = Path(__file__).parents[1] / "models"

#: What lines of `__init__.py` are counted as.
FOLDERS = "__init__.py"


def declaration_lines() -> Counter[str]:
    """Return the lines of `__init__.py` files, and of the decorators of each kind of part."""
    lines: Counter[str] = Counter()
    for path in sorted(MODELS.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.name == FOLDERS:
            lines[FOLDERS] += len(text.splitlines())
        else:
            lines += _decorators(ast.parse(text))
    return lines


def _decorators(tree: ast.Module) -> Counter[str]:
    lines: Counter[str] = Counter()
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            for node in function.decorator_list:
                kind = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
                if kind in DECORATORS:
                    lines[kind] += (node.end_lineno or node.lineno) - node.lineno + 1
    return lines


def main() -> None:
    """Print the table."""
    lines = declaration_lines()
    print("| declared by | lines |\n|---|---:|")
    for kind, count in sorted(lines.items()):
        print(f"| {kind if kind == FOLDERS else f'@{kind}'} | {count} |")
    print(f"| all | {sum(lines.values())} |")


if __name__ == "__main__":
    main()
