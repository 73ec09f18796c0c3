"""DAPPLE's planner: readings, policies and limits."""

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.data.generate.presets import random_chain
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.system.result import Limits

from ..chains import D1, D2

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("placement", ["fallback", "code"])
@pytest.mark.parametrize("ending", ["derived", "printed"])
@pytest.mark.parametrize("pivot", ["paper", "max"])
def test_every_reading_gives_a_feasible_plan_of_its_claimed_length(pivot, ending, placement):
    instance = random_chain(np.random.default_rng(3), layers=7, gpus_per_machine=2)
    for warmup in ("A", "B", "best"):
        found = dapple(
            instance, Limits(), pivot=pivot, ending=ending, placement=placement, warmup=warmup
        )
        evaluation = evaluate(instance, found.solution)
        assert evaluation.feasible
        assert evaluation.objective == found.claimed_objective
        if pivot == "paper" and ending == "derived":
            assert float(evaluation.components["latency_paper_s"]) == pytest.approx(
                found.notes["latency_paper_s"]
            )


def test_the_better_policy_is_taken():
    lengths = {
        warmup: dapple(D1, Limits(), warmup=warmup).claimed_objective
        for warmup in ("A", "B", "best")
    }
    assert lengths["best"] == min(lengths["A"], lengths["B"])


def test_memory_caps_the_warm_up():
    options = PipelineOptions(max_in_flight=1)
    capped = D2.model_copy(update={"options": options})
    found = dapple(capped, Limits())
    assert set(found.solution.warmup) == {1}
    assert evaluate(capped, found.solution).feasible


def test_what_cannot_fit_has_no_solution():
    options = PipelineOptions(memory_bytes=1.0)
    assert dapple(D2.model_copy(update={"options": options}), Limits()).solution is None


def test_a_negative_number_of_stages_is_refused():
    with pytest.raises(ModelRefused, match="max_stages: -1, expected at least 0"):
        dapple(D1, Limits(), max_stages=-1)
