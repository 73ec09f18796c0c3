"""`gadgetopt new-system` writes a complete system that passes its own tests and the library's."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from gadgetopt.skeleton.writing import new_system

#: What the recipe of CONTRIBUTING changes outside the folders that are called after the system.
OTHER_FILES = {
    "CHANGELOG.md", "instances/quickstart/zoo.json", "models/README.md", "pyproject.toml",
}  # fmt: skip
OWN_FOLDERS = ("models/zoo/", "tests/models/zoo/", "instances/zoo/")

#: Tests of the library that run on every system or know all of them. Those of `ALSO` take longer.
EVERY_SYSTEM = (
    "tests/models/test_library.py",
    "tests/models/test_plain_algorithms.py",
    "tests/models/test_trusted_checks.py",
    "tests/toolkit/system/test_features.py",
    "tests/toolkit/system/test_files.py",
    "tests/toolkit/system/test_rooms.py",
)
ALSO = (
    "tests/models/test_certificate_fuzz.py",
    "tests/models/test_hostile_certificates.py",
    "tests/models/test_limits.py",
    "tests/models/test_solution_files.py",
    "tests/models/zoo",
    "tests/toolkit/test_layout.py",
)
#: Laws of all systems together, of the tests above. What only tries the other systems one by one,
#: such as `test_a_solution_found_elsewhere...`, is no such law: the suite itself does that.
LAWS = (
    "plain_algorithm or own_name or are_found or claims or called_after or circle or another"
    " or counts or declaration"
)


def run(folder, *command, path=()):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


# -- in a package of one's own ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """A package with a system of its own, and what an installation would leave."""
    folder = tmp_path_factory.mktemp("package")
    new_system("my_bins", folder)
    metadata = folder / "my_bins-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my_bins\nVersion: 1\n")
    entry = re.search(r'^my_bins = "(.*)"$', (folder / "pyproject.toml").read_text(), re.MULTILINE)
    (metadata / "entry_points.txt").write_text(f"[gadgetopt.problems]\nmy_bins = {entry[1]}\n")
    return folder


def test_it_passes_its_own_tests(package):
    run(package, "pytest", "-q", "-p", "no:cacheprovider", "tests", path=[package])


def test_every_command_knows_it(package):
    def gadgetopt(*arguments):
        return run(package, "gadgetopt", *arguments, path=[package])

    listed = gadgetopt("list", "my_bins", "--all")
    assert all(name in listed for name in ("branch_and_bound", "binary@cpsat", "half", "items"))
    assert "1: Leave out the items that do not fit alone" in gadgetopt(
        "show", "my_bins", "algorithm"
    )
    assert "ILP, exact; (K1)-(K3)" in gadgetopt("show", "my_bins", "binary")
    rows = json.loads(gadgetopt("compare", "instances/my_bins", "--json", "--workers", "1"))
    exact = [row for row in rows if row["method"] == "branch_and_bound"]
    assert [row["status"] for row in exact] == ["optimal"] * 3
    assert all(row["ratio_high"] <= 2 for row in rows if row["method"] == "greedy")


def test_its_bounds_are_proved_and_checked_again(package):
    instance, proof = "instances/my_bins/quickstart.json", package / "proof.json"
    solve = ("gadgetopt", "solve", instance, "--json", "--certificate", proof)
    done = run(package, *solve, "--method", "binary@highs", "--certify", "20", path=[package])
    row = json.loads(done)
    assert (row["status"], row["bound_voucher"]) == ("optimal", "verified")
    again = run(package, "gadgetopt", "verify", instance, "--bound", proof, path=[package])
    assert str(row["bound"]) in again


def test_a_generated_instance_is_solved_and_drawn(package):
    picture = package / "items.html"
    make = ("gadgetopt", "generate", "my_bins", "--preset", "paper", "--out", package / "drawn")
    path = run(package, *make, path=[package]).strip()
    solved = run(package, "gadgetopt", "solve", path, "--plot", picture, path=[package])
    assert "optimal" in solved
    assert "plotly" in picture.read_text()


NAMES = ("ab", "zoo", "a_rather_long_name_of_a_system")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("folder", [".", "models"])
def test_nothing_is_called_after_the_skeleton_and_ruff_is_content(name, folder, tmp_path, root):
    shutil.copy(root / "pyproject.toml", tmp_path)
    (tmp_path / "gadgetopt" / "skeleton").mkdir(parents=True)
    at = tmp_path / folder / ("own" if folder == "." else "")
    for path in new_system(name, at):
        assert "skeleton" not in path.read_text().casefold()
    run(at, "ruff", "check", "--no-cache", ".")
    run(at, "ruff", "format", "--check", "--no-cache", ".")


@pytest.mark.slow
def test_a_type_checker_is_content(package, root):
    # mypy does not see an editable installation: gadgetopt is found by its path.
    folder = package / "types"
    (folder / "gadgetopt").mkdir(parents=True)
    for path in (root / "gadgetopt").iterdir():
        (folder / "gadgetopt" / path.name).symlink_to(path)
    environment = {**os.environ, "MYPYPATH": str(folder)}
    options = ("--strict", "--follow-imports", "silent", "--cache-dir", package / "cache")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *map(str, options), "my_bins", "tests"],
        cwd=package, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("my-bins", "NAME: 'my-bins', expected a Python identifier of lower-case letters"),
        ("3d", "NAME: '3d', expected a Python identifier"),
        ("class", "NAME: 'class', expected a Python identifier"),
        ("a/b", "NAME: 'a/b', expected a Python identifier"),
        ("", "NAME: '', expected a Python identifier"),
        ("knapsack", "NAME: 'knapsack' is a system already, see `gadgetopt list`"),
        ("json", "NAME: 'json' is a Python package already, expected a new name"),
        ("tests", "NAME: 'tests' is a Python package already, expected a new name"),
        ("there", "there: already exists; choose another name or another --folder"),
    ],
)
def test_a_name_that_cannot_be_used_is_one_line(name, line, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    code, out, err = cli("new-system", name)
    assert (code, out) == (2, "")
    assert err.startswith(f"gadgetopt: {line}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


def test_a_folder_that_cannot_be_used_is_one_line(cli, tmp_path, root):
    file = tmp_path / "file"
    file.write_text("")
    for folder in (file, root / "models" / "bgl"):
        code, out, err = cli("new-system", "zoo", "--folder", folder)
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert "expected the library's models/ itself" in err


def test_a_second_system_of_a_package_is_told_its_entry_point(cli, tmp_path):
    code, out, _ = cli("new-system", "first", "--folder", tmp_path)
    assert code == 0
    assert "entry-points" not in out
    before = (tmp_path / "pyproject.toml").read_text()
    code, out, _ = cli("new-system", "second", "--folder", tmp_path)
    assert code == 0
    assert 'second = "second:PROBLEM"' in out
    assert (tmp_path / "pyproject.toml").read_text() == before
    code, out, _ = cli("new-system", "third", "--folder", tmp_path, "--json")
    assert code == 0
    assert all(Path(path).is_file() for path in json.loads(out))


# -- in the library --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tree(root, tmp_path_factory):
    """A copy of the repository with a new system, by the recipe; and the changed files."""
    folder = tmp_path_factory.mktemp("tree")
    for name in ("gadgetopt", "models", "tests", "instances", "benchmarks", "docs"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("site", "img"))
    for name in ("pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy2(root / name, folder)
    before = contents(folder)
    new_system("zoo", folder / "models")
    entry = '\nzoo = "gadgetopt.models.zoo:PROBLEM"\n\n[tool.setuptools]\n'
    edit(folder / "pyproject.toml", "\n\n[tool.setuptools]\n", entry)
    row = "\n| [`zoo`](zoo/README.md) | what to take | - | 5 |"
    edit(folder / "models/README.md", "\n| [`spp`]", row + "\n| [`spp`]")
    edit(
        folder / "CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- A new system, `zoo`.\n"
    )
    changed = {path for path, text in contents(folder).items() if before.get(path) != text}
    # What an installation of this tree would leave.
    installed = Path(str(distribution("gadgetopt")._path))
    shutil.copytree(installed, folder / "site" / installed.name)
    entries = folder / "site" / installed.name / "entry_points.txt"
    edit(
        entries,
        "[gadgetopt.problems]\n",
        "[gadgetopt.problems]\nzoo = gadgetopt.models.zoo:PROBLEM\n",
    )
    return folder, changed


def contents(folder):
    """Return the size and time of every file."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
        if "__pycache__" not in path.parts
    }


def edit(path, old, new):
    text = path.read_text()
    assert text.count(old) == 1, path
    path.write_text(text.replace(old, new))


def test_a_new_system_touches_its_folders_and_four_other_files(tree):
    _, changed = tree
    others = {path for path in changed if not path.startswith(OWN_FOLDERS)}
    assert others == OTHER_FILES
    assert len(others) <= 4


def test_the_recipe_names_the_same_files(root):
    recipe = (root / "CONTRIBUTING.md").read_text().split("## Adding a system")[1]
    table = recipe.split("touches in all:")[1].split("\n\n")[1]
    named = set(re.findall(r"^\| `([^`]*)`", table.replace("NAME", "zoo"), re.MULTILINE))
    assert {n for n in named if not n.endswith("/")} == OTHER_FILES
    assert {n for n in named if n.endswith("/")} == set(OWN_FOLDERS)


@pytest.mark.parametrize(
    "tests", [EVERY_SYSTEM, pytest.param(ALSO, marks=pytest.mark.slow)], ids=["quick", "whole"]
)
def test_it_passes_what_the_library_asks_of_every_system(tree, tests):
    folder, _ = tree
    options = ("-q", "-n", "0", "-p", "no:cacheprovider", "-k", f"zoo or {LAWS}", *tests)
    said = run(folder, "pytest", *options, path=[folder / "site"])
    assert len(re.findall(r"[.]", said.split("[100%]")[0])) >= 50
