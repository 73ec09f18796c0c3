"""The evaluator on the hand-checked instances, and what it rejects."""

from fractions import Fraction

import pytest

from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpSolution
from gadgetopt.models.oneflow_sbp.labels import label_text
from gadgetopt.system.files import library, read_instance


def tiny(name):
    return read_instance(library() / "oneflow_sbp" / "tiny" / f"{name}.json").data


def solution(instance, **wanted):
    """Return the solution whose operators have signatures of these texts, all others the last."""
    chosen = []
    for operator, signatures in zip(instance.operators, instance.tables.signatures, strict=True):
        text = wanted.get(operator.name)
        texts = [
            f"{' '.join(map(label_text, s.inputs))}>{label_text(s.output)}" for s in signatures
        ]
        chosen.append(len(texts) - 1 if text is None else texts.index(text))
    return OneFlowSbpSolution(signature=tuple(chosen))


DATA_PARALLEL = {
    "x": ">S0",
    "mm0": "S0 B>S0",
    "relu0": "S0>S0",
    "mm1": "S0 B>S0",
    "d_mm1": "S0>S0",
    "d_w1": "S0 S0>P",
    "d_relu0": "S0 B>S0",
    "d_mm0": "S0 S0>S0",
    "d_w0": "S0 S0>P",
}
MEGATRON = {
    "w0": ">S1",
    "w1": ">S0",
    "mm0": "B S1>S1",
    "relu0": "S1>S1",
    "mm1": "S1 S0>P",
    "d_w1": "S1 B>S0",
    "update_w1": "S0 S0>S0",
    "d_relu0": "B S0>S1",
    "d_mm0": "S1 S1>S1",
    "d_w0": "B S1>S1",
    "update_w0": "S1 S1>S1",
}


# H1: compute of all broadcast 2784, data parallel 1424, Megatron 1408, in operations of a device;
# each gradient of 128 bytes takes 256 to all-reduce, and so does mm1.
@pytest.mark.parametrize(
    ("name", "strategy", "cost"),
    [
        ("h1_megatron", {}, Fraction(5568, 10)),
        ("h1_megatron", DATA_PARALLEL, Fraction(7968, 10)),
        ("h1_megatron", MEGATRON, Fraction(5376, 10)),
        ("h1_dear_compute", {}, 2784),
        ("h1_dear_compute", DATA_PARALLEL, 1936),
        ("h1_dear_compute", MEGATRON, 1664),
        ("h1_free_compute", {}, 0),
        ("h2_sharded_weight", {}, Fraction(21888, 10)),
        ("h2_sharded_weight", DATA_PARALLEL, Fraction(16128, 10)),
        ("h2_sharded_weight", MEGATRON, Fraction(21312, 10)),
    ],
)
def test_strategies_cost_what_was_worked_out_by_hand(name, strategy, cost):
    instance = tiny(name)
    judged = evaluate(instance, solution(instance, **strategy))
    assert judged.feasible
    assert judged.objective == cost


def test_components_name_the_collectives():
    instance = tiny("h1_megatron")
    parts = evaluate(instance, solution(instance, **DATA_PARALLEL)).components
    assert parts["bytes_all_reduce"] == parts["boxing_bytes"] == parts["boxing"] == 512
    assert parts["compute"] == Fraction(2848, 10)
    assert parts["conversions"] == 2


def test_memory_is_that_of_one_device_with_variables_four_times():
    instance = tiny("h1_megatron")
    # All broadcast: x 128, two variables 4 x 128, mm0, relu0, d_relu0, d_mm0 256 each, and mm1,
    # d_mm1, two gradients and two updates 128 each.
    assert evaluate(instance, solution(instance)).components["memory_bytes"] == 2944


def test_broken_rules_are_named():
    instance = tiny("h1_megatron")
    pinned = instance.model_copy(update={"pins": {"w0": "S1"}, "ties": (("w0", "x"),)})
    judged = evaluate(pinned, solution(pinned, x=">S0"))
    assert {v.constraint for v in judged.violations} == {"pin", "tie"}
    capped = instance.model_copy(update={"memory_limit_bytes": 2900})
    assert [str(v) for v in evaluate(capped, solution(capped)).violations] == [
        "memory at g0: by 44"
    ]


def test_an_update_must_have_the_label_of_its_variable():
    instance = tiny("h1_megatron")
    judged = evaluate(instance, solution(instance, update_w0="S0 S0>S0"))
    assert judged.objective is None
    assert judged.violations[0].constraint == "impossible_conversion"


@pytest.mark.parametrize(
    ("signature", "violation"),
    [((0,) * 12, "missing_signature"), ((0,) * 14, "unknown_operator"), ((9,) * 13, "unknown_sig")],
)
def test_signatures_that_are_not_there_are_rejected(signature, violation):
    judged = evaluate(tiny("h1_megatron"), OneFlowSbpSolution(signature=signature))
    assert judged.objective is None
    assert judged.violations[0].constraint.startswith(violation)
