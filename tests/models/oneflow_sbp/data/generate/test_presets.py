"""Presets: sizes that are known, networks that compute what their equations say."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.oneflow_sbp.data.generate import presets
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpSolution
from gadgetopt.models.oneflow_sbp.proving.execution import execute

SMALL = {
    "quickstart": {"width": 8, "heads": 4, "sequence": 4, "batch": 4},
    "mlp_train": {"widths": "4,8,4", "batch": 8, "devices": 2},
    "transformer": {
        "layers": 2,
        "width": 8,
        "heads": 4,
        "sequence": 5,
        "batch": 4,
        "words": 9,
        "devices": "2x2",
    },
    "wide_embedding": {
        "rows": 9,
        "width": 4,
        "fields": 4,
        "hidden": 8,
        "classes": 6,
        "batch": 8,
        "devices": 2,
    },
    "two_placements": {"widths": "8,5,8,4", "batch": 9, "devices": 2, "other_devices": 4},
    "mixture_of_experts": {
        "groups": 4,
        "tokens": 6,
        "width": 4,
        "experts": 4,
        "hidden": 8,
        "capacity": 2,
        "devices": 4,
    },
}


def drawn(preset, **parameters):
    return getattr(presets, preset)(np.random.default_rng(0), **parameters)


@pytest.mark.parametrize(
    ("layers", "operators", "edges"), [(10, 69, 106), (50, 349, 546), (200, 1399, 2196)]
)
def test_perceptrons_have_seven_operators_a_layer(layers, operators, edges):
    # Product, relu, its gradient, two products of gradients, weight and update; the last layer has
    # the gradient of the loss for the two of the relu, the first no gradient of the data.
    instance = drawn("paper", layers=layers)
    assert len(instance.operators) == operators
    assert len(instance.tables.edges) == edges


def test_the_perceptron_of_the_hand_checked_case_has_13_operators_in_its_order():
    instance = drawn("mlp_train", **SMALL["mlp_train"])
    shapes = {o.name: o.shape for o in instance.operators}
    assert shapes == {
        "x": (8, 4),
        "w0": (4, 8),
        "mm0": (8, 8),
        "relu0": (8, 8),
        "w1": (8, 4),
        "mm1": (8, 4),
        "d_mm1": (8, 4),
        "d_w1": (8, 4),
        "d_relu0": (8, 8),
        "update_w1": (8, 4),
        "d_mm0": (8, 8),
        "d_w0": (4, 8),
        "update_w0": (4, 8),
    }
    assert len(instance.tables.edges) == 18


def test_a_transformer_of_48_layers_on_4_by_8_devices_has_thousands_of_operators_of_few_classes():
    instance = drawn("transformer", layers=48, devices="4x8", batch=32)
    assert len(instance.operators) > 2000
    assert len(instance.tables.classes) < 60
    assert instance.placements[0].hierarchy == (4, 8)


@pytest.mark.parametrize("preset", SMALL)
def test_any_signatures_that_allow_every_conversion_compute_the_logical_tensors(preset):
    instance = drawn(preset, **SMALL[preset])
    rng = np.random.default_rng(1)
    tables = instance.tables
    tied = {e.target: e.source for e in tables.edges if e.tied}
    for _ in range(2):
        chosen = [int(rng.integers(len(k))) for k in tables.signatures]
        for update, variable in tied.items():
            want = tables.signatures[variable][chosen[variable]].output
            outputs = [s.output for s in tables.signatures[update]]
            chosen[update] = outputs.index(want)
        found = execute(instance, OneFlowSbpSolution(signature=tuple(chosen)), rng)
        assert found.error < 1e-9, found.operator


@pytest.mark.parametrize(
    ("preset", "parameters", "sentence"),
    [
        ("mlp_train", {"widths": "8"}, "widths: '8', expected at least two numbers"),
        ("mlp_train", {"devices": "2x"}, "devices: '2x', expected a number such as 8"),
        ("mlp_train", {"unit": "hours"}, "unit: 'hours', expected 'oneflow' or 'seconds'"),
        (
            "mlp_train",
            {"memory_limit_gb": -1.0},
            "memory_limit_gb: -1.0, expected from 0 to 1000000",
        ),
        ("mlp_train", {"memory_limit_gb": 1e7}, "memory_limit_gb: 10000000.0, expected from 0 to"),
        (
            "two_placements",
            {"devices": "2x2"},
            "other_devices: '4', expected as many levels as '2x2'",
        ),
        ("transformer", {"heads": 7}, "heads: 7 do not divide the width of 1024"),
    ],
)
def test_wrong_parameters_are_answered_by_a_sentence(preset, parameters, sentence):
    with pytest.raises(InputError, match=sentence):
        drawn(preset, **parameters)


def test_a_memory_limit_is_of_a_device_and_in_billions_of_bytes():
    assert drawn("mlp_train", memory_limit_gb=0.5).memory_limit_bytes == 5 * 10**8
    assert drawn("mlp_train").memory_limit_bytes is None
