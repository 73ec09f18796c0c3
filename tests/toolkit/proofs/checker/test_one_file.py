"""The checker in one file: it is the modules that are run here, and runs without any of them."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from gadgetopt.cli.commands import app
from gadgetopt.proofs.checker.writing import (
    MODULES,
    RENAMED,
    START,
    checker_in_one_file,
    read_module,
    source_of,
)

from .samples import EXACT_TEXT, LP, MPS, NL, TREE, VIPR
from .test_check import certificate

FILES = {
    "parcel.mps": MPS, "parcel.lp": LP, "parcel.txt": EXACT_TEXT, "parcel.nl": NL,
    "proof.vipr": VIPR, "tree.txt": "\n".join(TREE) + "\n", "proof.json": certificate(),
    "wrong.vipr": VIPR.replace("uns 8 7", "uns 8 8"), "other.mps": MPS.replace("room 2", "room 1"),
    "odd.lp": "Minimize 1/3 x\nEnd\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("checker") / "check_bound.py"
    result = CliRunner().invoke(app, ["export", "--checker", str(path)])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def alone(written, folder, *arguments):
    run = [sys.executable, "-I", "-S", str(written), *arguments]
    return subprocess.run(
        run, capture_output=True, text=True, timeout=60, check=False, cwd=folder, env={}
    )


@pytest.mark.parametrize(
    "arguments",
    [
        *(("proof.vipr", model) for model in ("parcel.mps", "parcel.lp", "parcel.txt")),
        ("tree.txt", "parcel.nl"), ("proof.json", "parcel.mps"), ("proof.vipr",),
        ("wrong.vipr",), ("proof.vipr", "other.mps"), ("tree.txt", "other.mps"),
        ("tree.txt",), ("proof.vipr", "none.mps"), ("tree.txt", "odd.lp"), ("parcel.lp",),
    ],
)  # fmt: skip
def test_it_says_what_the_command_says(written, folder, monkeypatch, arguments):
    monkeypatch.chdir(folder)
    here = CliRunner().invoke(app, ["check", *arguments], standalone_mode=False)
    there = alone(written, folder, *reversed(arguments))
    if here.exception is not None:
        assert there.returncode == 2
        assert there.stdout == ""
        assert str(here.exception).split(": ")[-1].strip("'") in there.stderr
        assert "Traceback" not in there.stderr
        return
    assert (there.returncode, there.stdout) == (here.return_value, here.output)
    assert there.stderr == ""


def test_without_arguments_it_says_how_to_use_it(written, folder):
    for arguments in ((), ("--help",), ("a", "b", "c")):
        done = alone(written, folder, *arguments)
        assert done.returncode == 2
        assert done.stdout.startswith("usage: python check_bound.py MODEL PROOF")


def bare(node: ast.AST) -> str:
    """Return what a definition says without its docstrings."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(inner):
            inner.body = inner.body[1:] or [ast.Pass()]
    return ast.dump(node)


def test_it_is_what_the_modules_are(written):
    """Each of its definitions stands in a module, and the checkers are there as a whole."""
    there = [
        bare(node)
        for name in MODULES
        for part in read_module(source_of(name), RENAMED.get(name, {})).parts
        for node in ast.parse("\n".join(part.lines)).body
    ]
    tree = ast.parse(written.read_text())
    here = [
        bare(node)
        for node in tree.body
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr | ast.If)
    ]
    assert len(here) > 100
    assert [node for node in there if node in set(here)] == here
    for name in ("tree_kernel.py", "vipr_files/derivations.py", "reading/mps.py", "reading/lp.py"):
        source = source_of(name)
        for old, new in RENAMED.get(name, {}).items():
            source = source.replace(f" {old}", f" {new}").replace(f"[{old}", f"[{new}")
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name != "proved_by_vipr":
                assert bare(node) in here


def test_it_imports_the_standard_library_alone(written):
    imported = set()
    for node in ast.walk(ast.parse(written.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported <= sys.stdlib_module_names
    assert not imported & {"importlib", "subprocess", "os", "socket", "ctypes"}
    assert "gadgetopt" not in imported


def test_a_referee_reads_it_in_an_evening(written):
    """The lines that a tree proof rests on, and those of all."""
    lines = written.read_text().splitlines()
    assert len(lines) <= 2750
    counts = [
        int(line.split(": ")[1].split(" ")[0].replace(",", ""))
        for line in lines[:20]
        if line.strip().startswith("a tree proof")
    ]
    assert len(counts) == 4
    assert max(counts) <= 1400


def test_names_that_mean_two_things_are_refused(monkeypatch):
    monkeypatch.setitem(RENAMED, "tree_kernel.py", {})
    with pytest.raises(ValueError, match="is a name of"):
        checker_in_one_file("0")


def test_functions_that_nobody_calls_are_left_out(written):
    text = written.read_text()
    assert f"def {START}(" in text
    assert "def unpacked(" in text
    assert "def packed(" not in text


def test_export_of_the_checker_goes_alone(tmp_path):
    for arguments in (
        ["--checker", str(tmp_path / "c.py"), "--format", "mps"],
        ["instance.json"],
        ["--format", "mps"],
    ):
        result = CliRunner().invoke(app, ["export", *arguments])
        assert result.exit_code != 0
        assert not (tmp_path / "c.py").exists()
