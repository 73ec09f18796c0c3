"""The check of docs/proof_details.md runs as it is written, in a Python without any package."""

import ast
import io
import re
import shlex
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from typer.testing import CliRunner

import gadgetopt.proofs
from gadgetopt.cli.commands import app

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "proof_details.md"
FILES = ("tree_kernel.py", "model.py", "files.py")


def lines_of_code(path):
    """Count the lines of a module that hold code: no docstrings, comments and empty lines."""
    source = path.read_text(encoding="utf-8")
    texts = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            texts |= set(range(node.lineno, node.end_lineno + 1))
    used = set()
    layout = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in layout and token.string:
            used |= set(range(token.start[0], token.end[0] + 1))
    return len(used - texts)


def test_the_checkers_fit_on_a_few_pages():
    folder = Path(gadgetopt.proofs.__file__).parent
    lines = sum(
        lines_of_code(folder / name) for name in ("tree_kernel.py", "pseudo_boolean/kernel.py")
    )
    assert lines <= 320
    assert len((folder / "tree_kernel.py").read_text(encoding="utf-8").splitlines()) <= 275
    assert f"are {lines} lines of code together" in (DOCS / "measurements" / "proofs.md").read_text(
        encoding="utf-8"
    )


def section():
    return PAGE.read_text(encoding="utf-8").split("## Checking with nothing but Python")[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in FILES:
        shutil.copy(Path(gadgetopt.proofs.__file__).parent / name, tmp_path)
    shutil.copytree(PAGE.parents[1] / "instances" / "quickstart", tmp_path / "instances/quickstart")
    monkeypatch.chdir(tmp_path)
    for line in re.findall(r"^gadgetopt (.*)$", section(), re.MULTILINE):
        result = CliRunner().invoke(app, shlex.split(line))
        assert result.exit_code == 0, result.output
    return tmp_path


def test_the_snippet_needs_no_package(folder):
    (snippet,) = re.findall(r"```python\n(.*?)```", section(), re.DOTALL)
    # -I: neither the environment nor the site's packages; the folder itself is put in the path.
    code = f"import sys; sys.path.insert(0, {str(folder)!r})\n{snippet}"
    run = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True, cwd=folder)
    assert done.stdout == "8222\n"
    assert "It prints 8222," in section()


NO_SOLVERS = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("highspy", "ortools", "pyscipopt", "exact"):
            raise ImportError(f"{name} is a solver")

sys.meta_path.insert(0, Refuse())
from gadgetopt.cli.main import main

main()
"""


def test_no_solver_is_imported_where_a_proof_is_checked(folder):
    command = ["verify", "instances/quickstart/knapsack.json", "--bound", "proof.json"]
    run = [sys.executable, "-c", NO_SOLVERS, *command]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=False, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8222 (verified)" in done.stdout
