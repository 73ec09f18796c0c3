"""Every signature and every conversion, executed: the logical tensor comes out."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.oneflow_sbp.algorithms.inference import compiler_greedy
from gadgetopt.models.oneflow_sbp.baselines.strategies import data_parallel, megatron
from gadgetopt.models.oneflow_sbp.boxing import BoxingRules, conversion
from gadgetopt.models.oneflow_sbp.data.generate.presets import (
    mlp_train,
    quickstart,
)
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import ListedSignature
from gadgetopt.models.oneflow_sbp.labels import all_labels
from gadgetopt.models.oneflow_sbp.operators import KINDS
from gadgetopt.models.oneflow_sbp.proving.exact.elimination import elimination
from gadgetopt.models.oneflow_sbp.proving.execution import (
    convert,
    difference,
    execute,
    place,
    run_operator,
)
from gadgetopt.models.oneflow_sbp.proving.kernels import compute
from gadgetopt.models.oneflow_sbp.shapes import Attributes
from gadgetopt.models.oneflow_sbp.signatures import Signature, signature_list
from gadgetopt.system.result import Limits

HIERARCHIES = [(2,), (4,), (2, 2)]
ROUNDING = 1e-9

#: Operators of every kind: shapes of the inputs, shape of the output, attributes. Extents are such
#: that slices differ in size (9 in four, 5 in two) wherever a kind allows it.
CASES: list[tuple[str, list[tuple[int, ...]], tuple[int, ...], dict]] = [
    ("source", [], (9, 5), {}),
    ("variable", [], (9, 5), {}),
    ("matmul", [(9, 5), (5, 6)], (9, 6), {}),
    ("matmul", [(5, 9), (5, 6)], (9, 6), {"transpose_a": True}),
    ("matmul", [(9, 5), (6, 5)], (9, 6), {"transpose_b": True}),
    ("matmul", [(5, 9), (6, 5)], (9, 6), {"transpose_a": True, "transpose_b": True}),
    ("matmul", [(4, 9, 5), (5, 6)], (4, 9, 6), {}),
    ("matmul", [(4, 9, 5), (6, 5)], (4, 9, 6), {"transpose_b": True}),
    ("matmul", [(4, 5, 6, 7), (4, 5, 7, 8)], (4, 5, 6, 8), {}),
    (
        "matmul",
        [(4, 5, 7, 6), (4, 5, 8, 7)],
        (4, 5, 6, 8),
        {"transpose_a": True, "transpose_b": True},
    ),
    ("weight_grad", [(9, 5), (9, 6)], (5, 6), {}),
    ("weight_grad", [(4, 9, 5), (4, 9, 6)], (5, 6), {}),
    ("einsum", [(4, 5, 6), (4, 5, 7)], (6, 4, 7), {"equation": "gsm,gsc->mgc"}),
    ("einsum", [(4, 5, 6, 4), (4, 5, 7)], (6, 4, 4, 7), {"equation": "gsec,gsm->egcm"}),
    ("einsum", [(5, 6), (6, 7), (7, 8)], (5, 8), {"equation": "ab,bc,cd->ad"}),
    *(
        (kind, [(9, 5)], (9, 5), {})
        for kind in ("relu", "gelu", "tanh", "sigmoid", "positive", "scale", "softmax")
    ),
    *(
        (kind, [(9, 5), (9, 5)], (9, 5), {})
        for kind in (
            "dropout",
            "relu_grad",
            "gelu_grad",
            "tanh_grad",
            "sigmoid_grad",
            "softmax_grad",
            "update",
        )
    ),
    *((kind, [(9, 5), (9, 5)], (9, 5), {}) for kind in ("add", "subtract", "multiply")),
    *((kind, [(4, 9, 5), (9, 5)], (4, 9, 5), {}) for kind in ("add", "multiply")),
    *((kind, [(4, 1, 5), (9, 5)], (4, 9, 5), {}) for kind in ("subtract", "multiply")),
    ("bias_add", [(9, 5), (5,)], (9, 5), {}),
    ("bias_add", [(9, 5, 6), (5,)], (9, 5, 6), {"axis": 1}),
    ("layer_norm", [(9, 5, 6)], (9, 5, 6), {}),
    ("layer_norm", [(9, 5, 6), (6,)], (9, 5, 6), {}),
    ("layer_norm", [(9, 5, 6), (6,), (6,)], (9, 5, 6), {}),
    ("layer_norm_grad", [(9, 5, 6), (9, 5, 6)], (9, 5, 6), {}),
    ("layer_norm_grad", [(9, 5, 6), (9, 5, 6), (6,)], (9, 5, 6), {}),
    ("layer_norm_scale_grad", [(9, 5, 6), (9, 5, 6)], (6,), {}),
    ("reduce_sum", [(9, 5, 6)], (9, 6), {"axes": (1,)}),
    ("reduce_sum", [(9, 5, 6)], (6,), {"axes": (0, 1)}),
    ("reduce_sum", [(9, 5, 6)], (1, 5, 6), {"axes": (0,), "keep_axes": True}),
    ("cross_entropy_grad", [(9, 5)], (9, 5), {}),
    ("cross_entropy_grad", [(9, 5, 6), (9, 5)], (9, 5, 6), {}),
    ("embedding", [(9, 5), (7, 6)], (7, 6, 5), {}),
    ("embedding_grad", [(7, 6), (7, 6, 5)], (9, 5), {"rows": 9}),
    ("expand", [(5, 6)], (9, 5, 6), {"axis": 0, "rows": 9}),
    ("expand", [(5, 6)], (5, 9, 6), {"axis": 1, "rows": 9}),
    ("slice", [(9, 5, 6)], (9, 3, 6), {"axis": 1, "start": 1, "rows": 3}),
    ("pad", [(9, 3, 6)], (9, 5, 6), {"axis": 1, "start": 1, "rows": 5}),
    ("concat", [(9, 3, 6), (9, 2, 6), (9, 1, 6)], (9, 6, 6), {"axis": 1}),
    ("reshape", [(8, 5, 12)], (8, 5, 4, 3), {}),
    ("reshape", [(8, 5, 4, 3)], (8, 5, 12), {}),
    ("reshape", [(9, 5, 6)], (45, 6), {}),
    ("reshape", [(8, 4, 6)], (32, 1, 6), {}),
    ("transpose", [(4, 9, 5, 6)], (4, 5, 9, 6), {"permutation": (0, 2, 1, 3)}),
    ("moe_gate", [(5, 8, 4)], (5, 8, 4, 3), {"capacity": 3}),
    ("moe_gate_grad", [(5, 8, 4), (5, 8, 4, 3)], (5, 8, 4), {}),
]


def values(kind, shapes, attributes, rng):
    """Return random inputs; ids and classes in their range."""
    drawn = [rng.standard_normal(shape) for shape in shapes]
    choices = {
        "embedding": (1, shapes[0][0] if shapes else 0),
        "embedding_grad": (0, attributes.rows),
        "cross_entropy_grad": (1, shapes[0][-1] if shapes else 0),
    }
    if kind in choices:
        slot, extent = choices[kind]
        if slot < len(drawn):
            drawn[slot] = rng.integers(0, extent, shapes[slot]).astype(float)
    return drawn


def executed_error(kind, attributes, shapes, shape, signature, hierarchy) -> float:
    rng = np.random.default_rng(0)
    whole = values(kind, shapes, attributes, rng)
    if not shapes:
        tensor = rng.standard_normal(shape)
        return difference(
            place(tensor, signature.output, hierarchy), tensor, signature.output, hierarchy
        )
    inputs = [place(x, a, hierarchy, rng) for x, a in zip(whole, signature.inputs, strict=True)]
    try:
        shards = run_operator(kind, attributes, inputs, signature, shapes, shape, hierarchy)
    except ValueError:
        return math.inf
    expected = compute(kind, attributes, whole, shape)
    return difference(shards, expected, signature.output, hierarchy)


def test_every_kind_of_operator_is_executed():
    assert {kind for kind, *_ in CASES} == set(KINDS)


@pytest.mark.parametrize("hierarchy", HIERARCHIES)
@pytest.mark.parametrize(("kind", "shapes", "shape", "given"), CASES)
def test_every_signature_of_every_kind_gives_the_logical_tensor(
    kind, shapes, shape, given, hierarchy
):
    attributes = Attributes(**given)
    listed = signature_list(kind, attributes, tuple(shapes), shape, hierarchy)
    assert listed[-1].output == ("B",) * len(hierarchy)
    for signature in listed:
        error = executed_error(kind, attributes, shapes, shape, signature, hierarchy)
        assert error <= ROUNDING, str(signature)


@pytest.mark.parametrize(
    ("kind", "shapes", "shape", "given", "inputs", "output"),
    [
        ("relu", [(8, 4)], (8, 4), {}, ["P"], "P"),
        ("gelu", [(8, 4)], (8, 4), {}, ["P"], "P"),
        ("softmax", [(8, 4)], (8, 4), {}, ["S1"], "S1"),
        ("layer_norm", [(8, 4)], (8, 4), {}, ["S1"], "S1"),
        ("multiply", [(8, 4), (8, 4)], (8, 4), {}, ["P", "P"], "P"),
        ("bias_add", [(8, 4), (4,)], (8, 4), {}, ["P", "B"], "P"),
        ("matmul", [(8, 4), (4, 6)], (8, 6), {}, ["P", "P"], "P"),
        ("matmul", [(8, 4), (4, 6)], (8, 6), {}, ["S0", "B"], "B"),
        ("matmul", [(8, 4), (4, 6)], (8, 6), {}, ["S1", "S0"], "B"),
        ("update", [(8, 4), (8, 4)], (8, 4), {}, ["B", "P"], "P"),
        ("reshape", [(5, 6)], (30,), {}, ["S0"], "S0"),
        ("reshape", [(4, 6)], (24,), {}, ["S1"], "S0"),
        ("embedding", [(8, 4), (6,)], (6, 4), {}, ["S0", "B"], "B"),
        ("cross_entropy_grad", [(8, 4)], (8, 4), {}, ["S1"], "S1"),
        ("moe_gate", [(4, 8, 4)], (4, 8, 4, 2), {"capacity": 2}, ["S1"], "S1"),
    ],
)
def test_a_wrong_signature_is_caught(kind, shapes, shape, given, inputs, output):
    signature = Signature(tuple((label,) for label in inputs), (output,))
    attributes = Attributes(**given)
    assert signature not in signature_list(kind, attributes, tuple(shapes), shape, (2,))
    assert executed_error(kind, attributes, shapes, shape, signature, (2,)) > 1e-3


@pytest.mark.parametrize("rules", [BoxingRules(), BoxingRules("oneflow")])
@pytest.mark.parametrize("hierarchy", [(2,), (4,), (2, 2), (2, 4), (3, 2)])
@pytest.mark.parametrize("shape", [(9, 11), (48, 24)])
def test_every_conversion_gives_the_logical_tensor_and_receives_what_it_costs(
    rules, hierarchy, shape
):
    rng = np.random.default_rng(0)
    value = rng.standard_normal(shape)
    labels = all_labels(shape, hierarchy)
    for a, b in product(labels, repeat=2):
        steps = conversion(rules, a, b, shape, value.size, hierarchy, hierarchy, same_group=True)
        if steps is None:
            continue
        shards, received = convert(place(value, a, hierarchy, rng), steps, hierarchy, hierarchy)
        assert difference(shards, value, b, hierarchy) <= ROUNDING
        if shape == (48, 24) and rules.table == "paper":
            assert received == sum(step.cost_bytes for step in steps)


@pytest.mark.parametrize(("source", "target"), [((2,), (4,)), ((2, 2), (2, 4)), ((4,), (2,))])
def test_a_tensor_comes_out_on_another_group(source, target):
    rng = np.random.default_rng(0)
    value = rng.standard_normal((9, 11))
    for a, b in product(all_labels((9, 11), source), all_labels((9, 11), target)):
        steps = conversion(
            BoxingRules(), a, b, (9, 11), value.size, source, target, same_group=False
        )
        shards, received = convert(place(value, a, source, rng), steps, source, target)
        assert difference(shards, value, b, target) <= ROUNDING
        assert received == sum(step.cost_bytes for step in steps)


def test_copies_that_disagree_are_no_tensor():
    value = np.arange(6.0)
    shards = place(value, ("B",), (2,))
    assert difference([shards[0], shards[1] + 1], value, ("B",), (2,)) == math.inf
    assert difference(place(value, ("S0",), (2,))[::-1], value, ("S0",), (2,)) > 0.1


@pytest.mark.parametrize("devices", [2, 4, "2x2"])
@pytest.mark.parametrize("method", [compiler_greedy, data_parallel, megatron, elimination])
def test_an_executed_plan_receives_the_bytes_that_the_evaluator_charges(devices, method):
    # All slices are equal: extents are divisible.
    rng = np.random.default_rng(0)
    for instance in (
        mlp_train(rng, widths="8,16,8", batch=8, devices=devices),
        quickstart(rng, width=16, heads=4, sequence=8, batch=4, devices=devices),
    ):
        solution = called(method, instance, Limits(), rng).solution
        found = execute(instance, solution, rng)
        assert found.error <= ROUNDING
        assert found.received_bytes == evaluate(instance, solution).components["boxing_bytes"]


def test_a_listed_signature_that_is_wrong_is_found_by_execution():
    wrong = ListedSignature(inputs=("P",), output="P")
    instance = mlp_train(np.random.default_rng(0), widths="8,16,8", batch=8, devices=2)
    operators = tuple(
        o.model_copy(update={"signatures": (wrong,)}) if o.name == "relu0" else o
        for o in instance.operators
    )
    cheated = instance.model_copy(update={"operators": operators})
    rng = np.random.default_rng(0)
    solution = elimination(cheated, Limits()).solution
    found = execute(cheated, solution, rng)
    assert found.error > 1e-3
    assert found.operator != ""


def test_what_cannot_be_executed_is_refused():
    instance = mlp_train(np.random.default_rng(0), widths="8192,8192", batch=8192, devices=8)
    solution = elimination(instance, Limits()).solution
    with pytest.raises(ModelRefused, match="elements on all devices"):
        execute(instance, solution, np.random.default_rng(0))
