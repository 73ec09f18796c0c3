"""What every `algorithms/plain.py` holds to: it stands alone, and `show` prints it."""

import ast
from pathlib import Path

import pytest

import gadgetopt
from gadgetopt.errors import InputError

ROOT = Path(__file__).parents[2]
PLAIN = sorted((ROOT / "models").rglob("algorithms/plain.py"))
#: Rooms and files that are not the problem's data, its evaluator, or what a paper calls.
NOT_PLAIN = {
    *("algorithms", "baselines", "bounds", "certificate", "data", "exact", "formulations"),
    *("generate", "guarantees", "heuristics", "importers", "learning", "pictures", "proving"),
    *("statements",),
}
#: The problems whose paper prints no algorithm, or none that `algorithms` has.
WITHOUT = {
    "adversarial_bundles",
    "adversarial_online_sequence",
    "mip",
    "oneflow_actors",
    "pipeline_schedules",
}


def name_of(path: Path) -> str:
    return "_".join(path.parents[1].relative_to(ROOT / "models").parts)


@pytest.mark.parametrize("path", PLAIN, ids=name_of)
def test_a_plain_algorithm_imports_the_problem_and_what_its_paper_calls(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(name.name.startswith("numba") for name in node.names)
        if not isinstance(node, ast.ImportFrom):
            continue
        assert not str(node.module).startswith(("numba", "gadgetopt.models"))
        if node.level:
            assert node.level > 1, "a neighbour in the room is the fast algorithm"
            room = str(node.module).split(".", maxsplit=1)[0]
            assert room not in NOT_PLAIN, ast.unparse(node)


@pytest.mark.parametrize("path", PLAIN, ids=name_of)
def test_a_plain_algorithm_is_held_against_the_fast_one_and_shown(path):
    tests = ROOT / "tests" / path.relative_to(ROOT).with_name("test_plain.py")
    assert tests.is_file()
    text = path.read_text(encoding="utf-8")
    assert gadgetopt.show(name_of(path), "algorithm") == text.removesuffix("\n")
    fast = [p.read_text(encoding="utf-8") for p in path.parent.glob("*.py") if p != path]
    assert any("`plain`" in code and "tested" in code for code in fast)


def test_every_problem_has_a_plain_algorithm_or_is_known_to_have_none():
    names = {p.name for p in gadgetopt.problems()}
    assert {name_of(path) for path in PLAIN} | WITHOUT == names
    for name in WITHOUT:
        with pytest.raises(InputError, match="has no algorithm to show"):
            gadgetopt.show(name, "algorithm")
