"""Parts read from a folder's files without importing them."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import PARTS
from gadgetopt.system.declaring import declarations, described
from gadgetopt.system.references import Adapted, resolved
from gadgetopt.system.registry import problems
from gadgetopt.system.rooms import ROOMS, parts_of
from gadgetopt.system.sources import source


def plain(value):
    """Return a part with the functions that its references stand for."""
    if isinstance(value, Adapted):
        return resolved(value), dict(value.takes)
    if is_dataclass(value) and not callable(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value) if f.name != "room"}
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return resolved(value)


def imported(package):
    """Return the parts that stand above the functions of a package, by importing all of it."""
    found = []
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        names = vars(importlib.import_module(module.name))
        functions = {id(f): f for f in names.values() if declarations(f)}
        found += [
            declared.part(described(f, declared.kind))
            for f in functions.values()
            if f.__module__ == module.name
            for declared in declarations(f)
        ]
    return found


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_what_is_read_is_what_an_import_gives(problem):
    read = [part for kind in PARTS for part in getattr(problem, kind)]
    there = imported(importlib.import_module(problem.package))
    assert len(read) == len(there) > 10
    for part in read:
        assert plain(part) in [plain(p) for p in there if type(p) is type(part)], part.name


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_functions_and_types_are_those_of_an_import(problem):
    package = problem.package
    evaluate = importlib.import_module(f"{package}.evaluate").evaluate
    size = importlib.import_module(f"{package}.instance").size
    features = importlib.import_module(f"{package}.features").features
    assert resolved(problem.evaluate) is evaluate
    assert resolved(problem.size) is size
    assert resolved(problem.features) is features
    typed = [(evaluate, (problem.instance_type, problem.solution_type))]
    if problem.check_bound is not None:
        check = resolved(problem.check_bound)
        assert check.__module__.startswith(f"{package}.proving.certificate")
        typed.append((check, (problem.instance_type, problem.certificate_type)))
    for function, types in typed:
        arguments = list(inspect.signature(function).parameters.values())
        assert [str(a.annotation) for a in arguments] == [t.target.partition(":")[2] for t in types]
        for argument, kind in zip(arguments, types, strict=True):
            assert function.__globals__.get(argument.annotation, resolved(kind)) is resolved(kind)


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_a_method_is_in_the_room_that_declares_it_and_rooms_are_in_order(problem):
    rooms = [method.room for method in problem.methods]
    for method in problem.methods:
        room = f"{problem.package}.{method.room.replace('/', '.')}."
        assert resolved(method.run).__module__.startswith(room), method.name
    places = [[ROOMS.index(name) for name in room.split("/")] for room in rooms]
    assert places == sorted(places)


def test_declaring_all_systems_imports_nothing_heavy():
    heavy = ("numpy", "pydantic", "pandas", "plotly", "pyomo", "highspy", "ortools", "networkx")
    code = (
        "import sys\n"
        "from gadgetopt.system.registry import problems\n"
        "read = sum(len(p.methods) + callable(p.evaluate) for p in problems())\n"
        f"print(read, *[name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = sum(len(p.methods) + 1 for p in problems())
    assert done.stdout.split() == [str(expected)]


# -- folders of a test -----------------------------------------------------------------------------

NUMBERS = """
from typing import Literal

STEPS = 2**3
SHARES = (0.5, *(1, 2))
Rule = Literal["first", "last"]
LONG = {"a": 1, **{"b": -2}}
"""

GREEDY = '''
"""Greedy methods."""
from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from gadgetopt.system.declaring import (
    formulation, generator, guarantee, importer, method, picture, statement, trainer,
)

from ..numbers import LONG, SHARES, STEPS, Rule
from .. import numbers

ERROR = Fraction(1, 2**42)


@method(kind="approximation", reference="Graham 1969")
def lpt(instance):
    """Longest first.

    And more of it.
    """


@method(name="own", kind="heuristic", formulation="f", backend="highs", files=("policy",))
@method(summary="twice")
def searched(
    instance, _limits, rng, *, steps=STEPS, rule: Rule = "last", policy: str = "",
    ending: Literal["now", "later"] | numbers.Rule = "now", shares=SHARES, most: float = 1e3 * 2,
):
    """Tries again."""


@formulation(
    name="f", model_class="ILP", strength="exact", equations="(1)", backends=("highs",),
    objective_error=ERROR,
)
def build(instance):
    """All of it."""


def decode(model, instance):
    return "decoded"


@formulation(
    name="lp", model_class="LP", strength="relaxation", equations="(1)", backends=("highs",)
)
def build_relaxation(instance):
    """Its relaxation."""


class Options(BaseModel):
    count: int = 1


class TraceOptions(Options):
    share: float = Field(default=0.5, ge=0)
    most: float = float(STEPS)


@importer(name="a-trace", options=TraceOptions, help={"count": "how many"})
def trace(files, rng, **options):
    """A trace."""


@generator()
def paper(rng, *, jobs: int = 5):
    """The paper's jobs."""


def holds(instance, parameters):
    return True


@guarantee(
    name="Theorem 1", statement="twice", reference="T", standing="claimed", methods=("lpt",),
    assumptions={"it holds": holds},
)
def ratio(instance, parameters):
    return 2


@picture(of="instance")
def jobs(instance):
    """The jobs."""


@statement(
    name="claim", source="p. 1", statement="so"
)
def check(counterexample):
    """A counterexample."""


@trainer(methods=("own",), presets={"small": {}, "large": {"rounds": 9}})
def learn(seed, *, rounds: int = 2):
    """Learns."""
'''

SYSTEM = """
from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    name="readable", title="-", citation=Citation("-", "-", "-", 2000), sense="min",
    objective="cost", package=__name__,
)
"""

INSTANCE = """
from __future__ import annotations

Cost = int
class Given: ...
class Kept: ...

def size(instance: Given): ...
"""

EVALUATE = """
from __future__ import annotations

from typing import TYPE_CHECKING

from .instance import Given

if TYPE_CHECKING:
    from .instance import Kept as Solution

def evaluate(instance: Given, solution: Solution): ...
"""

FOLDERS = iter(range(10**6))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Write a system of the given files; return the name of its package."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(files):
        name = f"readable_{next(FOLDERS)}"
        given = {"__init__": SYSTEM, "numbers": NUMBERS, "instance": INSTANCE, "evaluate": EVALUATE}
        for path, text in {**given, **files}.items():
            file = tmp_path / name / f"{path}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            if not (file.parent / "__init__.py").exists():
                (file.parent / "__init__.py").write_text("")
            file.write_text(text)
        importlib.invalidate_caches()
        return name

    return write


def test_every_part_takes_from_its_function_what_it_does_not_say(folder):
    name = folder({"algorithms/greedy": GREEDY})
    problem = importlib.import_module(name).PROBLEM
    assert f"{name}.algorithms" not in sys.modules
    lpt, own, twice = problem.methods
    assert f"{name}.algorithms" not in sys.modules
    assert (lpt.name, lpt.kind, lpt.summary) == ("lpt", "approximation", "Longest first")
    assert (lpt.reference, lpt.stochastic, lpt.room) == ("Graham 1969", False, "algorithms")
    assert own.stochastic
    assert own.run.takes == {"limits": "_limits", "rng": "rng"}
    assert own.parameters == {
        "steps": 8, "rule": "last", "policy": "", "ending": "now", "shares": (0.5, 1, 2),
        "most": 2000.0,
    }  # fmt: skip
    assert own.choices == {"rule": ("first", "last"), "ending": ("now", "later", "first", "last")}
    assert (own.formulation, own.backend, own.files) == ("f", "highs", ("policy",))
    assert (twice.name, twice.summary, twice.parameters) == ("searched", "twice", own.parameters)
    full, relaxed = problem.formulations
    assert full.objective_error == Fraction(1, 2**42)
    assert full.decode(None, None) == "decoded"
    assert relaxed.decode is None
    (read,) = problem.importers
    assert (read.format, read.help) == ("a-trace", {"count": "how many"})
    assert read.parameters == {"count": 1, "share": 0.5, "most": 8.0}
    assert problem.generators[0].parameters == {"jobs": 5}
    (theorem,) = problem.guarantees
    assert theorem.assumptions[0].text == "it holds"
    assert theorem.assumptions[0].holds(None, {})
    assert (problem.pictures[0].name, problem.pictures[0].of) == ("jobs", "instance")
    assert problem.statements[0].counterexample
    assert problem.trainers[0].presets == {"small": {}, "large": {"rounds": 9}}
    there = imported(importlib.import_module(name))
    for kind in PARTS:
        for part in getattr(problem, kind):
            assert plain(part) in [plain(p) for p in there if type(p) is type(part)]


USUAL = '''
from gadgetopt.system.declaring import formulation, picture, statement


@formulation(model_class="LP", equations="(1)")
def build(instance):
    """The model."""


def decode(model, instance):
    """Its solution."""


@picture()
def draw(instance, solution):
    """The loads."""


@statement(source="p. 1", statement="so")
def lemma_1():
    """By arithmetic."""


@statement(source="p. 2", statement="not so", grade="dimensions")
def lemma_2(counterexample):
    """A counterexample."""
'''


def test_what_is_usual_is_not_said(folder):
    """Names of a usual function are its file's; a statement holds unless it is graded."""
    name = folder({"formulations/flow": USUAL})
    problem = importlib.import_module(name).PROBLEM
    (model,) = problem.formulations
    assert (model.name, model.strength, model.backends) == ("flow", "exact", ("highs",))
    assert [drawn.name for drawn in problem.pictures] == ["flow"]
    first, second = problem.statements
    assert (first.name, first.verdict, first.counterexample) == ("lemma-1", "holds", False)
    assert (second.name, second.verdict, second.counterexample) == ("lemma-2", "refuted", True)
    there = imported(importlib.import_module(name))
    for part in (model, first, second, *problem.pictures):
        assert plain(part) in [plain(p) for p in there if type(p) is type(part)]


def test_functions_and_types_are_read_from_files_of_known_names(folder):
    check = "from ..instance import *\ndef check_bound(instance, certificate: Cost): ...\n"
    check = check.replace("import *", "import Cost")
    name = folder({"proving/certificate": check, "features": "def features(instance): ..."})
    problem = importlib.import_module(name).PROBLEM
    kinds = (problem.instance_type, problem.solution_type, problem.certificate_type)
    assert f"{name}.instance" not in sys.modules
    assert [str(kind) for kind in kinds] == [
        f"{name}.instance:Given", f"{name}.instance:Kept", f"{name}.instance:Cost",
    ]  # fmt: skip
    assert problem.size(None) is problem.features(None) is problem.check_bound(None, None) is None


def test_a_system_may_have_no_features_and_no_certificates(folder):
    problem = importlib.import_module(folder({})).PROBLEM
    assert problem.features is problem.certificate_type is problem.check_bound is None


def test_what_is_given_is_not_looked_for(folder):
    given = SYSTEM.replace("package=", "evaluate=len, features=None, package=")
    problem = importlib.import_module(folder({"__init__": given, "evaluate": EVALUATE})).PROBLEM
    assert problem.evaluate is len
    assert problem.features is None
    assert replace(problem, title="another").evaluate is len


def test_a_system_of_one_file_has_all_of_it_there(folder):
    one = SYSTEM + INSTANCE.replace("from __future__ import annotations", "")
    one += "def evaluate(instance: Given, solution: Kept): ...\n" + METHODS.format("a", "b")
    name = folder({"__init__": one})
    for path in ("instance", "evaluate"):
        Path(importlib.import_module(name).__file__).with_name(f"{path}.py").unlink()
    problem = importlib.import_module(name).PROBLEM
    assert str(problem.instance_type).endswith(f"{name}:Given")
    assert [(m.name, m.room) for m in problem.methods] == [("a", ""), ("b", "")]


@pytest.mark.parametrize(
    ("evaluate", "said"),
    [
        ("", "/__init__.py: has no function 'evaluate', expected it in evaluate.py beside it"),
        ("def evaluate(instance): ...", "/evaluate.py:1: no type: expected a type at the top of a"),
        ("def evaluate(instance: Some, x: int): ...", "/evaluate.py:1: Some: expected a type at"),
        (EVALUATE.replace(", solution: Solution", ""), "/evaluate.py:11: evaluate: expected 2 arg"),
    ],
)
def test_what_is_missing_is_one_line(folder, evaluate, said):
    problem = importlib.import_module(folder({"evaluate": evaluate})).PROBLEM
    with pytest.raises(InputError) as refused:
        _ = problem.size
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


METHODS = """
from gadgetopt.system.declaring import method

@method()
def {}(instance):
    pass

@method()
def {}(instance):
    pass
"""


def test_the_paper_comes_first_then_files_by_name_or_as_the_folders_docstring_names_them(folder):
    name = folder(
        {
            "proving/exact": METHODS.format("f", "e"),
            "heuristics/z": METHODS.format("d", "c"),
            "baselines/b": METHODS.format("x", "a"),
            "baselines/a": METHODS.format("y", "b"),
            "algorithms/b": METHODS.format("k", "l"),
            "algorithms/a": METHODS.format("m", "n"),
            "algorithms/__init__": 'r"""In the order of the paper.\n\n- `b`, of `limits`\n"""\n',
        }
    )
    methods = parts_of(name)["methods"]
    assert "".join(m.name for m in methods) == "klmnybxadcfe"
    assert [m.room for m in methods[::2]] == [
        "algorithms", "algorithms", "baselines", "baselines", "heuristics", "proving",
    ]  # fmt: skip


def test_a_name_that_is_taken_is_refused_when_parts_are_read(folder):
    name = folder({"a": METHODS.format("same", "same")})
    problem = importlib.import_module(name).PROBLEM
    with pytest.raises(InputError, match="methods: 'same' is declared 2 times"):
        _ = problem.methods


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@method(kind=min(KINDS))", "min(KINDS): cannot be read, expected a literal, or a name"),
        ("@method(kind=KIND)", "KIND: is not defined at the top of a file that can be read"),
        ("@method(kind='foo')\ndef g(instance): ...\n\n", "kind: 'foo', expected one of 'exact'"),
        ("@method(sort='exact')", "unexpected keyword argument 'sort'"),
        (
            "@method(name='a:b')\ndef g(instance): ...\n\n",
            "method 'a:b': expected a name of letters",
        ),
        ("@generator()", "generator 'f': needs 'more', expected the rng and parameters"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_file_and_line(folder, line, said):
    text = f"from gadgetopt.system.declaring import *\n\n\n{line}\ndef f(instance, more): ...\n"
    name = folder({"wrong": text})
    with pytest.raises(InputError) as refused:
        parts_of(name)
    message = str(refused.value)
    assert f"{name}/wrong.py:4: " in message
    assert said in message
    assert "\n" not in message


def test_a_file_that_is_no_python_is_one_line(folder):
    name = folder({"wrong": "@method()\ndef f(instance:\n"})
    with pytest.raises(InputError, match=rf"{name}/wrong.py:2: .*never closed$"):
        parts_of(name)


def test_a_problem_with_parts_of_its_own_reads_none(folder):
    problem = importlib.import_module(folder({"a": METHODS.format("a", "b")})).PROBLEM
    fewer = replace(problem, methods=problem.methods[:1])
    assert [m.name for m in fewer.methods] == ["a"]
    assert replace(problem, title="another").methods == problem.methods


def test_a_package_in_a_zip_file_is_read(folder, tmp_path, monkeypatch):
    import shutil

    name = folder({"algorithms/greedy": GREEDY})
    (tmp_path / "apart").mkdir()
    shutil.move(tmp_path / name, tmp_path / "apart" / name)
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "apart")
    monkeypatch.syspath_prepend(tmp_path / "packed.zip")
    importlib.invalidate_caches()
    assert importlib.import_module(name).PROBLEM.methods[0].name == "lpt"


def test_what_the_toolkit_does_not_have_is_not_looked_for():
    assert source("gadgetopt.nowhere.nothing") is None


def test_what_is_kept_is_read_again_once_a_file_has_changed(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    elsewhere = folder({"values": "MOST = 8.0\n"})
    part = f"from {elsewhere}.values import MOST\nfrom gadgetopt.system.declaring import method\n"
    part += "\n\n@method()\ndef first(instance, *, most=MOST): ...\n"
    name = folder({"methods/first": part})

    def parameters():
        """Return the parameters of all methods, as a new process reads them."""
        code = f"import {name}\nprint({{m.name: m.parameters for m in {name}.PROBLEM.methods}})"
        run = [sys.executable, "-c", code]
        path = os.pathsep.join(map(str, sys.path))
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": ""}
        environment.pop("PYTHONPYCACHEPREFIX", None)
        done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
        return ast.literal_eval(done.stdout)

    assert parameters() == {"first": {"most": 8.0}}
    (kept,) = (tmp_path / name / "__pycache__").glob("*.parts")
    written = kept.stat().st_mtime_ns
    assert parameters() == {"first": {"most": 8.0}}
    assert kept.stat().st_mtime_ns == written
    (tmp_path / elsewhere / "values.py").write_text("MOST = 16.0\n")
    assert parameters() == {"first": {"most": 16.0}}
    (tmp_path / name / "methods" / "second.py").write_text(part.replace("first", "second"))
    assert parameters() == {"first": {"most": 16.0}, "second": {"most": 16.0}}
