"""Third parties' systems: a broken or wrongly declared one gives a line and disturbs no other."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest
from toy import TOY

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Method, Picture
from gadgetopt.system.registry import problem_names


@pytest.fixture
def installed(tmp_path):
    """Install a distribution with entry points, and return a function that runs a command."""

    def install(distribution, module, code, **systems):
        info = tmp_path / f"{distribution}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        )
        lines = "".join(f"{name} = {module}:{at}\n" for name, at in systems.items())
        (info / "entry_points.txt").write_text(f"[gadgetopt.problems]\n{lines}")
        (tmp_path / f"{module}.py").write_text(code)

    def run(*arguments):
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "gadgetopt", *arguments],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=False,
        )

    return install, run


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "AttributeError"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("PROBLEM = 3", "is of type int, expected Problem"),
    ],
)
def test_a_broken_system_is_skipped_with_a_line_that_names_its_distribution(installed, code, said):
    install, run = installed
    install("clash", "clashpkg", code, broken="PROBLEM")
    done = run("list")
    assert done.returncode == 0
    assert all(name in done.stdout for name in problem_names())
    assert len(done.stderr.splitlines()) == 1
    assert "clash" in done.stderr
    assert said in done.stderr
    named = run("list", "broken")
    assert (named.returncode, named.stdout) == (2, "")
    assert len(named.stderr.splitlines()) == 1
    assert said in named.stderr


def test_of_two_systems_of_one_name_ours_is_used_and_both_are_named(installed):
    install, run = installed
    install("clash", "clashpkg", "", knapsack="MISSING")
    done = run("list", "knapsack")
    assert done.returncode == 0
    assert "enumeration" in done.stdout
    assert done.stderr == (
        "system 'knapsack' is declared by gadgetopt and by clash; that of gadgetopt is used\n"
    )


def test_a_solve_says_once_what_is_passed_over(installed, root):
    install, run = installed
    install("clash", "clashpkg", "", knapsack="MISSING")
    done = run(
        "solve", str(root / "instances" / "quickstart" / "knapsack.json"), "--method", "greedy"
    )
    assert done.returncode == 0
    assert done.stderr.count("is declared by gadgetopt and by clash") == 1


def test_between_two_third_parties_the_first_of_the_alphabet_is_used(installed):
    install, run = installed
    install("zebra", "zebrapkg", "1 / 0", other="PROBLEM")
    install("aardvark", "aardvarkpkg", "PROBLEM = 3", other="PROBLEM")
    done = run("list", "other")
    assert "declared by aardvark and by zebra; that of aardvark is used" in done.stderr
    assert "aardvarkpkg:PROBLEM: is of type int" in done.stderr


def test_an_ill_declared_method_is_refused_at_loading_in_one_line(installed):
    install, run = installed
    method = "Method('mine', kind='foo', summary='-', reference='-', run=print)"
    code = f"from gadgetopt.system.declaration import Method\n{method}\n"
    install("clash", "clashpkg", code, mine="PROBLEM")
    done = run("list", "mine")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "Method 'mine': kind: 'foo', expected one of 'exact', 'relaxation'" in done.stderr


def formulation(**fields):
    return replace(TOY.formulations[0], **fields)


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: Method("m", kind="foo", summary="-", reference="-", run=print), "kind: 'foo'"),
        (lambda: formulation(model_class="QP"), "model_class: 'QP'"),
        (lambda: formulation(strength="loose"), "strength: 'loose'"),
        (lambda: formulation(backends="highs"), "backends: 'highs', expected a tuple"),
        (lambda: replace(TOY.guarantees[0], standing="hoped"), "standing: 'hoped'"),
        (lambda: Picture("p", summary="-", draw=print, of="method"), "of: 'method'"),
    ],
)
def test_a_part_with_a_value_that_is_not_allowed_is_refused(declare, said):
    with pytest.raises(InputError) as refused:
        declare()
    assert said in str(refused.value)


def test_two_methods_of_one_name_are_refused():
    with pytest.raises(InputError, match="methods: 'best' is declared 2 times"):
        replace(TOY, methods=(*TOY.methods, next(m for m in TOY.methods if m.name == "best")))
    with pytest.raises(InputError, match="sense: 'least', expected one of 'min', 'max'"):
        replace(TOY, sense="least")
