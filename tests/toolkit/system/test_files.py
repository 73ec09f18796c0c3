"""Files: data is read back as written, and equal data has equal fingerprints."""

import json
import pickle
import shutil

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.system.files import (
    find_instances,
    read,
    read_instance,
    validate,
    write,
)
from gadgetopt.system.registry import problem, problem_names, problems
from gadgetopt.system.schema import file_schema

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def instance(tiny):
    return read_instance(tiny / "e3_staggered_start.json")


def test_what_is_written_comes_back(instance, tmp_path):
    write(instance, tmp_path / "copy.json")
    copy = read(tmp_path / "copy.json")
    assert copy.data == instance.data
    assert copy.fingerprint == instance.fingerprint
    assert dict(copy.origin) == dict(instance.origin)


def test_the_fingerprint_ignores_layout_and_written_out_defaults(tiny, tmp_path):
    envelope = json.loads((tiny / "e3_staggered_start.json").read_text())
    envelope["data"]["clamp_contention"] = True  # the default
    envelope["name"] = "other"
    shuffled = dict(reversed(envelope.items()))
    (tmp_path / "x.json").write_text(json.dumps(shuffled))
    assert (
        read(tmp_path / "x.json").fingerprint == read(tiny / "e3_staggered_start.json").fingerprint
    )


def test_the_fingerprint_changes_with_the_data(instance):
    other = instance.data.model_copy(update={"horizon_slots": 21})
    assert other.identity() != instance.data.identity()


def test_a_copy_recomputes_what_was_derived(instance):
    before = instance.data.rates.rate(0, 2, 1)
    faster = instance.data.model_copy(update={"inter_bw_mb_per_slot": 100.0})
    assert faster.rates.rate(0, 2, 1) > before


def test_a_copy_is_validated(instance):
    with pytest.raises(ValueError, match="greater than 0"):
        instance.data.model_copy(update={"horizon_slots": 0})


def test_instances_survive_pickling_without_their_tables(instance):
    instance.data.rates.rate(0, 2, 1)
    copy = pickle.loads(pickle.dumps(instance.data))
    assert copy == instance.data
    assert copy.rates.rate(0, 2, 1) == instance.data.rates.rate(0, 2, 1)


def test_a_directory_gives_its_instances_in_order_and_no_solutions(tiny, tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.json").write_text((tiny / "e1_co_locate.json").read_text())
    solution = {"gadgetopt": 1, "problem": "sjf_bco", "kind": "solution", "name": "s", "data": {}}
    (tmp_path / "c.json").write_text(json.dumps(solution))
    assert [p.stem for p in find_instances([tmp_path])] == ["a", "b"]
    assert [p.stem for p in find_instances([tmp_path / "*.json"])][:2] == ["a", "b"]
    assert len(find_instances([tmp_path, tmp_path / "a.json"])) == 2


def test_a_file_whose_name_looks_like_a_pattern_is_found(tiny, tmp_path):
    odd = tmp_path / "x[1].json"
    odd.write_text((tiny / "e1_co_locate.json").read_text())
    assert find_instances([odd]) == [odd]


def test_a_file_given_twice_is_taken_once(tiny, tmp_path):
    path = tiny / "e1_co_locate.json"
    assert len(find_instances([path, tiny / ".." / "tiny" / "e1_co_locate.json", tiny])) == 6


def test_a_path_that_matches_nothing_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.json: no such instance file"):
        find_instances([tmp_path / "none.json"])


def test_the_installed_instance_library_is_found_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_instances(["instances/quickstart"])


def test_a_file_that_cannot_be_written_is_one_line(instance, tmp_path):
    (tmp_path / "blocked").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write(instance, tmp_path / "blocked" / "x.json")


def test_every_problem_is_found_by_its_own_name():
    assert problem_names() == [p.name for p in problems()]


@pytest.mark.parametrize("name", problem_names())
def test_every_library_instance_of_a_problem_is_valid(name, root):
    folders = [root / "instances" / name, root / "instances" / "quickstart"]
    documents = [read_instance(p) for p in find_instances([f for f in folders if f.is_dir()])]
    assert any(d.problem.name == name for d in documents)


@pytest.mark.parametrize("name", problem_names())
def test_the_schema_has_the_fields_of_the_type(name):
    declared = problem(name)
    schema = file_schema(declared, "instance")
    assert schema["properties"]["problem"] == {"const": name}
    json.dumps(schema)


@pytest.mark.parametrize("name", problem_names())
def test_every_preset_gives_the_same_instance_from_the_same_seed(name):
    declared = problem(name)
    for generator in declared.generators:
        first = generator.generate(np.random.default_rng(7))
        again = generator.generate(np.random.default_rng(7))
        assert first.identity() == again.identity()
        plain = first.model_dump(mode="json")
        assert validate(declared.instance_type, plain, "generated") == first


def test_data_without_the_header_is_told_what_a_file_begins_with(tmp_path, tiny, cli):
    (tmp_path / "mine.json").write_text(json.dumps({"start_slot": [0], "placement": [{"0": 2}]}))
    code, _, err = cli("verify", tiny / "e1_co_locate.json", tmp_path / "mine.json")
    assert code == 2
    assert err == (
        f'gadgetopt: {tmp_path}/mine.json: no header, expected {{"gadgetopt": 1, "problem": ..., '
        '"kind": "instance" (or "solution", "certificate"), "name": ..., "data": {...}}\n'
    )


@pytest.mark.parametrize("place", ["envelope", "data", "inside", "twice"])
def test_a_field_of_any_length_is_shortened_in_its_line(place, tmp_path, tiny, cli):
    envelope = json.loads((tiny / "e1_co_locate.json").read_text())
    unknown = "field" * 1000
    {
        "envelope": envelope,
        "data": envelope["data"],
        "inside": envelope["data"]["jobs"][0],
        "twice": {},
    }[place][unknown] = 1
    text = json.dumps(envelope)
    if place == "twice":
        text = f'{{"{unknown}": 1, "{unknown}": 2}}'
    (tmp_path / "long.json").write_text(text)
    code, _, err = cli("solve", tmp_path / "long.json")
    assert code == 2
    assert "fieldfield" in err
    assert len(err) < 200 + len(str(tmp_path))


def test_what_is_no_file_of_gadgetopt_is_skipped_in_a_folder_and_refused_by_name(
    tmp_path, tiny, cli, caplog
):
    shutil.copy(tiny / "e1_co_locate.json", tmp_path)
    strangers = {"empty": "", "note": "no JSON", "package": '{"name": "x"}', "deep": "[" * 9**5}
    for name, text in strangers.items():
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "bytes.json").write_bytes(b"\xff")
    arguments = ("--methods", "energetic", "--store", tmp_path / "runs.sqlite", "--workers", "0")
    code, out, _ = cli("compare", tmp_path, *arguments, "--json")
    assert code == 0
    assert [row["instance"] for row in json.loads(out)] == ["e1_co_locate"]
    assert caplog.messages == [
        f"{tmp_path}: skipped, not gadgetopt files: bytes.json, deep.json, empty.json and 2 more"
    ]
    for name in strangers:
        code, out, err = cli("compare", tmp_path / f"{name}.json", *arguments)
        assert (code, out) == (2, "")
        assert err.startswith(f"gadgetopt: {tmp_path}/{name}.json: ")
        assert len(err.splitlines()) == 1


def test_an_instance_with_a_mistake_is_not_skipped(tmp_path, tiny):
    envelope = json.loads((tiny / "e1_co_locate.json").read_text())
    envelope["problem"] = "sjf"
    (tmp_path / "wrong.json").write_text(json.dumps(envelope))
    assert find_instances([tmp_path]) == [tmp_path / "wrong.json"]
