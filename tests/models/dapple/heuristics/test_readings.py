"""DAPPLE's planner read in other ways, and what former spellings are called now."""

import numpy as np
import pytest

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.data.generate.presets import random_chain
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.heuristics.readings import dapple_all_prefixes, dapple_reading
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

from ..chains import D1, D2


@pytest.mark.parametrize("placement", ["fallback", "code", "slides"])
@pytest.mark.parametrize("ending", ["derived", "printed", "slides"])
@pytest.mark.parametrize("pivot", ["paper", "max", "slowest"])
def test_every_reading_gives_a_feasible_plan_of_its_claimed_length(pivot, ending, placement):
    instance = random_chain(np.random.default_rng(3), layers=7, gpus_per_machine=2)
    for warmup in ("A", "B", "best"):
        found = dapple_reading(
            instance, Limits(), pivot=pivot, ending=ending, placement=placement, warmup=warmup
        )
        evaluation = evaluate(instance, found.solution)
        assert evaluation.feasible
        assert evaluation.objective == found.claimed_objective
        if pivot == "paper" and ending == "derived":
            assert float(evaluation.components["latency_paper_s"]) == pytest.approx(
                found.notes["latency_paper_s"]
            )


def test_the_reading_of_the_paper_is_the_planner_itself():
    for instance in (D1, D2):
        read = dapple_reading(instance, Limits(), pivot="paper")
        own = dapple(instance, Limits())
        assert read.solution == own.solution
        assert read.notes == own.notes


def test_no_prefix_lost_is_no_larger_a_latency():
    for seed in range(5):
        instance = random_chain(np.random.default_rng(seed), layers=5, gpus_per_machine=2)
        kept = dapple_all_prefixes(instance, Limits()).notes["latency_paper_s"]
        assert kept <= dapple(instance, Limits()).notes["latency_paper_s"]


def test_a_negative_number_of_stages_is_refused():
    with pytest.raises(ModelRefused, match="max_stages: -1, expected at least 0"):
        dapple_all_prefixes(D1, Limits(), max_stages=-1)


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("dapple:pivot=max", "dapple_reading"),
        ("dapple:pivot=paper", "dapple"),
        ("dapple:memo=none:max_stages=3", "dapple_all_prefixes"),
        ("dapple_code:index_slip=false", "dapple_code_repaired"),
    ],
)
def test_a_former_spelling_says_what_it_is_called_now(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("dapple"), former)
