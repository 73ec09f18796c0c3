"""The compiler's pass: hand-checked cases, pins, ties, and what it cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.algorithms.inference import compiler_greedy
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import Costs


def run(instance):
    return compiler_greedy(instance)


def perceptron(batch=8, **changes):
    instance = presets.mlp_train(
        np.random.default_rng(0), widths="4,8,4", batch=batch, devices=2, compute_ratio=0.2
    )
    return instance.model_copy(update=changes)


def labels(instance, solution):
    chosen = zip(instance.operators, instance.tables.signatures, solution.signature, strict=True)
    return {o.name: str(signatures[k]) for o, signatures, k in chosen}


@pytest.mark.parametrize(("batch", "cost"), [(8, "796.8"), (32, "1612.8")])
def test_h1_and_h2_the_compiler_finds_data_parallelism(batch, cost):
    # Compute 1424 * 0.2 = 284.8, and two gradients of 128 bytes all-reduced for 256 each (H1).
    instance = perceptron(batch)
    solution = run(instance).solution
    assert evaluate(instance, solution).objective == pytest.approx(float(cost), abs=1e-9)
    found = labels(instance, solution)
    assert found["x"] == "() -> S0"
    assert found["w0"] == "() -> B"
    assert found["mm0"] == "(S0, B) -> S0"
    assert found["d_w0"] == "(S0, S0) -> P"
    assert found["update_w0"] == "(B, B) -> B"


def test_a_pinned_label_is_followed_and_the_rest_adapts():
    instance = perceptron(pins={"x": "B", "w0": "S1"})
    found = labels(instance, run(instance).solution)
    assert found["mm0"] == "(B, S1) -> S1"
    assert found["update_w0"].endswith("-> S1")


def test_tied_operators_have_one_label():
    instance = perceptron(ties=(("w0", "w1"),), pins={"w0": "S1"})
    solution = run(instance).solution
    assert evaluate(instance, solution).feasible
    assert labels(instance, solution)["w1"] == "() -> S1"


def test_where_no_conversion_is_allowed_it_says_at_which_operator():
    costs = Costs(forbidden_conversions=("P->B", "P->S", "S->B", "S->S", "B->S", "S->P", "B->P"))
    outcome = run(perceptron(costs=costs, pins={"x": "S0", "w0": "S0"}))
    assert outcome.solution is None
    assert outcome.notes == {"stuck_at": "mm0"}


def test_on_two_dimensions_data_is_split_on_both():
    instance = presets.mlp_train(
        np.random.default_rng(0), widths="16,16,16", batch=16, devices="2x4"
    )
    assert labels(instance, run(instance).solution)["x"] == "() -> (S0,S0)"


def test_it_is_never_better_than_the_evaluator_allows():
    for preset in ("paper", "wide_embedding", "two_placements", "mixture_of_experts"):
        instance = getattr(presets, preset)(np.random.default_rng(1))
        evaluation = evaluate(instance, run(instance).solution)
        assert evaluation.feasible
        assert evaluation.objective > 0


def test_a_plan_over_the_memory_limit_is_not_returned():
    plain = perceptron()
    used = evaluate(plain, run(plain).solution).components["memory_bytes"]
    assert run(perceptron(memory_limit_bytes=used)).solution == run(plain).solution
    outcome = run(perceptron(memory_limit_bytes=used - 1))
    assert outcome.solution is None
    assert outcome.notes == {"bytes_over_memory": 1}
