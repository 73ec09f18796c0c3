"""Parts that others add to a system, by decorator or by another distribution."""

import os
import subprocess
import sys

import pytest
from toy import TOY

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.system.declaration import Guarantee, Method, Origin, Picture
from gadgetopt.system.declaring import method
from gadgetopt.system.extension import Extension, as_method, extensions_in, joined
from gadgetopt.system.methods import find_method, knows, methods, select
from gadgetopt.system.result import Limits, MethodOutcome


def mine(instance, limits, rng, *, again=2):
    """Say nothing.

    And more of it.
    """


def test_a_function_is_a_method_by_its_name_its_docstring_and_its_arguments():
    system, declared = as_method(method("toy", kind="baseline", reference="folklore")(mine))
    assert (system, declared.name, declared.kind) == ("toy", "mine", "baseline")
    assert (declared.summary, declared.reference) == ("Say nothing", "folklore")
    assert declared.parameters == {"again": 2}
    assert declared.stochastic
    assert not as_method(lambda_named("plain", lambda instance, limits: None))[1].stochastic


def lambda_named(name, function):
    return method("toy", name)(function)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (lambda instance: instance, "i"),
        (lambda instance, limits: (instance, limits), ("i", "l")),
        (lambda instance, rng: (instance, rng), ("i", "r")),
        (lambda instance, _limits, _rng: (instance, _limits, _rng), ("i", "l", "r")),
        (lambda instance, *, again=1: (instance, again), ("i", 5)),
    ],
)
def test_a_function_is_given_what_it_takes(function, given):
    declared = as_method(lambda_named("f", function))[1]
    parameters = dict.fromkeys(declared.parameters, 5)
    assert declared.run("i", "l", "r", **parameters) == given


@pytest.mark.parametrize(
    ("declare", "said"),
    [
        (lambda: as_method(lambda instance: None), "has no name"),
        (lambda: method("toy")(lambda instance: None), "has no name"),
        (lambda: lambda_named("f", lambda: None), "takes nothing, expected the instance"),
        (lambda: lambda_named("f", lambda instance, more: None), "needs 'more'"),
        (lambda: lambda_named("a:b", mine), "method 'a:b': expected a name of letters"),
        (lambda: lambda_named("default", mine), "method 'default': expected a name"),
        (lambda: method("toy", kind="foo")(mine), "kind: 'foo', expected one of 'exact'"),
        (lambda: as_method(3), "method 3: expected a name or a function"),
        (lambda: Extension("toy", methods=(mine,)), "methods[0]: a function, expected a Method"),
        (lambda: Extension("toy", methods=[]), "methods: [], expected a tuple"),
        (lambda: extensions_in(3), "is of type int, expected Extension"),
        (lambda: extensions_in(()), "declares nothing"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(declare, said):
    with pytest.raises(InputError) as refused:
        declare()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def placed(**parts):
    return Extension("toy", **parts).placed(Origin("mine.py", "mine.py 0"))


OWN = Method("own", kind="heuristic", summary="-", reference="-", run=mine)
FORMULATION = TOY.formulations[0]


def guarantee(name, *of):
    return Guarantee(
        name, statement="2", reference="-", standing="proven", methods=of, ratio=lambda i, p: 2
    )


def test_parts_of_every_room_are_added_with_their_origin():
    from dataclasses import replace

    picture = Picture("own_picture", summary="-", draw=print)
    whole, left_out = joined(
        TOY,
        placed(
            methods=(OWN,), formulations=(replace(FORMULATION, name="new"),), pictures=(picture,),
            guarantees=(guarantee("three", "own"), guarantee("four", "best", "own")),
        ),
    )  # fmt: skip
    assert left_out == []
    assert {"own", "new@highs", "new@cpsat"} <= {m.name for m in methods(whole)}
    assert [g.name for g in whole.guarantees][-2:] == ["three", "four"]
    assert whole.pictures[-1].origin == Origin("mine.py", "mine.py 0")
    assert TOY.pictures == ()
    call = find_method(whole, "own")
    assert call.label == "own (mine.py)"
    assert find_method(whole, call.label) == call
    assert find_method(whole, "new@highs").label == "new@highs (mine.py)"
    assert knows(whole, "own (mine.py)")
    assert not knows(whole, "own (other.py)")
    assert not knows(whole, "best (mine.py)")


def test_what_the_system_has_stays():
    taken = Method("best", kind="heuristic", summary="-", reference="-", run=mine)
    whole, left_out = joined(
        TOY,
        placed(methods=(taken,), formulations=(FORMULATION,), guarantees=(guarantee("g", "gone"),)),
    )
    assert whole == TOY
    assert left_out == [
        "formulation 'plain': toy has one of that name",
        "method 'best': toy has one of that name",
        "guarantee 'g': it is about 'gone', and toy has no method of that name",
    ]


def test_default_stands_for_the_main_comparison():
    from dataclasses import replace

    toy = replace(TOY, default_methods=("best", "empty"))
    assert [c.label for c in select(toy, ["default", "nothing", "best"])] == [
        "best", "empty", "nothing",
    ]  # fmt: skip


def test_a_solution_or_none_is_an_outcome(root):
    instance = gadgetopt.read(root / "instances" / "quickstart" / "sjf_bco.json")

    def nothing(instance):
        return None

    def repeats(instance, limits, rng):
        return found.solution

    def outcome(instance, limits, rng):
        return MethodOutcome(solution=found.solution, claimed_objective=found.objective)

    def prose(instance):
        return "prose"

    found = gadgetopt.solve(instance, "first_fit")
    for function in (repeats, outcome):
        again = gadgetopt.solve(instance, function, Limits(time_s=5.0))
        assert (again.objective, again.status) == (found.objective, "feasible")
    assert gadgetopt.solve(instance, nothing).status == "no_solution"
    reason = gadgetopt.solve(instance, prose).reason
    assert reason == "returned str, expected a Solution, None or a MethodOutcome"
    with pytest.raises(InputError, match="method 'mine': is of smd, expected sjf_bco"):
        gadgetopt.solve(instance, method("smd")(mine))


# -- distributions ---------------------------------------------------------------------------------

GOOD = """
import gadgetopt
from gadgetopt.system.declaration import Generator, Guarantee, Importer, Picture

@gadgetopt.method("knapsack", kind="baseline")
def nothing_packed(instance):
    "Pack nothing."
    return gadgetopt.problem("knapsack").solution_type(chosen=(None,) * len(instance.groups))

EXTENSION = gadgetopt.Extension(
    "knapsack",
    guarantees=(
        Guarantee("mine", statement="7", reference="-", standing="claimed",
                  methods=("nothing_packed", "greedy"), ratio=lambda i, p: 7),
    ),
)
"""


@pytest.fixture
def installed(tmp_path):
    """Install distributions with extensions, and return a function that runs a command."""

    def install(distribution, code, value, entry="an_entry"):
        info = tmp_path / f"{distribution}-1.0.dist-info"
        info.mkdir()
        module = f"{distribution}_pkg"
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        )
        (info / "entry_points.txt").write_text(
            f"[gadgetopt.extensions]\n{entry} = {module}{value}\n"
        )
        (tmp_path / f"{module}.py").write_text(code)

    def run(*arguments):
        path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
        return subprocess.run(
            [sys.executable, "-m", "gadgetopt", *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True, text=True, check=False, cwd=tmp_path,
        )  # fmt: skip

    return install, run


def test_another_package_adds_a_method_and_a_theorem_about_ours(installed, root):
    install, run = installed
    install("packer", GOOD, "")  # a module: its functions and its EXTENSION
    instance = root / "instances" / "quickstart" / "knapsack.json"
    done = run(
        "compare", instance, "--methods", "greedy,nothing_packed", "--store", "s", "--workers", 1
    )
    assert done.returncode == 0, done.stderr
    assert "nothing_packed (packer)" in done.stdout
    told = run("ratios", "s", "--theorems", "--format", "csv")
    assert [line for line in told.stdout.splitlines() if "greedy" in line and ",mine," in line]
    assert [line for line in told.stdout.splitlines() if "nothing_packed (packer)" in line]


def test_broken_and_clashing_extensions_are_a_line_that_names_their_distribution(installed):
    install, run = installed
    install("aard", GOOD, "")
    install("broken", "1 / 0\n", ":EXTENSION")
    clash = "@gadgetopt.method('knapsack')\ndef {}(instance):\n    return None\n"
    install("clash", "import gadgetopt\n" + clash.format("greedy"), "")
    install("lost", "import gadgetopt\nEXTENSION = gadgetopt.Extension('nosuch')\n", ":EXTENSION")
    install("three", "EXTENSION = 3\n", ":EXTENSION")
    install("twice", "import gadgetopt\n" + clash.format("nothing_packed"), "")
    done = run("list", "knapsack", "--all")
    assert done.returncode == 0
    assert done.stdout.count("nothing_packed") == 2  # the method and its theorem
    said = done.stderr.splitlines()
    assert len(said) == 5, said
    for expected in (
        "skipped: extension 'an_entry' of broken: broken_pkg:EXTENSION: ZeroDivisionError",
        "skipped: extension 'an_entry' of lost: lost_pkg:EXTENSION: problem: 'nosuch' is not",
        "skipped: extension 'an_entry' of three: three_pkg:EXTENSION: is of type int",
        "left out of clash: knapsack: method 'greedy': knapsack has one of that name",
        "left out of twice: knapsack: method 'nothing_packed': aard has one of that name",
    ):
        assert sum(expected in line for line in said) == 1, expected
