"""No run of a random sample returns later than its limit, the grace period and a second.

`python benchmarks/limits.py` draws more of them, on the instances of all presets.
"""

import importlib.util
import random
import sys
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location(
    "limits", Path(__file__).parents[2] / "benchmarks/limits.py"
)
limits = importlib.util.module_from_spec(spec)
sys.modules["limits"] = limits  # its data classes look themselves up
spec.loader.exec_module(limits)

#: Random ones that search until their limit, all of half a second.
SAMPLE = [
    limits.Triple("knapsack", "paper", 62, "direct@highs", 0.5),
    limits.Triple("marl_queueing", "paper", 70, "search_and_close", 0.5),
    limits.Triple("parallel_machines", "paper", 78, "ordered_assignment@cpsat", 0.5),
    limits.Triple("spp", "paper", 37, "exact_spp", 0.5),
    limits.Triple("bgl_partition", "paper", 14, "isolating_cuts", 0.5),
    limits.Triple("adsp_training", "paper", 84, "all_policies", 0.5),
]


@pytest.mark.parametrize("triple", SAMPLE, ids=str)
def test_no_run_returns_late(triple):
    run = limits.by_solve(triple, triple.instance)
    assert run.status != "error", run.reason
    assert not run.unnamed
    # On a busy machine the processor time tells whether it was the run that took so long.
    assert limits.late_s(triple, min(run.wall_s, run.processor_s)) <= 0


def test_the_same_seed_draws_the_same_runs():
    draws = [limits.drawn(random.Random(3), None) for _ in range(2)]
    assert [next(draws[0]) for _ in range(5)] == [next(draws[1]) for _ in range(5)]


def test_a_late_run_is_told_and_load_that_explains_it():
    triple = SAMPLE[0]
    late = limits.Run(7.0, 7.0, "feasible", "time_s", None, False, 0.0)
    assert limits.late_s(triple, late.wall_s) == 0.5
    assert "LATE" in limits.line("solve", triple, late)
    waited = limits.Run(7.0, 2.0, "feasible", "time_s", None, False, 0.0)
    assert "LATE, by load" in limits.line("solve", triple, waited)
    stopped = limits.Run(5.0, 5.0, "error", "time_s", "ignored its time limit", False, 0.0)
    assert "LATE" not in limits.line("solve", triple, stopped)
    assert "stopped" in limits.line("solve", triple, stopped)
