"""The command `check`: what proofs of others and ours show, and what it says of damaged ones."""

from __future__ import annotations

import gzip
import itertools
import json
import os
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from gadgetopt.cli.commands import app
from gadgetopt.proofs.checker.sentences import plain
from gadgetopt.proofs.checker.verdict import check
from gadgetopt.proofs.files import packed
from gadgetopt.proofs.model import digest, parsed
from gadgetopt.proofs.reading.text import Unreadable
from gadgetopt.proofs.vipr_files.completion import factors

from .samples import EXACT_TEXT, LP, MPS, NL, TREE, VIPR

DRAWN = int(os.environ.get("GADGETOPT_FUZZ", "400"))
EXAMPLES = Path(__file__).parents[5] / "shared" / "data" / "mip" / "vipr"
MODELS = {"parcel.mps": MPS, "parcel.lp": LP, "parcel.txt": EXACT_TEXT, "parcel.nl": NL}


def certificate(kind: str = "tree", made_for: str | None = None) -> str:
    made_for = made_for or digest(parsed(EXACT_TEXT.splitlines()))
    return json.dumps({"data": {"kind": kind, "model": made_for, "proof": packed(TREE)}})


PROOFS = {"proof.vipr": VIPR, "tree.txt": "\n".join(TREE) + "\n", "proof.json": certificate()}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in (MODELS | PROOFS).items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *arguments], standalone_mode=False)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return 2, str(result.exception)
    return result.return_value, result.output


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("proof", PROOFS)
def test_every_kind_of_proof_about_every_kind_of_model(folder, proof, model):
    code, out = run(proof, model)
    assert code == 0
    assert f"about {model}: 3 columns (3 integer), 1 rows, max\n" in out
    assert "proved: no feasible point has an objective above 9\n" in out
    assert ("so this is the optimum" in out) == (proof == "proof.vipr")
    assert ("not checked: whether a point has this objective" in out) == (proof != "proof.vipr")
    assert "another model" not in out


def test_a_vipr_file_alone_is_about_its_own_model(folder):
    code, out = run("proof.vipr")
    assert code == 0
    assert "about the model in the file: 3 columns (3 integer), 7 rows, max" in out
    assert "not checked: whether the model in the file is the one that you mean" in out
    code, out = run("proof.vipr", "--json")
    row = json.loads(out)
    assert (row["status"], row["bound"], row["sense"], row["model"]) == (
        "optimal",
        "9",
        "max",
        None,
    )


def test_packed_files_are_read(folder):
    (folder / "proof.vipr.gz").write_bytes(gzip.compress(VIPR.encode()))
    (folder / "parcel.mps.gz").write_bytes(gzip.compress(MPS.encode()))
    assert run("proof.vipr.gz", "parcel.mps.gz")[0] == 0
    (folder / "proof.vipr.gz").write_bytes(gzip.compress(VIPR.encode())[:-9])
    assert run("proof.vipr.gz")[0] == 2


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("RTP range 9 9", "RTP range 8 8", "not proved: the file claims an optimum from 8 to 8"),
        ("RTP range 9 9", "RTP infeas", "not proved: the file claims that nothing is feasible"),
        ("RTP range 9 9", "RTP range 10 inf", "claims an optimum from 10 to infinity"),
        ("best 2 0 1 1 1", "best 2 0 1 1 2", "'best' of the file is not feasible: it violates"),
        ("good 2 0 1 2 1", "good 2 0 1 2 1/2", "it violates column 2, which is integer"),
        ("room L 5", "room L 4", "constraint 'room' is not in the model"),
        ("d2 L 9", "d2 L 8", "line 25: derivation 'd2': `uns` does not give what it says"),
        ("{ asm } -1\nd1", "{ lin incomplete 4 } -1\nd1", "`incomplete`"),
        ("uns 8 7", "uns 8 77", "is not there before it"),
        ("VER 1.0", "VER 2.0", "version '2.0' of VIPR, expected 1.0 or 1.1"),
        ("DER 5", "DER 6", "it ends too early"),
        ("DER 5", "DER 4", "without assumptions"),
        ("CON 7 6", "CON 6 6", "where VIPR has RTP"),
    ],
)
def test_what_a_file_does_not_prove_is_said(folder, old, new, said):
    assert old in VIPR
    (folder / "proof.vipr").write_text(VIPR.replace(old, new))
    code, out = run("proof.vipr", "parcel.mps")
    assert code == 1
    assert said in out


def test_a_solution_that_is_missing_leaves_a_bound(folder):
    text = VIPR.replace("SOL 2\ngood 2 0 1 2 1\nbest 2 0 1 1 1\n", "SOL 0\n")
    (folder / "proof.vipr").write_text(text.replace("RTP range 9 9", "RTP range -inf 9"))
    code, out = run("proof.vipr", "parcel.lp")
    assert code == 0
    assert "not checked: whether a point has this objective" in out


def test_columns_may_have_the_names_of_the_model_in_any_order(folder):
    turned = VIPR.replace("a b c", "c t_b a").replace("3 0 5 1 4 2 3", "3 2 5 1 4 0 3")
    turned = turned.replace("3 0 2 1 3 2 1", "3 2 2 1 3 0 1")
    for old, new in (("la", "0 2 1"), ("lc", "0 0 1"), ("ua", "1 2 1"), ("uc", "1 0 1")):
        sense = "G" if old[0] == "l" else "L"
        turned = "\n".join(
            f"{old} {sense} {new[0]} 1{new[1:]}" if line.startswith(f"{old} ") else line
            for line in turned.splitlines()
        )
    turned = turned.replace("good 2 0 1 2 1", "good 2 2 1 0 1").replace("2 0 1 1 1", "2 2 1 1 1")
    (folder / "proof.vipr").write_text(turned)
    assert run("proof.vipr", "parcel.mps")[0] == 0
    code, out = run("proof.vipr", "parcel.txt")  # which has no names
    assert code == 1
    assert "has another objective" in out


def test_a_point_and_a_ray(folder):
    (folder / "open.lp").write_text("Maximize a + b\nSubject To\n r: a - b <= 2\nEnd\n")
    (folder / "ray.txt").write_text("point 0 2\nray 0 1 1 1\n")
    code, out = run("ray.txt", "open.lp")
    assert code == 0
    assert "ray.txt: ray proof, about open.lp: 2 columns (0 integer), 1 rows, max" in out
    assert "proved: there are feasible points, and along a ray they get better without end" in out
    lines = (folder / "ray.txt").read_text().splitlines()
    (folder / "ray.json").write_text(
        json.dumps({"data": {"kind": "ray", "model": "0" * 64, "proof": packed(lines)}})
    )
    assert run("ray.json", "open.lp")[0] == 0
    for wrong in (
        "point 0 3\nray 0 1 1 1\n", "point 0 2\nray 0 1\n", "point 0 2\n",
        "point 0 2\nray 0 1 1 1\nray 0 1 1 1\n", "point 0 2\nray 0 -1 1 -1\n",
    ):  # fmt: skip
        (folder / "ray.txt").write_text(wrong)
        code, out = run("ray.txt", "open.lp")
        assert code == 1
        assert "proves nothing: " in out


def test_a_changed_tree_is_refused_and_its_line_named(folder):
    (folder / "tree.txt").write_text("\n".join([*TREE[:4], "l 0 1 0 5", TREE[-1]]) + "\n")
    code, out = run("tree.txt", "parcel.lp")
    assert code == 1
    assert "proves nothing: at line 5: a dual on a side that its row does not have" in out


def test_a_certificate_of_another_model_is_told(folder):
    (folder / "proof.json").write_text(certificate(made_for="0" * 64))
    code, out = run("proof.json", "parcel.lp")
    assert code == 0
    assert "the certificate names another model" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tree.txt",), "holds no model: name the model file"),
        (("proof.json",), "holds no model"),
        (("none.vipr",), "No such file"),
        (("parcel.mps",), "is not a proof that this program reads"),
        (("proof.vipr", "none.mps"), "No such file"),
        (("proof.vipr", "proof.json"), "proof.json: is no exact text of a model"),
        (("odd.json", "parcel.lp"), "odd.json: is no certificate with a proof about a model"),
        (("deep.json", "parcel.lp"), "deep.json: is no certificate"),
        (("other.json", "parcel.lp"), "kind 'prices', which is not read here"),
        (("proof.vipr", "odd.mps"), "odd.mps: line 3"),
        ((".",), "Is a directory"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_line(folder, arguments, said):
    (folder / "odd.json").write_text('{"data": {"kind": 3}}')
    (folder / "deep.json").write_text("{" + '"data": [' * 100_000)
    (folder / "other.json").write_text(certificate("prices"))
    (folder / "odd.mps").write_text("NAME\nROWS\n Q room\nENDATA\n")
    code, out = run(*arguments)
    assert code == 2
    assert said in out
    assert "\n" not in out.strip()


def test_numbers_are_written_exactly_and_decimals_on_the_safe_side():
    assert plain(Fraction(5681007, 10000), "min") == "568.1007"
    assert plain(Fraction(-1, 3), "min") == "-1/3, at least -0.333333334"
    assert plain(Fraction(-1, 3), "max") == "-1/3, at most -0.333333333"
    assert plain(Fraction(2, 3)) == "2/3, about 0.666666666"
    assert plain(Fraction(1, 3**100), "min") == "at least 0"
    assert "hundreds of digits" in plain(Fraction(10**400))


@pytest.mark.parametrize("with_model", [True, False])
def test_no_change_of_a_vipr_file_proves_what_is_false(folder, with_model):
    rng, accepted = Random(3), 0
    path = folder / "proof.vipr"
    for _ in range(DRAWN):
        path.write_text(changed(rng, VIPR))
        try:
            verdict = check(path, folder / "parcel.lp" if with_model else None)
        except Unreadable:
            continue
        if not verdict.proves:
            continue
        accepted += 1
        best = 9 if with_model else own_best(path.read_text())
        sign = 1 if verdict.sense == "max" else -1
        if verdict.bound is None:
            assert best is None
        elif best is not None:
            assert sign * verdict.bound >= sign * best
    assert accepted > 0


def changed(rng: Random, text: str) -> str:
    """Change a word, or leave out or repeat a line."""
    lines = text.splitlines()
    i = rng.randrange(len(lines))
    if rng.random() < 0.2:
        lines.pop(i)
    elif rng.random() < 0.1:
        lines.insert(i, rng.choice(lines))
    else:
        words = lines[i].split()
        words[rng.randrange(len(words))] = rng.choice(
            [
                "G",
                "L",
                "E",
                "OBJ",
                "min",
                "max",
                "lin",
                "rnd",
                "sol",
                "asm",
                "weak",
                "-1/2",
                "infeas",
            ]
            + [str(k) for k in range(-5, 13)]
        )
        lines[i] = " ".join(words)
    return "\n".join(lines) + "\n"


def own_best(text: str) -> Fraction | None:
    """Return the best objective of the model in a file, by trying all points near 0."""
    words = iter(text.split())
    while next(words) != "VAR":
        pass
    count = int(next(words))
    for _ in range(count):
        next(words)

    def terms(size: str) -> dict[int, Fraction]:
        if size == "OBJ":
            return objective
        return {int(next(words)): Fraction(next(words)) for _ in range(int(size))}

    assert next(words) == "INT"
    whole = {int(next(words)) for _ in range(int(next(words)))}
    assert next(words) == "OBJ"
    sense = next(words)
    objective: dict[int, Fraction] = {}
    objective = terms(next(words))
    assert next(words) == "CON"
    rows = []
    size = int(next(words))
    next(words)
    for _ in range(size):
        next(words)
        rows.append((next(words), Fraction(next(words)), terms(next(words))))
    near = [[Fraction(k, 1 if j in whole else 2) for k in range(-4, 5)] for j in range(count)]
    found = []
    for point in itertools.product(*near):
        values = [(s, sum(a * point[j] for j, a in t.items()) - b) for s, b, t in rows]
        if all(v >= 0 if s == "G" else v <= 0 if s == "L" else v == 0 for s, v in values):
            found.append(sum((a * point[j] for j, a in objective.items()), Fraction(0)))
    return (min if sense == "min" else max)(found, default=None)


def test_damaged_bytes_are_refused_or_read_never_a_crash(folder):
    rng = Random(4)
    for name in PROOFS:
        original = (folder / name).read_bytes()
        for _ in range(DRAWN // 4):
            data = bytearray(original)
            for _ in range(rng.randint(1, 3)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            (folder / name).write_bytes(data)
            try:
                verdict = check(folder / name, folder / "parcel.mps")
            except (Unreadable, OSError):
                continue
            if verdict.proves:
                assert verdict.bound is not None
                assert verdict.bound >= 9


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the official examples are not there")
@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("IPCO_eg3.vipr", "infeasible"),
        ("paper_eg3.vipr", "infeasible"),
        ("paper_eg3_weak.vipr", "infeasible"),
        ("ip.vipr", "optimal"),
    ],
)
def test_the_complete_official_examples(name, status, tmp_path):
    """They are in scipopt/vipr; their models are written here."""
    assert check(EXAMPLES / name).status == status
    model = tmp_path / "example.lp"
    if name == "ip.vipr":
        rows, costs, names = "2 u + v >= 1\n 2 u - 3 v <= 1", "0 u + v", "u v"
    else:
        rows, costs, names = "2 u + 3 v >= 1\n 3 u - 4 v <= 2\n - u + 6 v <= 3", "0 u + 0 v", "u v"
    free = "\n".join(f" {column} free" for column in names.split())
    model.write_text(
        f"Minimize {costs}\nSubject To\n {rows}\nBounds\n{free}\nGeneral\n {names}\nEnd\n"
    )
    assert check(EXAMPLES / name, model).status == status
    model.write_text(model.read_text().replace(">= 1", ">= 2"))
    assert check(EXAMPLES / name, model).status == "refused"


@pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the official examples are not there")
def test_the_incomplete_official_examples_are_refused_by_name():
    paths = sorted(EXAMPLES.glob("*INCOMPLETE.vipr"))
    assert len(paths) == 5
    for path in paths:
        verdict = check(path)
        assert verdict.status == "refused"
        assert "`incomplete` leaves its factors to a solver" in verdict.sentences[-1]
        assert check(path, complete=factors).status in ("infeasible", "optimal")


#: 2 x + y >= 1, 2 x - y <= 1/2, integers: x + y >= 1.
CUTS = """VER 1.0
VAR 2
x y
INT 2
0 1
OBJ min
2 0 1 1 1
CON 2 0
one G 1 2 0 2 1 1
two L 1/2 2 0 2 1 -1
RTP range 1 inf
SOL 0
DER 4
a G 1/4 1 1 1 { lin incomplete } -1
b G 1 1 1 1 { rnd 1 2 1 } -1
c G 3/4 OBJ { lin incomplete 3 } -1
d G 1 OBJ { rnd 1 4 1 } -1
"""


def test_factors_that_are_left_out_are_found_and_checked(folder):
    path = folder / "cuts.vipr"
    path.write_text(CUTS)
    code, out = run("cuts.vipr")
    assert code == 0
    assert "2 steps without factors: found, then checked" in out
    assert "no feasible point has an objective below 1" in out
    for old, new in (("c G 3/4", "c G 5/4"), ("a G 1/4", "a G 1/2"), ("a G 1/4", "a E 1/4")):
        path.write_text(CUTS.replace(old, new))
        code, out = run("cuts.vipr")
        assert code == 1
        assert "leaves its factors to a solver, which finds none" in out
    path.write_text(CUTS.replace("incomplete 3", "incomplete 9"))
    assert "names constraint 9, which is not there before it" in run("cuts.vipr")[1]
    path.write_text(CUTS)
    assert "VIPR's `viprcomp` completes it" in check(path).sentences[-1]


def test_a_wrong_completion_proves_nothing(folder):
    path = folder / "cuts.vipr"
    path.write_text(CUTS)
    verdict = check(path, complete=lambda claimed, known: [(0, Fraction(1))])
    assert verdict.status == "refused"
    assert "does not give what it says" in verdict.sentences[-1]
