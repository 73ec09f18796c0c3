"""`generate`, `import_` and `export` make what the commands of these names make."""

import contextlib
import signal
from functools import partial

import numpy as np
import pytest

import gadgetopt
from gadgetopt import InputError
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.files import read_instance
from gadgetopt.system.result import Status


def test_generate_makes_what_the_command_writes(cli, tmp_path):
    made = gadgetopt.generate("sjf_bco", "paper", count=2, seed=3, jobs=6)
    assert cli(
        "generate", "sjf_bco", "--preset", "paper", "--count", 2, "--seed", 3, "--set", "jobs=6",
        "--out", tmp_path,
    )[0] == 0  # fmt: skip
    written = [read_instance(path) for path in sorted(tmp_path.iterdir())]
    assert [d.fingerprint for d in made] == [d.fingerprint for d in written]
    assert [d.name for d in made] == [d.name for d in written]
    assert [dict(d.origin) for d in made] == [dict(d.origin) for d in written]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"preset": "nope"}, "preset: 'nope', expected one of quickstart"),
        ({"preset": "paper", "jbos": 3}, "preset paper: no parameter 'jbos' (it has: servers"),
        ({"preset": "paper", "jobs": "x"}, "jobs: 'x' is not of the type of its default"),
        ({"count": 0}, "count: 0 is not a positive integer"),
        ({"seed": -1}, "seed: -1 is not a non-negative integer"),
    ],
)
def test_what_generate_cannot_use_is_one_line(given, line):
    with pytest.raises(InputError) as raised:
        gadgetopt.generate("sjf_bco", **given)
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_import_makes_what_the_command_writes(cli, tmp_path):
    source = tmp_path / "mknap.txt"
    source.write_text("1\n3 2 10\n5 4 3\n2 3 1\n4 1 2\n5 4\n")
    formats = {i.format for i in gadgetopt.problem("knapsack").importers}
    form = next(f for f in sorted(formats) if "or" in f or "mknap" in f)
    made = gadgetopt.import_(form, source, "knapsack")
    out = tmp_path / "out"
    assert cli("import", form, source, "--system", "knapsack", "--out", out)[0] == 0
    written = [read_instance(path) for path in sorted(out.iterdir())]
    assert [d.fingerprint for d in made] == [d.fingerprint for d in written]
    assert isinstance(made.report, dict)


def test_an_unknown_format_names_all():
    with pytest.raises(InputError, match=r"'nope', expected one of .*philly"):
        gadgetopt.import_("nope", "x")


def test_export_writes_the_model(tiny, tmp_path):
    instance = gadgetopt.read(tiny / "e2_contention_pays.json")
    path = gadgetopt.export(instance, "time_indexed", tmp_path / "model.lp")
    assert path == tmp_path / "model.lp"
    assert "end" in path.read_text().splitlines()[-1]


def test_export_says_which_formats_there_are(tiny, tmp_path):
    with pytest.raises(InputError, match=r"format: 'txt', expected one of mps, lp, nl, cpsat"):
        gadgetopt.export(tiny / "e1_co_locate.json", "time_indexed", tmp_path / "model.txt")
    with pytest.raises(InputError, match="has no such formulation"):
        gadgetopt.export(tiny / "e1_co_locate.json", "nope", tmp_path / "model.lp")


@pytest.mark.parametrize("values", [[4, 8], (4, 8), range(4, 9, 4), np.array([4, 8])])
def test_a_list_sweeps_as_on_the_command_line(values, cli, tmp_path):
    made = gadgetopt.generate("sjf_bco", "mini_paper", count=2, jobs=values)
    assert cli(
        "generate", "sjf_bco", "--preset", "mini_paper", "--count", 2, "--set", "jobs=[4,8]",
        "--out", tmp_path,
    )[0] == 0  # fmt: skip
    assert {d.name for d in made} == {path.stem for path in tmp_path.iterdir()}
    assert len(made) == 4
    table = gadgetopt.compare(made, "first_fit", workers=0)
    assert sorted(table.frame.param_jobs) == [4, 4, 8, 8]


@pytest.mark.parametrize("call", ["show", "export", "formulations", "solved", "relaxed"])
def test_ctrl_c_ends_what_builds_or_solves_models_here(call, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)

    def stopped(*_, **__):
        with contextlib.suppress(KeyboardInterrupt):
            interrupted()
        return SolverOutcome(Status.NO_SOLUTION, limit_hit="interrupted")

    file = tmp_path / "model.mps"
    if call == "relaxed":
        monkeypatch.setattr("gadgetopt.solvers.highs.solve_form", stopped)
    elif call == "solved":
        monkeypatch.setattr("gadgetopt.solvers.formulations.method.solve_model", stopped)
    else:
        monkeypatch.setattr("gadgetopt.solvers.formulations.building.built", interrupted)
    instance = gadgetopt.read("instances/quickstart/knapsack.json")
    calls = {
        "show": partial(gadgetopt.show, instance, "direct"),
        "export": partial(gadgetopt.export, instance, "direct", file),
    }
    measure = partial(gadgetopt.formulations, instance, ["direct"], solve=call == "solved")
    with pytest.raises(KeyboardInterrupt):
        calls.get(call, measure)()
    assert list(tmp_path.iterdir()) == []
