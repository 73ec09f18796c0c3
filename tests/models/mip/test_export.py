"""`export` of an instance of `mip` keeps its names, its digits, and with them its fingerprint."""

import pytest

import gadgetopt
from gadgetopt.cli.main import main
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.model import lines
from gadgetopt.solvers.formulations.building import compiled
from gadgetopt.system.methods import find_formulation

MPS = """NAME dosing
OBJSENSE
    MAX
ROWS
 N cost
 G need
 L room
COLUMNS
 M1 'MARKER' 'INTORG'
 x_1 cost 1 need 0.1
 x_1 room 1
 M2 'MARKER' 'INTEND'
 y.a cost -0.25 need 1.00000000000000000001
RHS
 rhs need 1.5 room 4
 rhs cost 7
BOUNDS
 UP bnd x_1 3
ENDATA
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "dosing.mps"
    path.write_text(MPS, encoding="ascii")
    return path


def run(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in arguments])
    return stopped.value.code


@pytest.mark.parametrize("form", ["mps", "lp", "nl"])
def test_an_exported_model_is_the_same_instance(form, source, tmp_path):
    out = gadgetopt.export(source, "model", tmp_path / "out" / f"again.{form}")
    assert gadgetopt.read(out).fingerprint == gadgetopt.read(source).fingerprint


def test_the_exact_text_is_that_which_proofs_are_about(source, tmp_path):
    out = gadgetopt.export(source, "model", tmp_path / "model.exact")
    document = gadgetopt.read(source)
    form = compiled(find_formulation(document.problem, "model"), document.data)
    assert out.read_text(encoding="ascii").splitlines() == list(lines(exact_model(form)))


def test_the_command_says_which_names_a_format_does_not_hold(source, tmp_path, capsys):
    source.write_text(MPS.replace("x_1", "x[1]").replace("y.a", "free"), encoding="ascii")
    out = tmp_path / "out.lp"
    assert run("export", source, "--formulation", "model", "--format", "lp", "--out", out) == 0
    said = capsys.readouterr()
    assert said.out == f"{out}\n"
    assert said.err.splitlines() == [
        "gadgetopt: column 'x[1]': has the name x(1)",
        "gadgetopt: column 'free': has the name c1",
    ]
    assert out.read_text(encoding="ascii").startswith("\\ column 'x[1]': has the name x(1)\n")
    assert gadgetopt.read(out).data.columns == ("x(1)", "c1")


@pytest.mark.parametrize("form", ["mps", "lp", "nl"])
def test_a_solution_of_the_exported_model_is_decoded(form, source, tmp_path):
    source.write_text(MPS.replace("x_1", "x[1]").replace("y.a", "free"), encoding="ascii")
    out = gadgetopt.export(source, "model", tmp_path / f"out.{form}")
    x, y = sorted(gadgetopt.read(out).data.columns, reverse=True)  # x before free or c1
    solution = tmp_path / "out.sol"
    solution.write_text(f"{x} 3\n{y} 1.25\n", encoding="ascii")
    assert run("decode", source, solution, "--formulation", "model") == 0
