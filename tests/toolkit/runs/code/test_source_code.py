"""A method is run again exactly when its code has changed."""

import functools
import json
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from gadgetopt import __version__
from gadgetopt.errors import InputError, OtherCode
from gadgetopt.runs.code import source_code
from gadgetopt.runs.code.source_code import SourceCode
from gadgetopt.runs.engine import supervisor
from gadgetopt.runs.engine.finish import run_here
from gadgetopt.runs.engine.work import Work
from gadgetopt.system import registry
from gadgetopt.system.files import document_text, read
from gadgetopt.system.methods import find_method
from gadgetopt.system.references import module_of
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

PROBLEM = """
from gadgetopt.system.data import Instance, NonNegativeInt, Solution
from gadgetopt.system.declaration import Citation, Method, Problem
from gadgetopt.system.result import Evaluation, MethodOutcome
{helper}

class Target(Instance):
    most: NonNegativeInt


class Guess(Solution):
    number: NonNegativeInt


def evaluate(target, guess):
    return Evaluation(guess.number)


def method(target, limits, rng):
    return MethodOutcome(solution=Guess(number=NUMBER))


PROBLEM = Problem(
    name="guess", title="guess", citation=Citation("nobody", "none", "test", 2026), sense="max",
    objective="number", instance_type=Target, solution_type=Guess, evaluate=evaluate,
    size=lambda target: {{"most": target.most}},
    methods=(Method("mine", kind="heuristic", summary="mine", reference="-", run=method),),
    default_methods=("mine",),
)
"""


class Plugin:
    """A third party's distribution: one module, or a package whose number lies in a helper."""

    def __init__(self, folder, shape):
        self.site, self.shape = folder / "site", shape
        self.site.mkdir()
        self.instance = folder / "target.json"
        envelope = {"gadgetopt": 1, "problem": "guess", "kind": "instance", "name": "target"}
        self.instance.write_text(json.dumps({**envelope, "data": {"most": 9}}))
        self.write(1)
        self.release("0.3")

    def write(self, number):  # of another length, or Python may take its cache for current
        if self.shape == "module":
            text = PROBLEM.format(helper=f"NUMBER = {number}")
            (self.site / "guessing.py").write_text(text)
            return
        package = self.site / "guessing"
        package.mkdir(exist_ok=True)
        (package / "helper.py").write_text(f"NUMBER = {number}\n")
        helper = "from guessing.helper import NUMBER"
        (package / "__init__.py").write_text(PROBLEM.format(helper=helper))

    def release(self, version):
        info = self.site / "guessing-0.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: guessing\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text("[gadgetopt.problems]\nguess = guessing:PROBLEM\n")

    def run(self, *command):
        searched = [str(self.site), os.environ.get("PYTHONPATH", "")]
        return subprocess.run(
            [sys.executable, "-m", "gadgetopt", *map(str, command)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, searched))},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def compare(self, store, *more):
        done = self.run("compare", self.instance, "--store", store, "--json", "--workers", 1, *more)
        assert done.returncode == 0, done.stderr
        (row,) = json.loads(done.stdout)
        return row["objective"], done.stderr.replace("gadgetopt: ", "").splitlines()


@pytest.mark.parametrize("shape", ["module", "package"])
def test_a_method_whose_code_changes_is_run_again_and_one_whose_code_did_not_is_not(
    tmp_path, shape
):
    plugin, store = Plugin(tmp_path, shape), tmp_path / "runs.sqlite"
    assert plugin.compare(store) == (1, [f"new store {store}"])
    objective, (line,) = plugin.compare(store)
    assert objective == 1
    assert line.startswith(f"1 of 1 runs taken from {store} (oldest ")
    plugin.write(20)
    changed = [
        f"0 of 1 runs taken from {store}",
        f"1 run in {store} made by other or unknown code, to be run again",
        f"bounds and solutions of 1 other run in {store} are used, "
        "1 of them made by other or unknown code",
    ]
    assert plugin.compare(store) == (20, changed)
    plugin.write(1)
    assert plugin.compare(store)[0] == 1
    assert count(store) == 2
    plugin.release("0.4")
    assert plugin.compare(store)[0] == 1
    assert count(store) == 3


def count(store):
    with sqlite3.connect(store) as runs:
        return runs.execute("SELECT count(DISTINCT code) FROM runs").fetchone()[0]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The plug-in in this very process."""
    plugin = Plugin(tmp_path, "package")
    monkeypatch.syspath_prepend(plugin.site)
    monkeypatch.setattr(source_code, "_first_use", SourceCode())
    forget()
    yield plugin
    monkeypatch.undo()
    forget()


def forget():
    for cached in (registry._entries, registry._loaded):
        cached.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "guessing"]:
        del sys.modules[name]


def work(document, code):
    return Work(
        "k", "s", "guess", document.fingerprint, "mine", Limits(time_s=60.0), 0, 5.0, code=code
    )


def code_now(document):
    return SourceCode().of(document.problem, find_method(document.problem, "mine").method)


def test_the_code_of_a_third_party_s_method_is_its_distribution_and_the_whole_library(here):
    parts = code_now(read(here.instance)).split(", ")
    assert [part.rsplit(" ", 1)[0] for part in parts] == [
        f"gadgetopt {__version__}", "gadgetopt.models", "guessing 0.3",
    ]  # fmt: skip
    assert all(len(part.rsplit(" ", 1)[1]) == 16 for part in parts)


def test_prose_caches_and_stores_are_no_code(here):
    document = read(here.instance)
    before, package = code_now(document), here.site / "guessing"
    for name in ("README.md", "runs.sqlite", "runs.sqlite-wal", ".hidden", "report.html"):
        (package / name).write_text("x")
    (package / "__pycache__").mkdir(exist_ok=True)
    (package / "__pycache__" / "new.pyc").write_bytes(b"x")
    assert code_now(document) == before
    (package / "weights.npz").write_bytes(b"x")
    assert code_now(document) != before


def test_a_process_that_loaded_other_code_is_replaced(here):
    document = read(here.instance)
    first = supervisor.supervise(work(document, code_now(document)), document_text(document))
    pid = supervisor._threads.process.popen.pid
    here.write(20)
    now = code_now(document)
    second = supervisor.supervise(work(document, now), document_text(document))
    assert [row["objective"] for row in (first, second)] == ["1", "20"]
    assert second["code"] == now
    assert supervisor._threads.process.popen.pid != pid
    supervisor._threads.process.stop()
    del supervisor._threads.process


def test_a_worker_of_other_code_is_an_error_and_makes_no_row(here):
    from gadgetopt.runs.engine.client import Engine

    document = read(here.instance)
    with pytest.raises(OtherCode) as refused:
        supervisor.supervise(
            work(document, f"gadgetopt {__version__} elsewhere"), document_text(document)
        )
    assert refused.value.here == code_now(document)
    assert f"the source code has changed: now gadgetopt {__version__} " in str(refused.value)
    engine = Engine("s", "tcp://elsewhere", 1)
    failed = type("Future", (), {"status": "error"})()
    job = (work(document, f"gadgetopt {__version__} elsewhere"), document)
    with pytest.raises(InputError, match="--scheduler: tcp://elsewhere: its workers run other"):
        engine._outcomes(failed, (OtherCode, refused.value, None), [job])


def test_a_process_that_has_the_code_of_before_in_memory_does_not_run_it_as_new(here):
    document = read(here.instance)
    assert run_here(work(document, code_now(document)), document)["objective"] == "1"
    here.write(20)
    with pytest.raises(OtherCode):
        run_here(work(document, code_now(document)), document)


# -- the library -----------------------------------------------------------------------------------


@pytest.fixture
def copy(root, tmp_path, monkeypatch):
    """A copy of the library that may be changed."""
    for folder in ("gadgetopt", "models"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(root / folder, tmp_path / folder, ignore=ignored)
    places = {source_code.LIBRARY: tmp_path / "gadgetopt", source_code.MODELS: tmp_path / "models"}
    monkeypatch.setattr(
        source_code, "_place", lambda p: places.get(p, tmp_path / "models" / p.split(".")[-1])
    )
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("models/smd/evaluate.py", {"smd"}),
        ("models/sjf_bco/formulations/schedules.py", {"sjf_bco"}),
        ("gadgetopt/trust/run.py", {"smd", "sjf_bco"}),
        ("gadgetopt/solvers/highs.py", {"smd", "sjf_bco"}),
        ("gadgetopt/cli/main.py", set()),
        ("gadgetopt/reporting/html_report/page.py", set()),
        ("models/smd/README.md", set()),
    ],
)
def test_a_change_in_the_toolkit_or_in_its_own_folder_runs_a_system_again(copy, changed, again):
    def codes():
        source = SourceCode()
        return {
            s: {source.of(problem(s), m) for m in problem(s).methods} for s in ("smd", "sjf_bco")
        }

    before = codes()
    assert all(len(of_methods) == 1 for of_methods in before.values())
    with (copy / changed).open("a") as file:
        file.write("# changed\n")
    after = codes()
    assert {system for system in before if before[system] != after[system]} == again


def test_no_run_passes_through_what_is_not_counted_as_code():
    code = (
        "import sys, gadgetopt.runs.engine.supervisor, gadgetopt.runs.engine.solver_process\n"
        "from gadgetopt.runs.engine import finish\n"
        "from gadgetopt.system.methods import methods\n"
        "from gadgetopt.system.registry import problems\n"
        "from gadgetopt.trust.run import warm_up\n"
        "for problem in problems():\n"
        "    for method in methods(problem):\n"
        "        warm_up(problem, method)\n"
        "skipped = ('gadgetopt.cli', 'gadgetopt.reporting.html_report')\n"
        "print([module for module in sys.modules if module.startswith(skipped)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_function_of_a_notebook_or_of_a_module_of_no_distribution_has_a_name(
    tmp_path, monkeypatch
):
    (tmp_path / "scratch_of_mine.py").write_text("def method(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import scratch_of_mine

    partial = functools.partial(functools.partial(scratch_of_mine.method))
    assert module_of(partial) == "scratch_of_mine"
    told = source_code._distributions({"scratch_of_mine"})
    assert told == [("scratch_of_mine", "of no version", ["scratch_of_mine"])]
    assert source_code._digest("module_of_no_file") == "of no source"
