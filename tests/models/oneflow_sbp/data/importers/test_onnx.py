"""ONNX files: converted networks compute what ONNX's own evaluator computes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.oneflow_sbp.data.importers.onnx import read_onnx
from gadgetopt.models.oneflow_sbp.proving.kernels import compute

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_this_process")

RNG = np.random.default_rng(5)


def node(kind, output, *inputs, **attributes):
    outputs = output if isinstance(output, list) else [output]
    return helper.make_node(kind, list(inputs), outputs, name=f"node_{outputs[0]}", **attributes)


def model(nodes, inputs, weights, output, opset=18):
    """Return a model; inputs are (name, dims) of reals, or (name, dims, highest id)."""
    graph = helper.make_graph(
        nodes,
        "network",
        [
            helper.make_tensor_value_info(
                x[0], TensorProto.INT64 if len(x) == 3 else TensorProto.FLOAT, x[1]
            )
            for x in inputs
        ],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 9
    return made


def reals(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def integers(*values):
    return np.array(values, dtype=np.int64)


def imported(tmp_path: Path, made, **options):
    path = tmp_path / "network.onnx"
    onnx.save(made, path)
    return read_onnx([path], RNG, **{"devices": 2, **options})


def check_same_network(tmp_path, made, feeds, **options):
    """Compare the operators of the network with ONNX's reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    expected = ReferenceEvaluator(made).run(None, feeds)[0]
    given = {t.name: numpy_helper.to_array(t).astype(float) for t in made.graph.initializer}
    given.update({name: value.astype(float) for name, value in feeds.items()})
    _, instance = imported(tmp_path, made, training=False, **options).instances[0]
    values = {}
    for o in instance.operators:
        if o.kind in ("source", "variable"):
            values[o.name] = given[o.name].reshape(o.shape)
        else:
            inputs = [values[x] for x in o.inputs]
            values[o.name] = compute(o.kind, o.attributes, inputs, o.shape)
            assert values[o.name].shape == o.shape
    found = values[instance.operators[-1].name]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    trained = imported(tmp_path, made, **options).instances[0][1]
    kinds = [o.kind for o in trained.operators]
    assert kinds.count("update") == kinds.count("variable") > 0


def test_a_perceptron_with_biases(tmp_path):
    weights = {"w0": reals(5, 3), "b0": reals(5), "w1": reals(5, 4), "b1": reals(4)}
    made = model(
        [
            node("Gemm", "h", "x", "w0", "b0", transB=1),
            node("Relu", "r", "h"),
            node("MatMul", "p", "r", "w1"),
            node("Add", "y", "p", "b1"),
        ],
        [("x", ["batch", 3])],
        weights,
        "y",
    )
    check_same_network(tmp_path, made, {"x": reals(6, 3)}, batch=6)


def test_attention_with_one_weight_for_queries_keys_and_values(tmp_path):
    made = model(
        [
            node("Gather", "e", "table", "ids"),
            node("LayerNormalization", "n", "e", "gain", "shift", axis=-1),
            node("MatMul", "qkv", "n", "w"),
            node("Split", ["q", "k", "v"], "qkv", "parts", axis=2),
            *(node("Reshape", f"{x}h", x, "heads") for x in "qkv"),
            node("Transpose", "qt", "qh", perm=[0, 2, 1, 3]),
            node("Transpose", "kt", "kh", perm=[0, 2, 3, 1]),
            node("Transpose", "vt", "vh", perm=[0, 2, 1, 3]),
            node("MatMul", "s", "qt", "kt"),
            node("Mul", "sc", "s", "factor"),
            node("Add", "masked", "sc", "mask"),
            node("Softmax", "a", "masked", axis=-1),
            node("MatMul", "c", "a", "vt"),
            node("Transpose", "ct", "c", perm=[0, 2, 1, 3]),
            node("Reshape", "j", "ct", "joined"),
            node("Add", "y", "j", "e"),
        ],
        [("ids", [2, 5], 7)],
        {
            "table": reals(7, 8),
            "gain": reals(8),
            "shift": reals(8),
            "w": reals(8, 24),
            "parts": integers(8, 8, 8),
            "heads": integers(0, 0, 2, 4),
            "factor": np.array(0.5, dtype=np.float32),
            "mask": np.triu(np.full((5, 5), -9.0, dtype=np.float32), 1),
            "joined": integers(0, 0, -1),
        },
        "y",
    )
    check_same_network(tmp_path, made, {"ids": integers(*range(5), *range(2, 7)).reshape(2, 5)})


def test_other_operators(tmp_path):
    made = model(
        [
            node("MatMul", "m", "x", "w"),
            node("Tanh", "t", "m"),
            node("Pow", "sq", "t", "two"),
            node("Sub", "d", "t", "sq"),
            node("Div", "half", "d", "two"),
            node("Neg", "neg", "half"),
            node("Slice", "cut", "neg", "from", "to", "axes"),
            node("Concat", "wide", "cut", "half", axis=2),
            node("ReduceMean", "mean", "wide", "second", keepdims=0),
            node("Gather", "first", "neg", "index", axis=1),
            node("Concat", "both", "mean", "first", axis=-1),
            node("Unsqueeze", "un", "both", "index1"),
            node("Squeeze", "sq2", "un", "index1"),
            node("Identity", "same", "sq2"),
            node("Einsum", "y0", "same", "v", equation="ab,bc->ac"),
            node("Sigmoid", "gate", "y0"),
            node("Mul", "y1", "y0", "gate"),
            node("ReduceSum", "s", "y1", "index1", keepdims=1),
            node("Add", "y", "y1", "s"),
        ],
        [("x", [4, 3, 6])],
        {
            "w": reals(6, 6),
            "two": np.array(2, dtype=np.float32),
            "from": integers(1, -4),
            "to": integers(9, -1),
            "axes": integers(1, 2),
            "second": integers(1),
            "index": np.array(0, dtype=np.int64),
            "index1": integers(1),
            "v": reals(15, 4),
        },
        "y",
    )
    made.graph.node[7].attribute[0].i = 2
    # The slice keeps rows 1 and 2, so that only the features are joined with those of "half".
    made.graph.node[6].input[1:] = ["from1", "to1", "axes1"]
    for name, value in (("from1", [-4]), ("to1", [-1]), ("axes1", [2])):
        made.graph.initializer.append(numpy_helper.from_array(integers(*value), name))
    check_same_network(tmp_path, made, {"x": reals(4, 3, 6)})


def test_what_computes_shapes_is_evaluated(tmp_path):
    made = model(
        [
            node("Shape", "dims", "x"),
            node("Gather", "samples", "dims", "zero"),
            node("Unsqueeze", "samples1", "samples", "axis0"),
            node("Concat", "target", "samples1", "minus", axis=0),
            node("Reshape", "flat", "x", "target"),
            node("MatMul", "y", "flat", "w"),
        ],
        [("x", ["batch", 3, 4])],
        {
            "zero": np.array(0, dtype=np.int64),
            "axis0": integers(0),
            "minus": integers(-1),
            "w": reals(12, 5),
        },
        "y",
    )
    check_same_network(tmp_path, made, {"x": reals(4, 3, 4)}, batch=4)
    report = imported(tmp_path, made, batch=4).report["instances"][0]
    assert report["nodes_read"] == 6
    assert report["nodes_evaluated"] == 4


def test_the_last_softmax_is_part_of_the_loss(tmp_path):
    made = model(
        [node("MatMul", "logits", "x", "w"), node("Softmax", "y", "logits", axis=-1)],
        [("x", [4, 3])],
        {"w": reals(3, 5)},
        "y",
    )
    outcome = imported(tmp_path, made)
    kinds = [o.kind for o in outcome.instances[0][1].operators]
    forward, training = ["source", "variable", "matmul"], ["cross_entropy_grad", "matmul", "update"]
    assert kinds == [*forward, "source", *training]
    assert outcome.report["instances"][0]["nodes_left_out"] == {"Softmax": 1}


def test_unsupported_operators_are_reported_in_one_line(tmp_path):
    made = model(
        [
            node("Conv", "c", "x", "w"),
            node("Relu", "r", "c"),
            node("MaxPool", "p", "r", kernel_shape=[2, 2]),
            node("Conv", "y", "p", "w2"),
        ],
        [("x", [4, 3, 8, 8])],
        {"w": reals(6, 3, 3, 3), "w2": reals(6, 6, 3, 3)},
        "y",
    )
    with pytest.raises(InputError) as caught:
        imported(tmp_path, made)
    message = str(caught.value)
    assert message.endswith("network.onnx: not supported: Conv (2 times); MaxPool (1 times)")


@pytest.mark.parametrize(
    ("nodes", "weights", "sentence"),
    [
        (
            [node("Softmax", "a", "x", axis=0), node("MatMul", "y", "a", "w")],
            {"w": reals(3, 5)},
            "Softmax along another axis than the last",
        ),
        (
            [node("MatMul", "a", "x", "w"), node("Div", "y", "a", "v")],
            {"w": reals(3, 5), "v": reals(5)},
            "Div by a tensor",
        ),
        (
            [node("MatMul", "a", "x", "w"), node("Pow", "y", "a", "v")],
            {"w": reals(3, 5), "v": np.array(3, dtype=np.float32)},
            "Pow with an exponent other than 2",
        ),
    ],
)
def test_forms_that_are_not_supported_say_which(tmp_path, nodes, weights, sentence):
    with pytest.raises(InputError, match=sentence):
        imported(tmp_path, model(nodes, [("x", [4, 3])], weights, "y"))


def test_an_open_axis_is_named_and_can_be_set(tmp_path):
    made = model(
        [node("MatMul", "y", "x", "w")],
        [("x", ["batch", "sequence", 3])],
        {"w": reals(3, 4)},
        "y",
    )
    with pytest.raises(InputError, match=r"axis 0 \(batch\) of input 'x': set batch"):
        imported(tmp_path, made)
    with pytest.raises(InputError, match=r"axis 1 \(sequence\) of input 'x': set dimensions"):
        imported(tmp_path, made, batch=8)
    instance = imported(tmp_path, made, batch=8, dimensions="sequence=6").instances[0][1]
    assert instance.operators[0].shape == (8, 6, 3)
    both = imported(tmp_path, made, dimensions="sequence=6,batch=2").instances[0][1]
    assert both.operators[0].shape == (2, 6, 3)
    with pytest.raises(InputError, match="dimensions: 'sequence', expected a name and a number"):
        imported(tmp_path, made, dimensions="sequence")


def test_what_is_no_onnx_file_is_refused(tmp_path):
    path = tmp_path / "text.onnx"
    path.write_text("not a network")
    with pytest.raises(InputError, match="is not an ONNX file"):
        read_onnx([path], RNG)
    with pytest.raises(InputError, match="No such file"):
        read_onnx([tmp_path / "missing.onnx"], RNG)
    with pytest.raises(InputError, match="files: none given"):
        read_onnx([], RNG)


def test_shapes_that_do_not_fit_are_named(tmp_path):
    made = model([node("MatMul", "y", "x", "w")], [("x", [4, 3])], {"w": reals(4, 4)}, "y")
    with pytest.raises(InputError, match="shapes: "):
        imported(tmp_path, made)


def test_without_the_package_it_says_how_to_install_it(tmp_path, monkeypatch):
    path = tmp_path / "network.onnx"
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"pip install 'gadgetopt\[onnx\]'"):
        read_onnx([path], RNG)


def test_a_transformer_goes_from_its_file_to_a_certified_plan(tmp_path, cli, root):
    script = root / "benchmarks" / "onnx_transformer.py"
    spec = importlib.util.spec_from_file_location("onnx_transformer", script)
    written = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(written)
    file = tmp_path / "transformer.onnx"
    onnx.save(written.transformer(layers=1, width=16, sequence=8, words=32), file)
    settings = ["--set", "batch=4", "--set", "devices=4"]
    assert cli("import", "onnx", file, *settings, "--out", tmp_path)[0] == 0
    instance, plan, proof = (tmp_path / f"{x}.json" for x in ("transformer_4", "plan", "proof"))
    code, out, _ = cli("solve", instance, "--out", plan, "--certificate", proof)
    assert code == 0
    assert "optimal" in out
    code, out, _ = cli("verify", instance, plan, "--bound", proof)
    assert code == 0
    assert "(verified)" in out
    assert "relative gap                         0.00%" in out
