"""Numbers that modules name say what they are, and where their value comes from."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

spec = importlib.util.spec_from_file_location(
    "constants_read", ROOT / "benchmarks" / "constants_read.py"
)
constants_read = importlib.util.module_from_spec(spec)
sys.modules["constants_read"] = constants_read  # its data classes look themselves up
spec.loader.exec_module(constants_read)


def bare_constants(source: str) -> list[str]:
    """Return line and name of the numeric constants of a module that no comment is about."""
    lines = source.splitlines()
    return [
        f"{node.lineno}: {lines[node.lineno - 1]}"
        for node, comment in constants_read.comments(source)
        if not comment
    ]


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
    assert bare_constants(source) == bare


def test_numeric_constants_say_what_they_are():
    found = [
        f"{file}:{line}"
        for file, text in constants_read.sources().items()
        for line in bare_constants(text)
    ]
    assert found == []


def test_numeric_constants_are_definitions_or_name_their_table():
    """What guards memory is computed from the one budget and no number of its own."""
    kinds = {c.key: c.kind for c in constants_read.all_constants()}
    assert [key for key, kind in kinds.items() if kind is None] == []
    tables = set(kinds.values()) - {"definition"}
    assert all((ROOT / table).is_file() for table in tables)


@pytest.mark.parametrize(
    ("file", "comment", "kind"),
    [
        ("models/x/heuristics/a.py", "Rounds. Tuned: `benchmarks/constants.py`.", "constants.py"),
        ("models/x/heuristics/a.py", "Rounds. Tuned: `benchmarks/engine.py`.", "engine.py"),
        ("models/x/heuristics/a.py", "No time. By definition.", "definition"),
        ("models/x/heuristics/a.py", "Rounds.", None),
        ("models/x/heuristics/a.py", "Tuned: `benchmarks/constants.py`. Rounds.", None),
        ("models/x/pictures/a.py", "Bars.", "definition"),
        ("gadgetopt/runs/a.py", "Tuned: `benchmarks/engine.py`.", "engine.py"),
        ("models/x/instance.py", "Most jobs.", "definition"),
    ],
)
def test_what_a_comment_says_of_its_constants(file, comment, kind):
    known = constants_read.kind_of(file, comment)
    assert (known or "").removeprefix("benchmarks/") == (kind or "")


def test_constants_of_a_tuple_are_told_apart():
    source = (
        "#: Most, and part. By definition.\n(MOST, PART) = (2**3, Fraction(1, 2))\nN = (1, 2)\n"
    )
    found = list(constants_read.constants_of("models/x/a.py", source))
    assert [(c.name, c.text, c.kind) for c in found] == [
        ("MOST", "2 ** 3", "definition"),
        ("PART", "Fraction(1, 2)", "definition"),
        ("N", "(1, 2)", "definition"),
    ]


def test_reading_follows_imports_what_is_computed_and_compiled_loops():
    texts = {
        "models/x/a.py": "#: A.\nA = 3\nB = A * 2\n\n@compiled\ndef loop(n):\n    return n + A\n",
        "models/x/b.py": "from .a import A as C\nfrom . import a\n",
        "models/x/c.py": "from .a import loop\nfrom .b import C\n",
        "models/x/__init__.py": "",
    }
    reading = constants_read.Reading(texts)
    key = "models/x/a.py:A"

    def read(module, code):
        expression = constants_read.ast.parse(code)
        return reading.read(reading.modules[f"gadgetopt.models.x.{module}"], expression)

    assert read("a", "B + 1") == read("b", "a.B") == read("c", "loop(2)") == read("c", "C") == {key}
    assert read("c", "B") == set()
    assert reading.loops[key] == [("gadgetopt.models.x.a", "loop")]
