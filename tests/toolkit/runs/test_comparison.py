"""Comparisons: the rows are the same however the runs are executed."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.runs.comparison import compare
from gadgetopt.runs.grid import grid
from gadgetopt.system.methods import methods


def without_times(table):
    return [{k: v for k, v in e.row().items() if k != "time_s"} for e in table]


def test_only_stochastic_methods_run_once_per_seed(tiny):
    tasks = grid([tiny / "e1_co_locate.json"], ["first_fit", "random_placement"], seeds=3)
    assert [(t.spec, t.seed) for t in tasks] == [
        ("first_fit", 0),
        ("random_placement", 0),
        ("random_placement", 1),
        ("random_placement", 2),
    ]


def test_further_seeds_repeat_no_method_that_has_none(tiny):
    def keys(first_seed):
        methods = ["first_fit", "random_placement"]
        return [t.key for t in grid([tiny / "e1_co_locate.json"], methods, first_seed=first_seed)]

    (once, drawn), (again, drawn_again) = keys(0), keys(5)
    assert once == again
    assert drawn != drawn_again


def test_a_seed_that_no_store_can_hold_is_refused(tiny):
    with pytest.raises(InputError, match=r"seeds: 2 from 9223372036854775807 on, expected all of"):
        grid([tiny], ["random_placement"], first_seed=2**63 - 1, seeds=2)


def test_kinds_and_names_and_all_choose_methods(tiny):
    path = tiny / "e1_co_locate.json"
    chosen = {t.spec for t in grid([path], ["baseline", "sjf_bco", "sjf_bco"])}
    assert chosen == {"first_fit", "list_scheduling", "random_placement", "sjf_bco"}
    everything = grid([path], ["all"])
    assert {t.spec for t in everything} == {
        m.name for m in methods(everything.documents[0].problem)
    }


def test_parameters_are_part_of_a_methods_name(tiny):
    (task,) = grid([tiny / "e1_co_locate.json"], ["first_fit:theta_search=sweep"])
    assert task.spec == "first_fit:theta_search=sweep"
    (plain,) = grid([tiny / "e1_co_locate.json"], ["first_fit:theta_search=literal"])
    assert plain.spec == "first_fit"


def test_processes_give_the_rows_of_one_process(tiny, tmp_path):
    wanted = ["sjf_bco", "random_placement"]
    here = compare([tiny], wanted, workers=0)
    there = compare([tiny], wanted, workers=2, store=tmp_path / "runs.sqlite")
    assert without_times(here) == without_times(there)


def test_no_instances_is_said(tmp_path):
    with pytest.raises(InputError, match="holds no instance files"):
        grid([tmp_path])
