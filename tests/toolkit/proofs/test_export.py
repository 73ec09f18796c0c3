"""`export --format vipr`: proofs for anyone's checker."""

from __future__ import annotations

import shutil

import pytest

import gadgetopt
from gadgetopt.cli.main import main
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.files import packed
from gadgetopt.proofs.model import digest
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.vipr_files.reader import proved_by_vipr
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.data import ModelProof
from gadgetopt.system.files import Document, document_text
from gadgetopt.system.methods import find_formulation

INSTANCE = "instances/quickstart/knapsack.json"
TREE = ["tree", "b 0 0", "l 0 1", "l 0 1"]


@pytest.fixture(scope="module")
def instance() -> Document:
    return gadgetopt.read(INSTANCE)


@pytest.fixture(scope="module")
def model(instance):
    formulation = find_formulation(instance.problem, "direct")
    return exact_model(compile_model(formulation.build(instance.data)))


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code


def certificate(instance, model, path, kind="tree", lines=TREE):
    proof = ModelProof(kind=kind, formulation="direct", model=digest(model), proof=packed(lines))
    text = document_text(Document(instance.problem, "certificate", "proof", proof))
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_proof_and_its_model_are_written(instance, model, tmp_path, capsys):
    proof, out = certificate(instance, model, tmp_path / "proof.json"), tmp_path / "out.vipr"
    assert run("export", INSTANCE, "--proof", proof, "--format", "vipr", "--out", str(out)) == 0
    assert capsys.readouterr().out.split() == [str(out), str(tmp_path / "out.mps")]
    lines = out.read_text(encoding="ascii").splitlines()
    assert proved_by_vipr(model, lines) == proved(model, TREE)
    assert (tmp_path / "out.mps").read_text(encoding="ascii").endswith("ENDATA\n")


def test_the_model_beside_a_proof_is_not_written_over_the_instance(tmp_path, capsys):
    own = tmp_path / "cover.lp"
    shutil.copy("instances/mip/tiny/cover.lp", own)
    model, proof = tmp_path / "k.mps", tmp_path / "proof.json"
    run("export", str(own), "--formulation", "model", "--format", "mps", "--out", str(model))
    before = model.read_bytes()
    run("solve", str(model), "--certify", "10", "--certificate", str(proof))
    capsys.readouterr()
    out = tmp_path / "k.vipr"
    asked = ["export", str(model), "--proof", str(proof), "--format", "vipr"]
    assert run(*asked, "--out", str(out)) == 0
    assert capsys.readouterr().out.split() == [str(out), str(tmp_path / "k.exact.mps")]
    assert model.read_bytes() == before
    assert run(*asked, "--out", str(model)) == 2
    assert "is the file that is read" in capsys.readouterr().err
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "vipr"], "--format: vipr needs --proof"),
        (["--format", "mps", "--proof", "p"], "--format: vipr needs --proof"),
        (["--format", "mps"], "--formulation: is missing"),
    ],
)
def test_options_that_do_not_fit_are_refused(arguments, said, capsys):
    assert run("export", INSTANCE, *arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "lines", "said"),
    [("pseudo_boolean", ["cutoff -"], "has no VIPR form"), ("tree", ["tree"], "data.proof: ")],
)
def test_a_certificate_that_is_no_tree_proof_is_refused(
    instance, model, tmp_path, capsys, kind, lines, said
):
    proof = certificate(instance, model, tmp_path / "proof.json", kind, lines)
    assert run("export", INSTANCE, "--proof", proof, "--format", "vipr") == 2
    assert said in capsys.readouterr().err
