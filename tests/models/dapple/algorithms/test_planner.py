"""DAPPLE's planner: policies and limits."""

from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.pieces.pipeline.instance import PipelineOptions
from gadgetopt.system.result import Limits

from ..chains import D1, D2


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
