"""The workflows of the repository are sound, and know the Pythons that pyproject names."""

import re
import tomllib

import pytest

yaml = pytest.importorskip("yaml", reason="pyyaml is not installed; jupytext brings it")
NAMES = ("release", "site", "tests")


@pytest.fixture(scope="module")
def workflows(root):
    folder = root / ".github" / "workflows"
    assert sorted(path.stem for path in folder.glob("*.yml")) == list(NAMES)
    return {name: yaml.safe_load((folder / f"{name}.yml").read_text()) for name in NAMES}


def test_every_job_has_a_limit_or_is_short_and_needs_what_there_is(workflows):
    for workflow in workflows.values():
        jobs = workflow["jobs"]
        for job in jobs.values():
            needs = job.get("needs", [])
            assert set([needs] if isinstance(needs, str) else needs) <= set(jobs)
            for step in job["steps"]:
                assert len({"uses", "run"} & set(step)) == 1, step
            installs = any("pip install" in step.get("run", "") for step in job["steps"])
            assert "timeout-minutes" in job or not installs


def test_the_suite_runs_on_every_python_that_is_promised(workflows, root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    promised = [
        found[1]
        for line in project["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    ]
    assert workflows["tests"]["jobs"]["suite"]["strategy"]["matrix"]["python"] == promised
    assert project["requires-python"] == f">={promised[0]}"


def test_a_release_has_wheel_sdist_and_notebooks(workflows):
    jobs = workflows["release"]["jobs"]
    assert set(jobs["release"]["needs"]) == {"build", "notebooks"}
    said = " ".join(step.get("run", "") for job in jobs.values() for step in job["steps"])
    for words in ("python -m build", "twine check", "notebooks.zip", "gh release create"):
        assert words in said
