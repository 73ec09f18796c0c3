"""Strategies chosen by hand: their patterns, and hand-checked costs."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.oneflow_sbp.baselines import strategies
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.evaluate import evaluate

RNG = np.random.default_rng(0)
ALL = ("data_parallel", "model_parallel_col", "model_parallel_row", "megatron", "all_broadcast")


def run(name, instance, **parameters):
    return getattr(strategies, name)(instance, **parameters).solution


def labels(instance, solution):
    chosen = zip(instance.operators, instance.tables.signatures, solution.signature, strict=True)
    return {o.name: str(signatures[k]) for o, signatures, k in chosen}


@pytest.mark.parametrize(
    ("name", "batch", "ratio", "cost"),
    [
        ("all_broadcast", 8, 0.2, 556.8),
        ("data_parallel", 8, 0.2, 796.8),
        ("megatron", 8, 0.2, 537.6),
        ("all_broadcast", 8, 1.0, 2784),
        ("data_parallel", 8, 1.0, 1936),
        ("megatron", 8, 1.0, 1664),
        ("all_broadcast", 32, 0.2, 2188.8),
        ("data_parallel", 32, 0.2, 1612.8),
        ("megatron", 32, 0.2, 2131.2),
        ("all_broadcast", 8, 0.0, 0),
    ],
)
def test_h1_and_h2_to_the_digit(name, batch, ratio, cost):
    instance = presets.mlp_train(RNG, widths="4,8,4", batch=batch, devices=2, compute_ratio=ratio)
    assert float(evaluate(instance, run(name, instance)).objective) == pytest.approx(cost, abs=1e-9)


def test_megatron_splits_a_transformer_by_heads_and_hidden_features():
    instance = presets.transformer(RNG, layers=1)
    found = labels(instance, run("megatron", instance))
    assert found["embedded"] == "(S0, B) -> P"
    assert found["q0"] == "(B, S1) -> S1"
    assert found["softmax0"] == "(S1) -> S1"
    assert found["attended0"] == "(S1, S0) -> P"
    assert found["up0"] == "(B, S1) -> S2"
    assert found["down0"] == "(S2, S0) -> P"
    assert found["add_f0"] == "(B, B) -> B"


def test_megatron_on_two_dimensions_is_data_parallel_outside():
    instance = presets.transformer(RNG, layers=1, devices="2x4")
    found = labels(instance, run("megatron", instance))
    assert found["q0"] == "((S0,B), (B,S1)) -> (S0,S1)"
    assert found["attended0"] == "((S0,S1), (B,S0)) -> (S0,P)"
    both = labels(instance, run("megatron", instance, outer="model"))
    assert both["q0"] == "((B,B), (S1,S1)) -> (S1,S1)"


def test_columns_and_rows_of_weights():
    instance = presets.paper(RNG, layers=3)
    columns = labels(instance, run("model_parallel_col", instance))
    rows = labels(instance, run("model_parallel_row", instance))
    assert {columns[f"w{k}"] for k in range(3)} == {"() -> S1"}
    assert {rows[f"w{k}"] for k in range(3)} == {"() -> S0"}
    assert columns["x"] == rows["x"] == "() -> B"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("devices", [8, "2x4"])
@pytest.mark.parametrize("preset", ["paper", "transformer", "wide_embedding", "mixture_of_experts"])
def test_every_strategy_is_feasible_on_every_network(name, devices, preset):
    layers = {} if preset == "wide_embedding" else {"layers": 1}
    instance = getattr(presets, preset)(RNG, devices=devices, **layers)
    assert evaluate(instance, run(name, instance)).feasible


def test_a_weight_too_narrow_to_be_split_is_split_on_one_dimension_only():
    instance = presets.mlp_train(RNG, widths="4,4,4", batch=8, devices="2x4")
    found = labels(instance, run("model_parallel_col", instance))
    assert found["w0"] == "() -> (S1,B)"
