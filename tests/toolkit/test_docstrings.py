"""Everything public says what it is, and what its docstring shows happens."""

import ast
import doctest
import importlib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def files():
    """Yield file and name of every public module of the toolkit and the library."""
    for top, name in (("gadgetopt", "gadgetopt"), ("models", "gadgetopt.models")):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = list(path.relative_to(ROOT / top).with_suffix("").parts)
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if not any(part.startswith("_") for part in parts):
                yield path, ".".join([name, *parts])


@cache
def modules():
    """Return name and tree of every public module."""
    return [(name, ast.parse(path.read_text())) for path, name in files()]


def public(node, name):
    """Yield name and node of every public class, function, method and property below a node."""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if "overload" in map(ast.unparse, child.decorator_list):
                continue  # what follows it says what it is
            if not child.name.startswith("_"):
                yield f"{name}.{child.name}", child
                if isinstance(child, ast.ClassDef):
                    yield from public(child, f"{name}.{child.name}")
        elif isinstance(child, ast.If):  # what is defined under a condition is public, too
            yield from public(child, name)


def test_everything_public_has_a_docstring():
    silent = []
    count = 0
    for name, tree in modules():
        for full, node in [(name, tree), *public(tree, name)]:
            count += 1
            if not (ast.get_docstring(node) or "").strip():
                silent.append(full)
    assert silent == []
    assert count > 5000


@pytest.mark.parametrize("name", [name for path, name in files() if ">>> " in path.read_text()])
def test_every_example_of_a_docstring_runs(name, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    said = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name)):
        runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(said)
    assert runner.tries > 0, "an example that no test runs"


def test_the_verbs_have_examples():
    import gadgetopt

    for verb in ("solve", "verify", "compare", "generate", "export", "show"):
        assert ">>>" in (getattr(gadgetopt, verb).__doc__ or ""), verb
