"""The protocol: what is kept is not found again, and differences are of pairs."""

import importlib
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(BENCHMARKS))
    protocol = importlib.import_module("marl_protocol")


def study(folder, *, seeds=2, instances=3):
    kept = protocol.Kept(folder / "protocol.jsonl")
    return protocol.Study("small", seeds, instances, 10.0, folder, kept)


def test_a_run_that_was_cut_finds_only_what_is_missing(tmp_path):
    played = []

    def play(instance, _weights, team):
        played.append(instance)
        return float(len(played)), team.agents / 4

    first = study(tmp_path)
    instances = first.drawn(**protocol.SIZES["small"])
    values, waits = first.played("small", instances, "untrained", play=play)
    assert values.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert waits == 0.5
    more = study(tmp_path, seeds=3, instances=4)
    longer = more.drawn(**protocol.SIZES["small"])
    assert longer[:3] == instances
    values, _ = more.played("small", longer, "untrained", play=play)
    assert values.tolist() == [[1, 2, 3, 7], [4, 5, 6, 8], [9, 10, 11, 12]]


def test_rules_are_one_row_and_kept_by_the_instance(tmp_path):
    first = study(tmp_path)
    instances = first.drawn(**protocol.SIZES["small"])
    assert first.each("row", instances, lambda i: float(len(i.jobs))).tolist() == [[6, 6, 6]]
    again = study(tmp_path)
    assert again.each("row", instances, lambda _: 0.0).tolist() == [[6, 6, 6]]


def test_an_interval_has_the_mean_in_it_and_no_width_where_all_are_alike():
    assert protocol.with_interval(np.full((5, 40), 0.25)) == "+0.2500 | +0.2500 to +0.2500"
    spread = protocol.with_interval(np.random.default_rng(0).normal(1, 1, (5, 40)))
    mean, low, high = (float(x) for x in spread.replace(" to ", " | ").split(" | "))
    assert low < mean < high


def test_open_instances_are_left_out_but_of_a_column_of_their_own(tmp_path, capsys, monkeypatch):
    """Of three optima one is a bound, half as large as the others, which raises only that mean."""
    monkeypatch.setattr(
        protocol.Study, "optima",
        lambda _self, _name, _instances: (np.array([1.0, 1.0, 0.5]), np.array([1, 1, 0]) == 1),
    )  # fmt: skip
    monkeypatch.setattr(
        protocol.Study,
        "ruled",
        lambda _self, _name, _instances: {
            name: np.ones((1, 3)) for name in ("lif, fifo", "patient 2.0, srpt")
        },
    )
    monkeypatch.setattr(protocol.Study, "played", lambda *_args, **_others: (np.ones((2, 3)), 0.0))
    protocol.exact(study(tmp_path))
    printed = capsys.readouterr().out
    assert "optima closed: 2 of 3 of jobs that stay, 2 of jobs that may move, 2 both" in printed
    assert "| lif, fifo | 1.000 | 1.000 | 1.000 |  | 1.000 | 1.333 |" in printed
    assert "learned, table less lif, fifo | +0.0000 | +0.0000 to +0.0000" in printed
