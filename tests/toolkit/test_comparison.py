"""Comparing: the same rows however the runs were made."""

import subprocess
import sys

import pytest

from gadgetopt.comparison import compare, grid
from gadgetopt.errors import InputError
from gadgetopt.methods import check_parameters, find_method, methods
from gadgetopt.registry import problems


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


def test_kinds_and_names_and_all_choose_methods(tiny):
    path = tiny / "e1_co_locate.json"
    chosen = {t.spec for t in grid([path], ["baseline", "sjf_bco", "sjf_bco"])}
    assert chosen == {"first_fit", "list_scheduling", "random_placement", "sjf_bco"}
    everything = {t.spec for t in grid([path], ["all"])}
    assert everything == {m.name for m in methods(grid([path], ["all"])[0].document.problem)}


def test_parameters_are_part_of_a_methods_name(tiny):
    task = grid([tiny / "e1_co_locate.json"], ["sjf_bco:theta_search=sweep"])[0]
    assert task.spec == "sjf_bco:theta_search=sweep"
    plain = grid([tiny / "e1_co_locate.json"], ["sjf_bco:theta_search=literal"])[0]
    assert plain.spec == "sjf_bco"


def test_processes_give_the_rows_of_one_process(tiny, tmp_path):
    wanted = ["sjf_bco", "random_placement"]
    here = compare([tiny], wanted)
    there = compare([tiny], wanted, workers=2, store=tmp_path / "runs.sqlite")
    assert without_times(here) == without_times(there)


@pytest.mark.slow
def test_a_scheduler_somebody_else_started_gives_the_same_rows(tiny):
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        there = compare([tiny], ["first_fit"], scheduler=cluster.scheduler_address)
    assert without_times(there) == without_times(compare([tiny], ["first_fit"]))


def test_a_scheduler_that_does_not_answer_is_one_line(tiny):
    code = (
        "from gadgetopt.comparison import compare; from gadgetopt.errors import InputError\n"
        f"try: compare([{str(tiny)!r}], ['first_fit'], scheduler='tcp://127.0.0.1:9')\n"
        "except InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("--scheduler: tcp://127.0.0.1:9: cannot be reached")


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_every_declared_reference_resolves_and_parameters_match(problem):
    assert problem.evaluate.resolve()
    assert problem.instance_type.resolve()
    assert problem.solution_type.resolve()
    for formulation in problem.formulations:
        assert formulation.build.resolve()
        assert formulation.decode is None or formulation.decode.resolve()
    for method in methods(problem):
        check_parameters(method)
    for guarantee in problem.guarantees:
        names = {m.name for m in methods(problem)}
        assert set(guarantee.methods) <= names
    for name in (problem.default_method, *problem.default_methods):
        find_method(problem, name)


def test_no_instances_is_said(tmp_path):
    with pytest.raises(InputError, match="holds no instance files"):
        grid([tmp_path])
