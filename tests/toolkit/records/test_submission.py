"""What is better is taken over, with its proof; nothing else is."""

import json

import pytest

import gadgetopt
from gadgetopt import records
from gadgetopt.errors import InputError


@pytest.fixture
def instance(made):
    return next((made / "files").glob("parallel_machines*.i.json"))


def solved(instance, method, out):
    result = gadgetopt.solve(gadgetopt.read(instance), method)
    gadgetopt.write(result.to_document(), out)
    return result


def test_an_entry_grows_from_a_weak_solution_to_a_proof(made, instance, tmp_path):
    weak, best = tmp_path / "weak.json", tmp_path / "best.json"
    first = solved(instance, "list_scheduling", weak)
    shelf = tmp_path / "shelf"
    done = records.submit([instance, weak], folder=shelf, method="list_scheduling", new=True)
    assert done.added == 1
    (path,) = shelf.glob("*/*.json")
    assert records.read_entry(path).record.status == "open"
    last = solved(instance, "bin_search", best)
    assert last.objective < first.objective
    proof = instance.with_name(instance.name.replace(".i.", ".c."))
    done = records.submit([instance, best, proof], folder=shelf, by="Ada", method="her own",
                          version="3", new=True)  # fmt: skip
    assert (done.improved, done.refused) == (1, [])
    record = records.read_entry(path).record
    assert record.status == "closed"
    assert [step.what for step in record.history] == ["objective", "objective", "bound"]
    assert [(s.by, s.ours) for s in record.history[1:]] == [("Ada", False)] * 2
    assert records.check_one(path).faults == ()


def test_what_is_no_better_changes_nothing(shelf, instance, tmp_path):
    before = {p: p.read_bytes() for p in shelf.rglob("*.json")}
    weak = tmp_path / "weak.json"
    solved(instance, "list_scheduling", weak)
    done = records.submit([instance, weak], folder=shelf)
    assert (done.kept, done.improved, done.refused) == (1, 0, [])
    assert {p: p.read_bytes() for p in shelf.rglob("*.json")} == before


def test_an_infeasible_solution_is_refused(shelf, instance, made, tmp_path):
    solution = instance.with_name(instance.name.replace(".i.", ".s."))
    plain = json.loads(solution.read_text())
    (field,) = plain["data"]
    plain["data"][field] = plain["data"][field][:-1]
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(plain))
    done = records.submit([instance, wrong], folder=shelf)
    assert len(done.refused) == 1


def test_an_instance_without_an_entry_is_counted_and_not_added(shelf, tmp_path):
    other = gadgetopt.generate("parallel_machines", seed=5)[0]
    instance, solution = tmp_path / "i.json", tmp_path / "s.json"
    gadgetopt.write(other, instance)
    gadgetopt.write(gadgetopt.solve(other, "lpt").to_document(), solution)
    done = records.submit([instance, solution], folder=shelf)
    assert (done.unknown, done.added) == (1, 0)


def test_runs_of_a_store_are_taken_over(made, instance, tmp_path):
    store = tmp_path / "runs.sqlite"
    gadgetopt.compare([instance], ["list_scheduling", "bin_search"], store=store, workers=0)
    done = records.submit([store], folder=tmp_path / "shelf", new=True)
    assert (done.added, done.refused) == (1, [])
    (path,) = (tmp_path / "shelf").glob("*/*.json")
    record = records.read_entry(path).record
    assert record.status == "closed"
    assert record.last("objective").method == "bin_search"
    again = records.submit([store], folder=tmp_path / "shelf", new=True)
    assert (again.kept, again.improved, again.added) == (1, 0, 0)


def test_a_large_part_lies_beside_its_entry(made, instance, tmp_path, monkeypatch):
    monkeypatch.setattr("gadgetopt.records.keeping.AS_IT_IS", 0)
    monkeypatch.setattr("gadgetopt.records.keeping.IN_ENTRY", 0)
    solution = instance.with_name(instance.name.replace(".i.", ".s."))
    shelf = tmp_path / "shelf"
    records.submit([instance, solution], folder=shelf, method="a pencil", version="1", new=True)
    (path,) = shelf.glob("*/*.json")
    (beside,) = shelf.glob("*/*.xz")
    assert records.check_one(path).faults == ()
    content = bytearray(beside.read_bytes())
    content[len(content) // 2] ^= 1
    beside.write_bytes(content)
    (fault,) = records.check_one(path).faults
    assert str(fault) == f"solution.sha256: is not that of {beside.name}"
    beside.unlink()
    (fault,) = records.check_one(path).faults
    assert beside.name in str(fault)


@pytest.mark.parametrize("name", ["no_such_file.json", "no_such.sqlite"])
def test_a_file_that_is_not_there_is_said(shelf, name):
    with pytest.raises(InputError, match=f"{name}: no such file"):
        records.submit([name], folder=shelf)


def test_an_instance_alone_is_no_submission(shelf, instance):
    with pytest.raises(InputError, match="is alone, expected a solution or a certificate"):
        records.submit([instance], folder=shelf)
