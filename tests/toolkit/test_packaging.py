"""What is installed is what is in the repository, and works where only Python is."""

import json
import os
import subprocess
import sys
import tomllib
import venv
import zipfile

import pytest


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
            for path in [*folder.glob("*.py"), folder / "README.md"]:
                assert f"gadgetopt/models/{folder.name}/{path.name}" in names
    for path in (root / "instances").rglob("*.json"):
        assert f"gadgetopt/{path.relative_to(root)}" in names
    for path in (root / "gadgetopt" / "html_report" / "assets").iterdir():
        assert f"gadgetopt/html_report/assets/{path.name}" in names
    assert {n.split("/")[0] for n in names} == {
        "gadgetopt",
        next(n for n in names if ".dist-info" in n).split("/")[0],
    }


def test_every_package_folder_is_declared(root):
    declared = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"][
        "packages"
    ]
    on_disk = {
        "gadgetopt.models." + str(p.parent.relative_to(root / "models")).replace(os.sep, ".")
        for p in (root / "models").rglob("__init__.py")
    }
    assert {p.rstrip(".") for p in on_disk} == {
        p for p in declared if p.startswith("gadgetopt.models.")
    } | {"gadgetopt.models"}
    folders = {p.parent for p in (root / "instances").rglob("*.json")}
    for folder in folders:
        assert "gadgetopt." + str(folder.relative_to(root)).replace(os.sep, ".") in declared


@pytest.mark.slow
def test_the_wheel_runs_the_quickstart_in_a_clean_environment(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True, cwd=tmp_path)
    done = subprocess.run(
        [python, "-m", "gadgetopt", "compare", "instances/quickstart", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert any(row["status"] == "optimal" for row in rows)
    assert all(row["ratio_high"] is not None for row in rows if row["objective"] is not None)
