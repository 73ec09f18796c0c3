"""VeriPB proofs of others about OPB files: checked, refused by the rule's name, never believed."""

from __future__ import annotations

import itertools
import os
from random import Random

import pytest
from typer.testing import CliRunner

from gadgetopt.cli.commands import app
from gadgetopt.proofs.pseudo_boolean.veripb import check_veripb, read_opb
from gadgetopt.proofs.reading.text import Unreadable

DRAWN = int(os.environ.get("GADGETOPT_FUZZ", "400"))

#: Two of three have to be chosen: 5 with the first and second.
OPB = """* #variable= 3 #constraint= 3
min: 2 x1 +3 x2 4 x3 ;
1 x1 1 x2 >= 1 ;
+1 x2 +1 x3 >= 1 ;
1 x1
 1 x3 >= 1 ;
"""
LOG = """pseudo-Boolean proof version 2.0
f 3
soli x1 x2 ~x3
pol 1 2 + 3 + 2 d
pol 5 2 * 4 +
rup >= 1 ;
output NONE
conclusion BOUNDS 5 5
end pseudo-Boolean proof
"""
#: One of two, both, and not both.
EMPTY = "1 x1 1 x2 >= 1 ;\n1 x1 -1 x2 = 0 ;\n-1 x1 -1 x2 >= -1 ;\n"
EMPTY_LOG = (
    "pseudo-Boolean proof version 2.0\nf 4\nrup 1 x1 >= 1 ;\nrup >= 1 ;\nconclusion UNSAT : 6\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("two.opb", OPB), ("two.pbp", LOG), ("empty.opb", EMPTY), ("empty.pbp", EMPTY_LOG),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["check", *arguments], standalone_mode=False)
    if result.exception is not None:
        return 2, str(result.exception)
    return result.return_value, result.output


def test_a_bound_is_proved(folder):
    code, out = run("two.pbp", "two.opb")
    assert code == 0
    assert "about two.opb: 3 variables, 3 constraints, min" in out
    assert "proved: no feasible point has an objective below 5" in out


def test_an_older_log_is_read(folder):
    older = LOG.replace("version 2.0", "version 1.1").split("output")[0]
    (folder / "two.pbp").write_text(older + "c 7 0\n")
    assert run("two.pbp", "two.opb")[0] == 0


def test_negated_literals_and_equations(folder):
    code, out = run("empty.pbp", "empty.opb")
    assert (code, "proved: nothing is feasible" in out) == (0, True)
    # The objective is 7 with x1 and 2 without.
    (folder / "two.opb").write_text("min: 2 ~x1 7 x1 ;\n1 x1 >= 1 ;\n")
    (folder / "two.pbp").write_text("f 1\nsoli x1\npol 1 5 * 2 +\nconclusion BOUNDS 7 7\n")
    code, out = run("two.pbp", "two.opb")
    assert (code, "below 7" in out) == (0, True)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("BOUNDS 5 5", "BOUNDS 6 6", "not proved: the file claims 'BOUNDS 6 6'"),
        ("BOUNDS 5 5", "UNSAT : 7", "not proved: the file claims 'UNSAT : 7'"),
        ("f 3", "f 4", "4 constraints, expected 3"),
        ("pol 5 2 * 4 +", "dom 1 x1 >= 1 ; x1 -> 0", "a step 'dom', which is not read"),
        ("soli x1 x2 ~x3", "obju new", "a step 'obju', which is not read"),
        ("pol 1 2 +", "pol 1 9 +", "no step"),
        ("soli x1 x2 ~x3\n", "", "no step"),
        ("pol 5 2 * 4 +", "rup 1 x9 >= 1 ;", "no step"),
    ],
)
def test_what_is_not_proved_is_said(folder, old, new, said):
    (folder / "two.pbp").write_text(LOG.replace(old, new))
    code, out = run("two.pbp", "two.opb")
    assert code == 1
    assert said in out


@pytest.mark.parametrize(
    "text",
    ["1 x1 x2 >= 1 ;", "1 x1 >= 1", "1 y >= 1 ;", "1 x1 >= 1/2 ;", "1 x1 <= 1 ;", "max: 1 x1 ;",
     "1 x1 >= 1 ;\nmin: 1 x1 ;", "1 x9999999999 >= 0 ;"],
)  # fmt: skip
def test_other_formulas_are_refused(folder, text):
    with pytest.raises(ValueError, match=r"constraint|term|end|objective"):
        read_opb(text.splitlines())
    (folder / "two.opb").write_text(text)
    code, out = run("two.pbp", "two.opb")
    assert code == 2
    assert out.startswith("two.opb: ")


def test_no_change_of_a_log_proves_what_is_false(folder):
    rng, accepted = Random(6), 0
    words = [
        "pol",
        "rup",
        "red",
        "soli",
        "f",
        "l",
        "c",
        "x1",
        "~x2",
        "x4",
        ";",
        ">=",
        "+",
        "d",
        "*",
    ]
    for _ in range(DRAWN):
        lines = LOG.splitlines()
        i = rng.randrange(len(lines))
        changed = lines[i].split()
        changed[rng.randrange(len(changed))] = rng.choice([*words, *map(str, range(8))])
        lines[i] = " ".join(changed)
        (folder / "two.pbp").write_text("\n".join(lines))
        try:
            verdict = check_veripb(folder / "two.pbp", folder / "two.opb")
        except Unreadable:
            continue
        if verdict.proves:
            accepted += 1
            assert verdict.bound is not None
            assert verdict.bound <= optimum()
    assert accepted > 0


def optimum() -> int:
    points = itertools.product((0, 1), repeat=3)
    return min(2 * x + 3 * y + 4 * z for x, y, z in points if x + y and y + z and x + z)
