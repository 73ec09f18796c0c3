"""The example of docs/check.md runs as it is written, and its figures are those of the file."""

import re
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from gadgetopt.cli.commands import app
from gadgetopt.proofs.checker.writing import checker_in_one_file

PAGE = (Path(__file__).parents[4] / "docs" / "check.md").read_text(encoding="utf-8")
MODEL, PROOF, PRINTED = re.findall(
    r"```\n(.*?)```", PAGE.split("## An example")[1].split("## With")[0], re.DOTALL
)


def test_the_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("parcel.mps").write_text(MODEL)
    Path("parcel.vipr").write_text(PROOF)
    result = CliRunner().invoke(app, ["check", "parcel.vipr", "parcel.mps"], standalone_mode=False)
    assert (result.return_value, result.output) == (0, PRINTED)
    Path("check_bound.py").write_text(checker_in_one_file("0"))
    run = [sys.executable, "-I", "-S", "check_bound.py", "parcel.mps", "parcel.vipr"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == PRINTED
    Path("parcel.vipr").write_text(PROOF.replace("9 9", "8 8"))
    result = CliRunner().invoke(app, ["check", "parcel.vipr", "parcel.mps"], standalone_mode=False)
    assert result.return_value == 1
    assert "`not proved: the file claims an optimum from 8 to 8`" in PAGE
    assert "not proved: the file claims an optimum from 8 to 8" in result.output


def test_the_numbers_of_lines():
    said = checker_in_one_file("0")
    text = " ".join(PAGE.split())
    for what, phrase in (
        (
            "a tree proof, the model in MPS",
            r"about ([\d,]+) lines for a tree proof about an MPS file",
        ),
        ("a tree proof, the model as exact text", r"about ([\d,]+) about an exact text"),
        ("a VIPR file, the model in MPS", r"about ([\d,]+) for a VIPR file about an MPS file"),
    ):
        found = re.search(rf"{what}: ([\d,]+) lines", said)
        written = re.search(phrase, text)
        assert found
        assert written
        lines, about = (int(match[1].replace(",", "")) for match in (found, written))
        assert abs(lines - about) <= 100
