"""`instance` makes instances of plain Python and DataFrames, and `tables` gives them back."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import gadgetopt
from gadgetopt import InputError
from gadgetopt.system.data import Data, NonNegativeInt, Rational
from gadgetopt.system.reading.tables import entries_of, lists_of, tables_of, value_of
from gadgetopt.system.registry import problem_names

JOBS = {"gpus": [2, 1], "iterations": [10, 4]}


def sjf_bco(**changed):
    return gadgetopt.instance("sjf_bco", like="quickstart", **{"server_gpus": [4, 4], **changed})


# -- both ways -------------------------------------------------------------------------------------


@pytest.mark.parametrize("system", problem_names())
def test_an_instance_and_its_tables_are_the_same(system, root):
    document = gadgetopt.read(root / "instances" / "quickstart" / f"{system}.json")
    tables = document.tables()
    assert set(tables) == {
        name for name in lists_of(type(document.data)) if getattr(document.data, name) is not None
    }
    again = gadgetopt.instance(system, **tables, like=document)
    assert again.fingerprint == document.fingerprint


@pytest.mark.parametrize(
    ("system", "name"), [("a_srpt", "jobs"), ("sjf_bco", "jobs"), ("marl_placement", "servers")]
)
def test_a_table_survives_a_csv_file(root, tmp_path, system, name):
    document = gadgetopt.read(root / "instances" / "quickstart" / f"{system}.json")
    document.tables()[name].to_csv(tmp_path / "t.csv", index=False)
    table = pd.read_csv(tmp_path / "t.csv")
    again = gadgetopt.instance(system, **{name: table}, like=document)
    assert again.fingerprint == document.fingerprint


def test_a_result_gives_the_tables_of_its_solution(root):
    result = gadgetopt.solve(root / "instances" / "quickstart" / "sjf_bco.json", "first_fit")
    tables = result.tables()
    assert list(tables["start_slot"].start_slot) == list(result.solution.start_slot)
    packed = gadgetopt.solve(root / "instances" / "quickstart" / "a_srpt.json", "a_srpt")
    assert len(packed.tables()["jobs"]) == len(packed.solution.jobs)


def test_a_result_without_a_solution_says_so(root):
    result = gadgetopt.solve(root / "instances" / "quickstart" / "sjf_bco.json", "energetic")
    with pytest.raises(InputError, match="result of energetic on sjf_bco: has no feasible sol"):
        result.tables()


# -- from Python -----------------------------------------------------------------------------------


def test_a_data_frame_becomes_records_that_are_solved():
    mine = sjf_bco(jobs=pd.DataFrame(JOBS), name="mine", horizon_slots=50)
    assert mine.name == "mine"
    assert [(job.gpus, job.iterations) for job in mine.data.jobs] == [(2, 10), (1, 4)]
    assert gadgetopt.solve(mine, "first_fit").objective is not None
    assert gadgetopt.compare([mine], ["first_fit"])[0].result.instance == "mine"


def test_lists_arrays_and_records_mean_the_same():
    plain = sjf_bco(jobs=[{"gpus": 2, "iterations": 10}, {"gpus": 1, "iterations": 4}])
    arrays = sjf_bco(jobs=pd.DataFrame(JOBS), server_gpus=np.array([4, 4]))
    series = sjf_bco(jobs=plain.data.jobs, server_gpus=pd.Series([4, 4]))
    assert plain.fingerprint == arrays.fingerprint == series.fingerprint


def test_the_origin_says_what_was_taken_from_an_example(root):
    mine = sjf_bco(jobs=pd.DataFrame(JOBS), horizon_slots=50)
    file = root / "instances" / "quickstart" / "sjf_bco.json"
    assert mine.origin["taken_from"] == "sjf_bco_quickstart"
    assert "inter_bw_mb_per_slot" in mine.origin["taken_fields"]
    assert not {"jobs", "server_gpus", "horizon_slots"} & set(mine.origin["taken_fields"])
    example = gadgetopt.read(file)
    for like in (file, str(file), example):
        again = gadgetopt.instance(
            "sjf_bco", like=like, server_gpus=[4, 4], jobs=pd.DataFrame(JOBS), horizon_slots=50
        )
        assert (again.fingerprint, again.origin) == (mine.fingerprint, mine.origin)
    assert mine.data.inter_bw_mb_per_slot == example.data.inter_bw_mb_per_slot


def test_an_example_of_the_library_is_found_from_any_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    like = "instances/quickstart/parallel_machines.json"
    mine = gadgetopt.instance("parallel_machines", like=like, processing_s=[1, 2])
    assert mine.data.machines == 4
    assert mine.origin["taken_fields"] == ["machines"]


def test_without_an_example_nothing_is_invented_and_all_that_is_missing_is_named():
    with pytest.raises(InputError) as raised:
        gadgetopt.instance("sjf_bco", horizon_slots=50)
    line = str(raised.value)
    assert line.startswith("sjf_bco: missing: server_gpus, jobs; ")
    assert "sjf_bco_quickstart has server_gpus=[2, 2, 2], jobs=[" in line
    assert "like='quickstart'" in line


def test_cells_without_a_value_take_the_default_and_integers_stay_integers():
    table = pd.DataFrame({**JOBS, "grad_size_mb": [3.5, math.nan], "name": ["a", None]})
    table["gpus"] = table["gpus"].astype(float)  # as pandas reads integers beside gaps
    jobs = sjf_bco(jobs=table).data.jobs
    assert [job.grad_size_mb for job in jobs] == [3.5, 0.0]
    assert [job.name for job in jobs] == ["a", None]
    assert [job.gpus for job in jobs] == [2, 1]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"jobs": pd.DataFrame({"num_gpus": [1], "iterations": [1], "user": ["x"]})},
            "sjf_bco: jobs: columns: unknown 'num_gpus', 'user'; missing 'gpus'; "
            "expected gpus, iterations, and as you like grad_size_mb",
        ),
        ({"jobs": pd.DataFrame({**JOBS, "gpus": [2, 0]})}, "jobs[1].gpus: 0 is not a positive"),
        ({"jobs": pd.DataFrame({**JOBS, "gpus": [2, 1.5]})}, "jobs[1].gpus: 1.5 is not an int"),
        ({"jobs": pd.DataFrame({**JOBS, "gpus": [2, None]})}, "jobs[1].gpus: missing"),
        ({"jobs": pd.DataFrame({**JOBS, "gpus": [2, 99]})}, "jobs[1].gpus: 99 is more than the 8"),
        ({"jobs": [object()]}, "sjf_bco: jobs[0]: is of type object, expected plain Python"),
        (
            {"jobs": pd.DataFrame({**JOBS, "name": [pd.Timestamp(0)] * 2})},
            "sjf_bco: jobs.name: is of type Timestamp, expected plain Python",
        ),
        ({"jobs": 3}, "sjf_bco: jobs: 3 is not an array"),
        ({"server": [4]}, "sjf_bco: no field 'server' (it has: server_gpus, horizon_slots"),
        ({"horizon_slots": pd.DataFrame(JOBS)}, "horizon_slots: is a DataFrame, but the field is"),
        ({"name": ""}, "name: '' is not a non-empty string of printable text"),
        ({"like": "nope"}, "preset: 'nope', expected one of quickstart"),
        ({"like": "instances/quickstart"}, "like: instances/quickstart is 2"),
        ({"like": "no/such.json"}, "no/such.json: no such instance file"),
        ({"like": 3}, "like: is of type int, expected an instance, its file or a preset"),
        ({"like": "instances/quickstart/smd.json"}, "expected an instance of sjf_bco"),
    ],
)
def test_what_instance_cannot_use_is_one_line(given, line):
    with pytest.raises(InputError) as raised:
        sjf_bco(**{"jobs": pd.DataFrame(JOBS), **given}) if "like" not in given else (
            gadgetopt.instance("sjf_bco", **given)
        )
    assert line in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_unknown_system_is_one_line():
    with pytest.raises(InputError, match="'nope' is not a known problem"):
        gadgetopt.instance("nope")


def test_a_list_of_values_is_a_column_of_its_name():
    table = pd.DataFrame({"processing_s": [3, 2, 2]})
    mine = gadgetopt.instance("parallel_machines", machines=2, processing_s=table)
    assert mine.data.processing_s == (3, 2, 2)
    assert mine.tables()["processing_s"].equals(table)


# -- records of every kind -------------------------------------------------------------------------


class Part(Data):
    size: Rational
    count: NonNegativeInt | None = None
    label: str = ""
    weights: tuple[Rational, ...] = ()


class Whole(Data):
    parts: tuple[Part, ...] = ()
    groups: tuple[tuple[Part, ...], ...] = ()
    pair: tuple[int, int] = (0, 0)
    names: tuple[str, ...] | None = None


def test_lists_are_told_from_other_fields():
    found = lists_of(Whole)
    assert list(found) == ["parts", "groups", "names"]
    assert [f.nested for f in found.values()] == [False, True, False]


def test_exact_numbers_are_decimals_where_these_are_the_same_and_none_is_rounded():
    parts = (Part(size="1/3"), Part(size=0.1, count=2**53 + 1, weights=("1/7", 2)))
    tables = tables_of(Whole(parts=parts))
    assert list(tables) == ["parts", "groups"]
    assert list(tables["parts"]["size"]) == ["1/3", 0.1]
    assert list(tables["parts"]["count"]) == [None, 2**53 + 1]
    entries = entries_of(tables["parts"], lists_of(Whole)["parts"], "parts")
    assert [e["size"] for e in entries] == ["1/3", 0.1]
    assert entries[1]["weights"] == ["1/7", 2]


def test_lists_of_lists_number_the_inner_ones():
    whole = Whole(groups=((Part(size=1),), (), (Part(size=2), Part(size=3))))
    table = tables_of(whole)["groups"]
    assert list(table["groups"]) == [0, 2, 2]
    entries = entries_of(table, lists_of(Whole)["groups"], "groups")
    assert [[e["size"] for e in inner] for inner in entries] == [[1], [], [2, 3]]
    with pytest.raises(InputError, match=r"groups: row 0: groups: -1 is not the number of a list"):
        entries_of(table.assign(groups=-1), lists_of(Whole)["groups"], "groups")


@pytest.mark.parametrize(
    ("text", "annotation", "value"),
    [
        ("4", int, 4),
        ("4.0", int, 4),
        ("4.5", int, 4.5),
        ("", int, None),
        ("NaN", float, "NaN"),
        ("0.1", Fraction, "1/10"),
        ("0.12345678901234567890123", Fraction, "12345678901234567890123/" + "1" + "0" * 23),
        ("1e999999999", Fraction, math.inf),
        ("TRUE", bool, True),
        ("12", str, "12"),
        ("12", str | None, "12"),
        ("[1,2]", tuple[int, ...], [1, 2]),
        ("[" * 100_000, tuple[int, ...], "[" * 100_000),
    ],
)
def test_a_text_is_read_as_the_field_needs_it(text, annotation, value):
    assert value_of(text, annotation) == value
