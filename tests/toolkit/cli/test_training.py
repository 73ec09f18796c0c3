"""The command `train`: files, messages and exit codes."""

import csv
import json

import pytest
from runs.walk import WALKING

from gadgetopt.system import registry


@pytest.fixture
def train(cli, monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "problem", lambda name: WALKING)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: cli("train", "toy", *arguments)


def test_train_writes_policy_curve_and_picture(train, tmp_path):
    code, out, _ = train("--plot", "curve.html", "--set", "rounds=8")
    assert code == 0
    assert out.splitlines()[-1] == "policy.npz: trained in 8 rounds, for best"
    assert out.splitlines()[3].startswith("round 4 of 8: norm ")
    with (tmp_path / "policy.npz.curve.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == ["round", "norm", "first", "held_out"]
    assert [row["held_out"] for row in rows] == ["", "", "", "1.5", "", "", "", "3.5"]
    assert "plotly" in (tmp_path / "curve.html").read_text()


def test_a_time_limit_leaves_a_checkpoint_and_exits_1(train):
    code, _, err = train("--time-limit", 1e-9, "--json")
    assert code == 1
    assert "stopped after 1 of 20 rounds; the same command goes on" in err
    code, out, _ = train("--json")
    assert code == 0
    told = json.loads(out)
    assert (told["rounds_before"], told["rounds"], told["finished"]) == (1, 20, True)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("run",), "trainer 'run': toy has no such trainer (it has: walk)"),
        (("--preset", "huge"), "--preset: 'huge', expected one of small, long"),
        (("--set", "rounds=x"), "--set: rounds: 'x' is not of the type of its default, 20"),
        (
            ("--plot", "x.jpg"),
            "--plot: x.jpg: .jpg, expected one of .html, .json, .png, .svg, .pdf",
        ),
        (("--out", "."), ".: is a directory, expected a file"),
    ],
)
def test_mistakes_have_their_line(train, arguments, line):
    code, _, err = train(*arguments)
    assert code == 2
    assert err.strip() == f"gadgetopt: {line}"


def test_list_names_the_trainers(cli, monkeypatch):
    monkeypatch.setattr(registry, "problem", lambda name: WALKING)
    out = cli("list", "toy", "--all")[1]
    assert "preset long: rounds=400, sleep_s=0.01" in out
    assert "walk  a random walk" in out
