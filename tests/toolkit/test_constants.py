"""Numbers that modules name say what they are: a comment above them, beside them or below them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

#: What numbers are made of besides digits.
MAKERS = {"Fraction", "float", "int"}


def is_number(node: ast.expr) -> bool:
    """Return True for a number, an expression of numbers, and a tuple of these."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(map(is_number, parts))
        case ast.Call(func=ast.Name(id=name), args=parts):
            text = [isinstance(x, ast.Constant) and isinstance(x.value, str) for x in parts]
            return name in MAKERS and all(
                t or is_number(x) for t, x in zip(text, parts, strict=True)
            )
    return False


def bare_constants(source: str) -> Iterator[str]:
    """Yield line and name of the numeric constants of a module that no comment is about.

    A comment is about all constants below it that follow each other line by line. A text below one
    is about it, and so is a comment on its line.
    """
    lines, explained = source.splitlines(), -1
    body = ast.parse(source).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        is_assigned = isinstance(node, ast.Assign | ast.AnnAssign)
        if not is_assigned or node.value is None or not is_number(node.value):
            continue
        above = lines[node.lineno - 2] if node.lineno > 1 else ""
        below = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        beside = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
        if above.startswith("#") or beside or below or explained == node.lineno - 1:
            explained = node.end_lineno or 0
        else:
            yield f"{node.lineno}: {lines[node.lineno - 1]}"


@pytest.mark.parametrize(
    ("source", "bare"),
    [
        ("MOST = 3\n", ["1: MOST = 3"]),
        ("#: Most items.\nMOST = 3\n", []),
        ("MOST = 3  # items\n", []),
        ('MOST = 3\n"""Most items."""\n', []),
        ("#: Most items, and bins.\nMOST = 3\nBINS = 2\n", []),
        ("#: Most items.\nMOST = 3\n\nBINS = 2\n", ["4: BINS = 2"]),
        ("#: Names.\nNAMES = {}\nBINS: int = -(2**3)\n", ["3: BINS: int = -(2**3)"]),
        ("PARTS = (0.5, Fraction(1, 3))\n", ["1: PARTS = (0.5, Fraction(1, 3))"]),
        ("NAME = 'a'\nFLAG = True\nTEXT = int\n", []),
    ],
)
def test_what_a_comment_is_about(source, bare):
    assert list(bare_constants(source)) == bare


@pytest.mark.parametrize("package", ["gadgetopt", "models"])
def test_numeric_constants_say_what_they_are(package):
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in bare_constants(path.read_text(encoding="utf-8"))
    ]
    assert found == []
