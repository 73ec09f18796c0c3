"""Signature lists: the paper's table, its transposes, the filter by shape, and labels as text."""

from __future__ import annotations

import pytest

from gadgetopt.models.oneflow_sbp.labels import (
    all_labels,
    label_text,
    parse_label,
    shard_shape,
    split_devices,
)
from gadgetopt.models.oneflow_sbp.operators import flops
from gadgetopt.models.oneflow_sbp.shapes import Attributes
from gadgetopt.models.oneflow_sbp.signatures import signature_list


def listed(kind, shapes, shape, hierarchy=(2,), **attributes):
    found = signature_list(kind, Attributes(**attributes), tuple(shapes), shape, hierarchy)
    return [str(s) for s in found]


TABLE = [
    "(S0, B) -> S0",
    "(B, S1) -> S1",
    "(S1, S0) -> P",
    "(P, B) -> P",
    "(B, P) -> P",
    "(B, B) -> B",
]


def test_the_signatures_of_a_product_are_those_of_the_papers_table():
    assert listed("matmul", [(8, 4), (4, 6)], (8, 6)) == TABLE


@pytest.mark.parametrize(
    ("shapes", "attributes", "first"),
    [
        ([(4, 8), (4, 6)], {"transpose_a": True}, ["(S1, B)", "(B, S1)", "(S0, S0)"]),
        ([(8, 4), (6, 4)], {"transpose_b": True}, ["(S0, B)", "(B, S0)", "(S1, S1)"]),
        (
            [(4, 8), (6, 4)],
            {"transpose_a": True, "transpose_b": True},
            ["(S1, B)", "(B, S0)", "(S0, S1)"],
        ),
    ],
)
def test_a_transposed_operand_has_its_axes_exchanged(shapes, attributes, first):
    found = listed("matmul", shapes, (8, 6), **attributes)
    assert [s.split(" -> ")[0] for s in found[:3]] == first
    assert [s.split(" -> ")[1] for s in found[:3]] == ["S0", "S1", "P"]
    assert found[3:] == TABLE[3:]


def test_the_gradient_of_a_weight_is_the_product_with_the_first_operand_transposed():
    transposed = listed("matmul", [(8, 4), (8, 6)], (4, 6), transpose_a=True)
    assert sorted(listed("weight_grad", [(8, 4), (8, 6)], (4, 6))) == sorted(transposed)


def test_an_operator_that_is_not_linear_takes_no_partial_values():
    pair = [(8, 4), (8, 4)]
    for kind in ("relu", "gelu", "softmax", "layer_norm"):
        assert not any("P" in s for s in listed(kind, pair[:1], (8, 4)))
    for kind in ("relu_grad", "gelu_grad", "dropout", "softmax_grad"):
        assert not any("P" in s for s in listed(kind, pair, (8, 4)))
    assert "(P, P) -> P" not in listed("multiply", pair, (8, 4))
    assert "(P, P) -> P" in listed("add", pair, (8, 4))


def test_rows_of_the_other_operators():
    assert listed("bias_add", [(8, 4), (4,)], (8, 4)) == [
        "(S0, B) -> S0",
        "(S1, S0) -> S1",
        "(B, B) -> B",
    ]
    assert listed("softmax", [(8, 4)], (8, 4)) == ["(S0) -> S0", "(B) -> B"]
    assert listed("reduce_sum", [(8, 4)], (4,), axes=(0,)) == [
        "(S0) -> P",
        "(S1) -> S0",
        "(P) -> P",
        "(B) -> B",
    ]
    assert listed("cross_entropy_grad", [(8, 4)], (8, 4)) == ["(S0) -> S0", "(B) -> B"]
    assert listed("source", [], (8, 4)) == ["() -> S0", "() -> B"]
    assert listed("variable", [], (8, 4)) == ["() -> S0", "() -> S1", "() -> B"]
    assert listed("update", [(8, 4), (8, 4)], (8, 4))[-1] == "(B, B) -> B"


def test_an_axis_needs_an_element_for_every_slice():
    assert listed("relu", [(8, 3)], (8, 3), (4,)) == ["(S0) -> S0", "(B) -> B"]
    assert listed("relu", [(3, 3)], (3, 3), (4,)) == ["(B) -> B"]
    # Over both dimensions together: (S0,S0) cuts eight slices of axis 0.
    narrow = listed("relu", [(6, 8)], (6, 8), (2, 4))
    assert "((S0,S0)) -> (S0,S0)" not in narrow
    assert {"((S0,S1)) -> (S0,S1)", "((S1,S1)) -> (S1,S1)"} <= set(narrow)


def test_on_two_dimensions_a_product_has_36_signatures():
    found = listed("matmul", [(64, 64), (64, 64)], (64, 64), (2, 4))
    assert len(found) == 36
    assert "((S0,B), (B,S1)) -> (S0,S1)" in found
    assert found[-1] == "((B,B), (B,B)) -> (B,B)"


def test_a_reshape_keeps_the_slices_of_leading_axes_only():
    heads = listed("reshape", [(8, 6, 12)], (8, 6, 4, 3))
    assert heads == ["(S0) -> S0", "(S1) -> S1", "(S2) -> S2", "(P) -> P", "(B) -> B"]
    joined = listed("reshape", [(8, 6, 4, 3)], (8, 6, 12))
    assert joined[:3] == ["(S0) -> S0", "(S1) -> S1", "(S2) -> S2"]
    # Slices of five rows of six are 18 and 12 elements, of the thirty elements 15 and 15.
    assert listed("reshape", [(5, 6)], (30,)) == ["(P) -> P", "(B) -> B"]
    assert "(S1) -> S0" in listed("reshape", [(1, 8)], (8,))


@pytest.mark.parametrize(
    ("kind", "shapes", "shape", "attributes", "sentence"),
    [
        ("matmul", [(8, 4), (5, 6)], (8, 6), {}, "axis 0 of input 1 has extent 5, not the 4"),
        ("matmul", [(8, 4)], (8, 6), {}, "matmul takes 2 inputs, not 1"),
        ("matmul", [(8, 4), (4, 6)], (8, 5), {}, "the output of matmul has shape 8x6, not 8x5"),
        ("relu", [(8, 4)], (8, 4), {"axis": 1}, "relu has no attribute 'axis'"),
        ("add", [(8, 4), (8, 3)], (8, 4), {}, "axis 1 has the extents [3, 4]"),
        ("reduce_sum", [(8, 4)], (8,), {"axes": (2,)}, "axis 2 of a tensor of 2 axes"),
        ("transpose", [(8, 4)], (4, 8), {}, "permutation [] of 2 axes"),
        ("reshape", [(8, 4)], (8, 5), {}, "reshape turns 8x4 into 8x5 of another size"),
        ("embedding_grad", [(8,), (8, 4)], (9, 4), {}, "attributes.rows is missing"),
        ("einsum", [(8, 4)], (8,), {"equation": "ab"}, "equation 'ab' is not one such as"),
        ("einsum", [(8, 4)], (8,), {"equation": "ab->c"}, "axis 'c' is in no operand"),
    ],
)
def test_shapes_that_do_not_fit_are_answered_by_a_sentence(
    kind, shapes, shape, attributes, sentence
):
    with pytest.raises(ValueError) as caught:
        listed(kind, shapes, shape, **attributes)
    assert sentence in str(caught.value)


def test_labels_are_read_as_they_are_written():
    for hierarchy in ((4,), (2, 2)):
        for label in all_labels((8, 8), hierarchy):
            assert parse_label(label_text(label)) == label
    assert parse_label("(S0, B)") == ("S0", "B")


@pytest.mark.parametrize("text", ["", "S", "b", "S-1", "(S0)", "S0,B", "(S0,)", "S00", "X"])
def test_what_is_no_label_is_not_read(text):
    with pytest.raises(ValueError, match="is not a label such as"):
        parse_label(text)


def test_the_first_shard_is_the_largest():
    assert shard_shape((7, 5), ("S0",), (2,)) == (4, 5)
    assert shard_shape((7, 5), ("S0", "S1"), (2, 2)) == (4, 3)
    assert shard_shape((7, 5), ("S0", "S0"), (2, 2)) == (2, 5)
    assert split_devices([("S0", "B"), ("B", "P")], (2, 4)) == 2


def test_products_take_two_operations_for_every_multiplication():
    assert flops("matmul", Attributes(), [(8, 4), (4, 6)]) == 2 * 8 * 4 * 6
    assert flops("variable", Attributes(), []) == 0
    assert flops("relu", Attributes(), [(8, 4)]) is None
