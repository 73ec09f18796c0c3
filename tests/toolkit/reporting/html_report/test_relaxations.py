"""The figure of LP and root bounds against the size of models."""

import pytest

import gadgetopt
from gadgetopt.reporting.html_report.reading import read_systems
from gadgetopt.reporting.html_report.relaxations import best_known, relaxations, share
from gadgetopt.reporting.html_report.style import style
from gadgetopt.runs.store import Store


@pytest.fixture(scope="module")
def systems(root, tmp_path_factory):
    """One system that minimises, one that maximises; formulations and a heuristic."""
    path = tmp_path_factory.mktemp("store") / "runs.sqlite"
    quickstart = root / "instances/quickstart"
    methods = ["arc_flow@highs", "arc_flow@cpsat", "lpt", "direct@highs"]
    files = [quickstart / "parallel_machines.json", quickstart / "knapsack.json"]
    gadgetopt.compare(files, methods, store=path, workers=0)
    with Store(path, create=False) as store:
        return {system.name: system for system in read_systems(store)}


def drawn(system):
    looks = {m: style(k) for k, m in enumerate(system.methods)}
    index = {line.key: k for k, line in enumerate(system.lines)}
    return relaxations(system, looks, index)


def test_bounds_are_shares_of_the_best_objective(systems):
    figure = drawn(systems["parallel_machines"])
    lp, root = figure.variants
    marks = {trace["name"]: trace for trace in lp.traces}
    assert set(marks) == {"arc_flow@highs", "arc_flow@cpsat"}  # a heuristic has no model
    assert marks["arc_flow@highs"]["y"] == pytest.approx([50.25 / 51])
    assert marks["arc_flow@highs"]["x"] == [133]
    assert [trace["name"] for trace in root.traces] == ["arc_flow@highs"]  # CP-SAT has no root


def test_the_share_of_an_upper_bound_is_its_inverse(systems):
    figure = drawn(systems["knapsack"])
    (trace,) = figure.variants[0].traces
    assert trace["y"] == pytest.approx([8222 / 8534.965214], rel=1e-6)


def test_shares_never_exceed_one(systems):
    for system in systems.values():
        for variant in drawn(system).variants:
            assert all(y <= 1 + 1e-6 for trace in variant.traces for y in trace["y"])


def test_best_known_is_an_objective_where_there_is_one(systems):
    assert list(best_known(systems["parallel_machines"]).values()) == [51]
    assert list(best_known(systems["knapsack"]).values()) == [8222]


def test_bounds_and_objectives_that_are_not_positive_have_no_share():
    assert share(0.0, 5.0, minimise=True) == 0
    assert share(-1.0, 5.0, minimise=True) is None
    assert share(5.0, 0.0, minimise=False) is None
    assert share(8.0, 4.0, minimise=False) == 0.5
