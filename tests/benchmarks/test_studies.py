"""The study files of benchmarks/ can be run, and what pages name in benchmarks/ is there.

GADGETOPT_STUDIES=all in the environment also runs each of them, one instance of every preset, a
second a run; without it two are run.
"""

import os
import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from gadgetopt.runs.grid import grid_over
from gadgetopt.runs.study import Study, read_study, write_study
from gadgetopt.system.files import find_instances, read_instance
from gadgetopt.system.generation import find_generator
from gadgetopt.system.methods import knows
from gadgetopt.system.registry import problem, problems
from gadgetopt.system.sweeps import swept

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"

#: Files that are no studies: sentences about the default methods.
NO_STUDIES = {"defaults.toml"}
STUDIES = sorted(p for p in BENCHMARKS.glob("*.toml") if p.name not in NO_STUDIES)

RUN, WORKERS = {"parallel_machines_ratios", "dapple_programs"}, 0
if os.environ.get("GADGETOPT_STUDIES") == "all":  # large models need enforced limits
    RUN, WORKERS = {path.stem for path in STUDIES}, 1


@pytest.fixture(params=STUDIES, ids=lambda p: p.stem)
def study(request, tmp_path):
    """A study, with a quickstart in place of files that its comment says how to import."""
    path = request.param
    text = path.read_text(encoding="utf-8")
    imported = re.search(r'^instances = \["([a-z_]+)"\]$', text, re.MULTILINE)
    if imported and not (BENCHMARKS / imported[1]).exists():
        assert f"--out benchmarks/{imported[1]}" in text
        methods = re.findall(r'"([^"]+)"', text.partition("methods =")[2].partition("]")[0])
        (system,) = (s.name for s in problems() if all(knows(s, m) for m in methods))
        text = text.replace(imported[0], f'instances = ["instances/quickstart/{system}.json"]')
    copy = tmp_path / path.name
    copy.write_text(text, encoding="utf-8")
    return read_study(copy)


def shrunk(study: Study) -> Study:
    """Return a study of one instance of each preset, at the first value of what is swept."""
    series = {}
    for given in study.generate:
        defaults = find_generator(problem(given.system), given.preset, "").parameters
        several = swept(given.options, defaults)
        one = {k: v[0] if k in several else v for k, v in given.options.items()}
        small = given.model_copy(update={"count": 1, "seeds": 1, "options": one})
        series.setdefault((given.system, given.preset), small)
    return study.model_copy(update={"generate": tuple(series.values()), "seeds": 1})


def systems_of(study: Study) -> list[str]:
    found = [read_instance(path).problem.name for path in find_instances(study.instances)]
    return list(dict.fromkeys([*found, *(series.system for series in study.generate)]))


def test_a_study_expands_to_runs_of_all_its_methods(study):
    assert study.store.endswith(".sqlite")
    for series in study.generate:
        names = series.names
        assert len(names) == len(set(names)) >= 1
    quickstarts = [
        read_instance(ROOT / "instances" / "quickstart" / f"{name}.json")
        for name in systems_of(study)
    ]
    met = {task.spec for task in grid_over(quickstarts, study.methods, study.run_limits)}
    # Without methods a study takes those that a system is compared by.
    assert len(met) == len(set(study.methods)) if study.methods else len(met) > len(study.generate)
    for pattern in study.table.methods if study.table else ():
        assert any(fnmatchcase(n, pattern) for m in met for n in (m, m.partition(":")[0]))


def test_the_columns_of_a_table_are_columns_of_its_instances(study):
    if study.table is None:
        return
    known = {"instance", "preset", "instance_seed", "instance_index"}
    for name in systems_of(study):
        declared = problem(name)
        data = read_instance(ROOT / "instances" / "quickstart" / f"{name}.json").data
        known |= {f"size_{key}" for key in declared.size(data)}
    for series in study.generate:
        generator = find_generator(problem(series.system), series.preset, "preset")
        known |= {f"param_{key}" for key in generator.parameters}
    assert set(study.table.rows) <= known


def test_a_study_runs_and_ends_with_its_table(study, cli, tmp_path):
    stem = Path(study.store).stem
    if stem not in RUN:
        pytest.skip("GADGETOPT_STUDIES=all runs it")
    path = tmp_path / "small.toml"
    instances = find_instances(study.instances)[:1]
    small = shrunk(study).model_copy(
        update={
            "instances": tuple(map(str, instances)),
            "workers": WORKERS,
            "limits": study.limits.model_copy(update={"time_s": 1.0}),
        }
    )
    write_study(small, path)
    code, out, err = cli("compare", path)
    assert code == 0, err
    if study.table is not None:
        assert "cells: " in out


def test_what_pages_and_code_name_in_benchmarks_is_there():
    named = re.compile(r"benchmarks/([a-z_0-9]+\.(?:py|toml))")
    for folder in ("docs", "models", "gadgetopt", "benchmarks", "tests"):
        for path in [*(ROOT / folder).rglob("*.md"), *(ROOT / folder).rglob("*.py")]:
            missing = [
                n
                for n in named.findall(path.read_text(encoding="utf-8"))
                if not (BENCHMARKS / n).exists()
            ]
            assert not missing, f"{path.relative_to(ROOT)} names {missing}"
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for name in named.findall(path.read_text(encoding="utf-8")):
            assert (BENCHMARKS / name).exists(), f"{path.name} names {name}"
