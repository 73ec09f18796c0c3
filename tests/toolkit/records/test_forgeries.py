"""What an entry says and is not true is refused, in a line that says which field is wrong."""

import json

import pytest

from gadgetopt import records
from gadgetopt.records.history import next_step


@pytest.fixture
def entry(shelf):
    return next((shelf / "parallel_machines").glob("*.json"))


@pytest.fixture
def other(shelf):
    return next((shelf / "sjf_bco").glob("*.json"))


def faults(path):
    return [str(fault) for fault in records.check_one(path).faults]


def resealed(plain):
    """Return the history of an entry with digests that fit, as a forger would write them."""
    steps = []
    for step in plain["history"]:
        told = {k: v for k, v in step.items() if k not in ("digest", "value")}
        steps.append(next_step(plain["fingerprint"], steps, int(step["value"]), **told))
    return [step.model_dump(mode="json") for step in steps]


def test_an_honest_entry_passes(entry, other):
    assert faults(entry) == [] == faults(other)


def test_an_objective_better_than_that_of_the_solution_is_refused(entry, change):
    plain = json.loads(entry.read_text())
    true, better = int(plain["best_objective"]), int(plain["best_objective"]) - 1
    plain["history"][0]["value"] = str(better)
    change(entry, best_objective=str(better), history=resealed(plain))
    assert faults(entry)[0] == f"best_objective: {better} is claimed, but the solution shows {true}"


def test_a_bound_tighter_than_is_proved_is_refused(entry, change):
    plain = json.loads(entry.read_text())
    tighter = int(plain["best_bound"]) + 1
    plain["history"][1]["value"] = str(tighter)
    change(entry, best_bound=str(tighter), history=resealed(plain))
    assert faults(entry)[0].startswith(f"best_bound: {tighter} is claimed, but the certificate")


def test_a_proof_of_another_instance_is_refused(entry, other, change):
    change(entry, certificate=json.loads(other.read_text())["certificate"])
    assert faults(entry)[0].startswith("certificate")


def test_an_edited_certificate_is_refused(entry, change):
    change(entry, certificate={"data": {"kind": "partition", "formula": "all"}})
    assert faults(entry)[0].startswith("certificate")


def test_an_edited_solution_is_refused(entry, change):
    data = json.loads(entry.read_text())["solution"]["data"]
    (field,) = data
    change(entry, solution={"data": {field: data[field][:-1]}})
    assert faults(entry)[0].startswith("solution")


def test_a_wrong_fingerprint_is_refused(entry, change):
    change(entry, fingerprint="0" * 64)
    assert faults(entry) == ["fingerprint: is not that of the instance"]


def test_another_seed_is_another_instance(entry, change):
    where = json.loads(entry.read_text())["instance"]
    change(entry, instance={**where, "seed": 1})
    assert faults(entry) == ["fingerprint: is not that of the instance"]


def test_an_author_put_in_the_place_of_another_is_refused(entry, change):
    history = json.loads(entry.read_text())["history"]
    history[0]["by"] = "Mallory"
    change(entry, history=history)
    assert faults(entry) == [
        "history[0].digest: the step, or one before it, was changed after it was written"
    ]


def test_a_copy_that_names_another_author_is_refused_by_the_installed_entry(
    shelf, entry, change, tmp_path, monkeypatch
):
    """Who writes all digests anew is found out by whoever has the original."""
    import shutil

    copy = shutil.copytree(shelf, tmp_path / "copy")
    forged = copy / entry.relative_to(shelf)
    plain = json.loads(forged.read_text())
    plain["history"][0]["by"] = "Mallory"
    change(forged, history=resealed(plain))
    monkeypatch.setattr("gadgetopt.records.checked_all.shelf", lambda: shelf)
    assert faults(forged) == [
        "history[0].by: 'Mallory', but the installed records say 'the gadgetopt developers'"
    ]


def test_a_method_that_does_not_exist_is_refused(entry, change):
    plain = json.loads(entry.read_text())
    plain["history"][0]["method"] = "oracle"
    change(entry, history=resealed(plain))
    assert faults(entry)[0].startswith("history[0].method: ")


def test_a_run_that_does_not_find_what_it_claims_is_refused_when_it_is_repeated(entry, change):
    plain = json.loads(entry.read_text())
    plain["history"][0]["method"] = "list_scheduling"  # too weak for the optimum here
    plain["history"][0]["seed"] = None
    change(entry, history=resealed(plain))
    assert faults(entry) == []
    (fault,) = records.check_one(entry, repeat=True).faults
    assert fault.why.startswith("list_scheduling reaches ")


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"status": "open"}, "status: 'open', expected 'closed'"),
        ({"gap": 0.5}, "gap: 0.5, expected 0.0"),
        ({"sense": "max"}, "sense: 'max', expected 'min'"),
        ({"licence": "none"}, "licence: 'none', expected 'MIT'"),
        ({"solution": None}, "best_objective: "),
        ({"certificate": None}, "best_bound: "),
        ({"solution": {"packed": "x"}}, "solution.packed: is not base64"),
        ({"solution": {"packed": "AAAA"}}, "solution: is not one whole xz file"),
        ({"solution": {"packed": "A" * 80}}, "solution: is not text compressed by xz"),
        ({"solution": {}}, "solution: expected one of data, packed, or file and sha256"),
        ({"solution": {"file": "x", "sha256": "0" * 64}}, "solution.file: 'x', expected "),
        ({"gadgetopt_record": 2}, "gadgetopt_record: version 2, expected 1"),
        ({"author": "me"}, "author: unknown field"),
        ({"name": "another"}, "name: 'another', expected "),
        ({"problem": "spp"}, "problem: 'spp', expected 'parallel_machines' as its folder"),
        ({"instance": {"file": "nothing/here.json"}}, "instance.file: 'nothing/here.json' is not"),
        ({"best_objective": "nan"}, "best_objective: "),
    ],
)
def test_what_is_wrong_is_named(entry, change, fields, line):
    assert faults(change(entry, **fields))[0].startswith(line)


def test_what_is_no_json_is_refused(entry):
    entry.write_text("{")
    assert faults(entry) == ["not JSON: Expecting property name enclosed in double quotes at "
                             "line 1, column 2"]  # fmt: skip


def test_a_small_file_that_would_fill_memory_is_refused(entry, change):
    import base64
    import lzma

    bomb = lzma.compress(b" " * 101_000_000, preset=0)
    change(entry, solution={"packed": base64.b64encode(bomb).decode()})
    assert faults(entry) == ["solution: holds more than 100 MB"]
