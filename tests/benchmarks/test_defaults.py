"""What the benchmark of the default methods selects and counts as a loss."""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from gadgetopt.system.registry import problem, problems
from gadgetopt.system.result import Result, Status

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def defaults():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        yield importlib.import_module("defaults")


@pytest.fixture(scope="module")
def losses(defaults):
    return importlib.import_module("defaults_losses")


def run(method, value, bound=None, time_s=1.0, instance="a", status=None, limit_hit=None):
    """Return a run of a minimisation problem; it is optimal if value and bound are equal."""
    if status is None:
        known = Status.OPTIMAL if value == bound else Status.FEASIBLE
        status = Status.NO_SOLUTION if value is None else known
    return Result(
        problem="parallel_machines",
        instance=instance,
        fingerprint=instance,
        method=method,
        kind="exact",
        parameters={},
        formulation=None,
        backend=None,
        status=status,
        objective=value,
        claimed_objective=value,
        bound=bound,
        bound_voucher=None,
        gap=None,
        limit_hit=limit_hit,
        time_s=time_s,
        seed=None,
    )


def preset_of(defaults, *runs):
    preset = defaults.Preset(problem("parallel_machines"), "paper")
    for result in runs:
        preset.results[result.instance][result.method] = result
    return preset


@pytest.mark.parametrize(
    ("theirs", "mine", "way"),
    [
        (run("x", 9, 8), run("d", 10, 10 - 1e-12), "value"),
        (run("x", 10), run("d", None), "value"),
        (run("x", 10, 10), run("d", 10, 9), "proof"),
        (run("x", 10, 9.5), run("d", 10, 9), "bound"),
        (run("x", 10, 9.005), run("d", 10, 9), None),
        (run("x", 10, 5), run("d", 10), "bound"),
        (run("x", 10, 10, 1.0), run("d", 10, 10, 3.0), "time"),
        (run("x", 10, 10, 0.1), run("d", 10, 10, 0.5), None),
        (run("x", 10, 10, 2.0), run("d", 10, 10, 2.9), None),
        (run("x", 10, 9, 1.0), run("d", 10, 9, 3.0), None),
        (run("x", 11, 11), run("d", 10), None),
        (run("x", 10, 9), run("d", 10, 10, 3.0), None),
    ],
)
def test_a_loss_is_a_better_value_then_a_proof_then_a_bound_then_time(losses, theirs, mine, way):
    assert losses.better(theirs, mine, problem("parallel_machines")) == way


def test_whether_an_objective_is_to_be_large_is_the_instances_to_say(losses):
    more, less = (replace(run(name, x), sense="max") for name, x in (("x", 11), ("d", 10)))
    assert losses.better(more, less, problem("mip")) == "value"
    assert losses.better(less, more, problem("mip")) is None
    assert losses.best([less, more], problem("mip")) is more


def test_the_best_run_has_the_best_value_then_a_proof_then_the_least_time(losses):
    runs = [
        run("worse but proved", 11, 11, 0.1),
        run("slow", 10, 10, 2.0),
        run("quick", 10, 10, 1.0),
        run("without a proof", 10, 9, 0.5),
    ]
    assert losses.best(runs, problem("parallel_machines")).method == "quick"


def test_contenders_are_the_best_plain_solvers_of_each_backend(defaults):
    preset = preset_of(
        defaults,
        run("bin_search", 1, 1, 0.1, "a"),
        run("assignment@highs", 10, 10, 1.0, "a"),
        run("arc_flow@highs", 10, 10, 2.0, "a"),
        run("assignment@highs", 10, 10, 1.0, "b"),
        run("arc_flow@highs", 10, 10, 0.5, "b"),
        run("assignment@highs", 10, 10, 1.0, "c"),
        run("arc_flow@highs", 11, 11, 0.5, "c"),
        run("assignment@cpsat", 12, 9, 0.5, "c"),
        run("cp_cumulative", 9, 9, 0.5, "d"),
        run("assignment@cpsat", None, None, 0.5, "d", Status.NO_SOLUTION),
    )
    assert preset.contenders() == ["assignment@highs", "cp_cumulative"]


def test_a_preset_that_no_plain_solver_solves_has_no_contenders(defaults):
    error = run("assignment@highs", None, None, 8.0, "a", Status.ERROR, "time_s")
    preset = preset_of(defaults, run("bin_search", 10, 10), error)
    assert preset.contenders() == []
    assert preset.solvers() == set()
    assert list(preset.losses()) == []


def test_a_default_can_lose_where_it_has_no_early_proof(defaults):
    preset = preset_of(
        defaults,
        run("bin_search", 10, 10, 0.4, "early"),
        run("bin_search", 10, 10, 0.6, "late"),
        run("bin_search", 10, 9, 0.1, "open"),
        run("bin_search", None, None, 0.1, "nothing"),
    )
    lost = [name for name in (*preset.results, "not run") if preset.can_lose(name)]
    assert lost == ["late", "open", "nothing", "not run"]


class Played:
    """Runs that take as long, and give what, a table says."""

    def __init__(self, defaults, values):
        self.defaults, self.values, self.done = defaults, values, []

    def __call__(self, paths, methods, **_):
        entries = []
        for path in paths:
            for method in methods:
                self.done.append((path.stem, method))
                value, bound, time_s = self.values(path.stem, method)
                result = run(method, value, bound, time_s, path.stem)
                entries.append(type("Entry", (), {"result": result}))
        return entries


def test_who_runs_on_which_instances(defaults, monkeypatch, tmp_path):
    def values(instance, method):
        number = int(instance[-3:])
        if method == "bin_search":
            return 10, 10 if number < 4 else 9, 0.1
        if method == "assignment@highs":
            return 10, 10, 1.0
        if method == "cp_cumulative" and number == 1:
            return 10, 10, 0.5
        return (11, 9, 3.0) if method == "cp_cumulative" else (None, None, 3.0)

    played = Played(defaults, values)
    monkeypatch.setattr(defaults.gadgetopt, "compare", played)
    system = problem("parallel_machines")
    runs = defaults.Runs(6, 3.0, 1, tmp_path / "runs.sqlite")
    runs.system(system, ["uniform"])
    by_instance = {}
    for instance, method in played.done:
        by_instance.setdefault(int(instance[-3:]), set()).add(method)
    few = {"bin_search", "assignment@highs", "cp_cumulative"}
    assert by_instance[0] == {"bin_search", *defaults.plain_methods(system)}
    assert by_instance[1] == by_instance[2] == few
    assert by_instance[3] == {"bin_search"}  # proved at once
    assert by_instance[4] == by_instance[5] == few
    assert len(played.done) == len(set(played.done))


def test_plain_solvers_are_exact_models_and_never_the_default(losses):
    for system in problems():
        plain = losses.plain_methods(system)
        assert system.default_method not in plain
        assert set(plain.values()) <= {"highs", "cpsat", "scip"}
    plain = losses.plain_methods(problem("parallel_machines"))
    assert plain["cp_cumulative"] == "cpsat"
    assert "assignment_lp@highs" not in plain


def test_presets_that_meet_the_same_methods_are_run_together(defaults):
    methods = {"paper": ["x", "y"], "uniform": ["y", "x"], "tiny": []}
    groups = defaults.alike(list(methods), methods.__getitem__)
    assert groups == [(frozenset("xy"), ["paper", "uniform"]), (frozenset(), ["tiny"])]


def test_a_page_gets_every_part_between_its_comments(defaults, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- presets -->\nold\n<!-- /presets -->\nafter\n")
    defaults.write_page(page, {"presets": r"| \1 |"})
    text = "before\n<!-- presets -->\n\n| \\1 |\n\n<!-- /presets -->\nafter\n"
    assert page.read_text() == text
    defaults.write_page(page, {"presets": r"| \1 |"})
    assert page.read_text() == text
    with pytest.raises(SystemExit, match="losses"):
        defaults.write_page(page, {"losses": ""})


def test_every_reason_is_of_a_system_or_a_preset(defaults):
    known = {f"{system.name}:{name}" for system, name in defaults.chosen(())}
    known |= {system.name for system in problems()}
    assert set(tomllib.loads(defaults.REASONS.read_text())) <= known
