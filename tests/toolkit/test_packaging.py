"""The installed package equals the repository and works in a bare Python environment."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import entry_points

import pytest

from gadgetopt import __version__
from gadgetopt.system.registry import GROUP


@pytest.fixture(scope="session")
def wheel(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    # sdist first, the wheel from the sdist: both hold everything.
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", folder, root], check=True, capture_output=True
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_holds_every_system_and_every_library_instance(wheel, root):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in (root / "models").iterdir():
        if (folder / "__init__.py").exists():
            for path in (p for form in ("*.py", "README.md", "*.npz") for p in folder.rglob(form)):
                assert f"gadgetopt/{path.relative_to(root).as_posix()}" in names
            assert (folder / "README.md").exists()
    for path in (p for form in ("*.py", "*.toml") for p in (root / "gadgetopt").rglob(form)):
        assert path.relative_to(root).as_posix() in names
    for path in (root / "instances").rglob("*.json"):
        assert f"gadgetopt/{path.relative_to(root).as_posix()}" in names
    for path in (root / "gadgetopt" / "reporting" / "html_report" / "assets").iterdir():
        assert f"gadgetopt/reporting/html_report/assets/{path.name}" in names
    assert {n.split("/")[0] for n in names} == {
        "gadgetopt",
        next(n for n in names if ".dist-info" in n).split("/")[0],
    }


def test_the_systems_of_pyproject_are_those_installed(root):
    written = tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]
    ours = {
        e.name: e.value for e in entry_points(group=GROUP) if e.dist and e.dist.name == "gadgetopt"
    }
    assert ours == written[GROUP], "run `pip install -e .` again: entry points are installed"


def test_the_version_is_the_same_wherever_it_stands(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    citation = (root / "CITATION.cff").read_text()
    released = re.search(r"^## \[(\d.*?)\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert project["version"] == __version__ == released[1]
    assert f"\nversion: {__version__}\n" in citation


@pytest.mark.slow
def test_the_wheel_runs_the_quickstart_in_a_clean_environment(wheel, tmp_path):
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    # Python compiles what it imports; all that is installed would be several times as much.
    install = ("--python", python, "install", "-q", "--no-compile", wheel)
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, cwd=tmp_path)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [python, "-m", "gadgetopt", "compare", "instances/quickstart", "--json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert any(row["status"] == "optimal" for row in rows)
    assert all(row["ratio_high"] is not None for row in rows if row["objective"] is not None)
