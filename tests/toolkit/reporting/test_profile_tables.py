"""Performance profiles by hand."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.reporting.profile_tables import performance_profile
from gadgetopt.runs.rows import StoredRun
from gadgetopt.runs.store import Store
from gadgetopt.system.result import Limits, Status, TracePoint

from .entries_of import LIMIT_S, result


@pytest.fixture
def store(tmp_path):
    """Four instances, of which `a` proves three, the third late, and `b` all."""

    def proved(name, method, time_s, objective=4):
        trace = (TracePoint(0.0, 8, 4), TracePoint(time_s, objective, objective))
        return result(name, method, "exact", objective, objective, time_s=time_s, trace=trace)

    unfinished = TracePoint(0.0, 8, 4), TracePoint(LIMIT_S, 5, 4)
    late = result("4", "a", "exact", 5, 4, time_s=LIMIT_S, limit_hit="time_s", trace=unfinished)
    runs = [
        *(proved(name, "a", time_s) for name, time_s in (("1", 1.0), ("2", 2.0), ("3", 8.0))),
        late,
        *(proved(name, "b", time_s) for name, time_s in zip("1234", (2, 2, 2, 5), strict=True)),
        *(result(name, "c", status=Status.ERROR, reason="it broke") for name in "1234"),
    ]
    return filled(tmp_path / "runs.sqlite", runs)


def filled(path, runs):
    with Store(path) as store:
        for k, run in enumerate(runs):
            store.add(StoredRun(f"{k}", run, (), Limits(time_s=LIMIT_S), "1"))
    return path


def shares(store, measure, at):
    frame = performance_profile(store, measure, at)
    assert list(frame["within"]) == list(at)
    return {method: list(frame[method]) for method in ("a", "b", "c")}


def test_times_to_a_proof_are_held_against_the_fastest(store):
    # Factors of a: 1, 1, 4, none; of b: 2, 1, 1, 1.
    found = shares(store, "time", (1, 1.9, 2, 4, 100))
    assert found == {"a": [0.5, 0.5, 0.5, 0.75, 0.75], "b": [0.75, 0.75, 1, 1, 1], "c": [0] * 5}


def test_integrals_are_held_against_the_least(store):
    # A gap of one half until the proof: factors as those of the times, but of a's fourth,
    # LIMIT_S / 2 / 2.5 = 12.
    found = shares(store, "integral", (1, 4, 11.9, 12))
    assert found == {"a": [0.5, 0.75, 0.75, 1], "b": [0.75, 1, 1, 1], "c": [0] * 4}


def test_objectives_are_held_against_the_best(store):
    assert shares(store, "ratio", (1, 1.25)) == {"a": [0.75, 1], "b": [1, 1], "c": [0, 0]}
    found = shares(store, "gap", (0, 0.19, 0.2))
    assert found == {"a": [0.75, 0.75, 1], "b": [1] * 3, "c": [0] * 3}


def test_objectives_that_are_not_positive_have_gaps_and_no_ratios(tmp_path):
    ended = TracePoint(0.5, None, None)
    runs = [
        result("1", "a", objective=-8, trace=(ended,)),
        result("1", "b", objective=-10, trace=(ended,)),
        result("2", "a", objective=5, trace=(ended,)),
        result("2", "b", objective=4, trace=(ended,)),
    ]
    store = filled(tmp_path / "runs.sqlite", runs)
    gaps = performance_profile(store, "gap", (0, 0.2))
    assert gaps[["a", "b"]].to_numpy().tolist() == [[0, 1], [1, 1]]
    # Of the ratios the first instance does not count, rather than as not solved.
    ratios = performance_profile(store, "ratio", (1, 1.25))
    assert ratios[["a", "b"]].to_numpy().tolist() == [[0, 1], [1, 1]]


def test_the_command_prints_and_writes_it(store, cli):
    code, out, _ = cli("summary", store, "--profile", "time")
    assert code == 0
    assert "within" in out
    assert "75%" in out.replace(" %", "%")
    code, out, _ = cli("summary", store, "--profile", "gap", "--format", "csv")
    assert out.splitlines()[0] == "system,within,a,b,c"
    assert cli("summary", store, "--profile", "speed")[0] == 2


def test_an_unknown_measure_is_refused(store):
    with pytest.raises(InputError, match="--profile: 'speed' is not one of time, integral, ratio"):
        performance_profile(store, "speed")
