"""What the benchmark of the default methods selects and counts as a loss."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

from gadgetopt.system.registry import problem, problems
from gadgetopt.system.result import Result, Status

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "defaults.py"


@pytest.fixture(scope="module")
def defaults():
    spec = importlib.util.spec_from_file_location("defaults_benchmark", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(method, value, bound=None, time_s=1.0, instance="a", status=None, limit_hit=None):
    """Return a run of a minimisation problem; it is optimal if value and bound are equal."""
    if status is None:
        status = Status.OPTIMAL if value == bound else Status.FEASIBLE
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
def test_a_loss_is_a_better_value_then_a_proof_then_a_bound_then_time(defaults, theirs, mine, way):
    assert defaults.better(theirs, mine, problem("parallel_machines")) == way


def test_the_best_run_has_the_best_value_then_a_proof_then_the_least_time(defaults):
    runs = [
        run("worse but proved", 11, 11, 0.1),
        run("slow", 10, 10, 2.0),
        run("quick", 10, 10, 1.0),
        run("without a proof", 10, 9, 0.5),
    ]
    assert defaults.best(runs, problem("parallel_machines")).method == "quick"


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
    assert preset.ended() == {"assignment@highs"}
    assert list(preset.losses()) == []


def test_plain_solvers_are_exact_models_and_never_the_default(defaults):
    for system in problems():
        plain = defaults.plain_methods(system)
        assert system.default_method not in plain
        assert set(plain.values()) <= {"highs", "cpsat", "scip"}
    plain = defaults.plain_methods(problem("parallel_machines"))
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
