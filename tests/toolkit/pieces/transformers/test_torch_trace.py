"""Traces of torch.profiler become profiles: marked layers, their gradients, shapes."""

import json

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.transformers.torch_trace import read_trace

BACKWARD = "autograd::engine::evaluate_function: "


def event(kind, name, begin, duration, thread=1, **args):
    named = {key.replace("_", " "): value for key, value in args.items()}
    return {
        "ph": "X", "cat": kind, "name": name, "pid": 7, "tid": thread,
        "ts": begin, "dur": duration, "args": named,
    }  # fmt: skip


def operator(name, begin, duration, number, sequence=None, thread=1, dims=None):
    args = {"External_id": number}
    if sequence is not None:
        args["Sequence_number"] = sequence
    if dims is not None:
        args |= {"Input_Dims": dims, "Input_type": ["float"] * len(dims)}
    return event("cpu_op", name, begin, duration, thread, **args)


def step(start):
    """Return a step of two linear layers without and with a bias, forward and backward."""
    first, second = 10 * start, 10 * start + 1
    return [
        event("user_annotation", "layer.0", start, 40),
        operator("aten::linear", start + 5, 30, 1 + start, first, dims=[[4, 8], [16, 8], []]),
        operator("aten::mm", start + 10, 20, 2 + start, first),
        event("user_annotation", "layer.1", start + 50, 40),
        operator("aten::linear", start + 52, 10, 3 + start, second, dims=[[4, 16], [2, 16], [2]]),
        event("user_annotation", "optimizer", start + 400, 40),
        # Gradients run on another thread, the last layer first.
        operator(BACKWARD + "AddmmBackward0", start + 100, 60, 4 + start, second, thread=2),
        operator("AddmmBackward0", start + 110, 40, 5 + start, second, thread=2),
        operator(BACKWARD + "MmBackward0", start + 200, 80, 6 + start, first, thread=2),
    ]


def profile(tmp_path, events):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    return read_trace(path)


def test_times_of_operators_that_no_other_called(tmp_path):
    found = profile(tmp_path, step(0))
    first, second = found.nodes
    assert (first.fwd_s, first.bwd_s) == pytest.approx((30e-6, 80e-6))
    assert (second.fwd_s, second.bwd_s) == pytest.approx((10e-6, 60e-6))
    # Boundary: 4 x 16 floats; parameters 16 x 8, and 2 x 16 and a bias of 2.
    assert (first.activation_bytes, first.param_bytes) == (4 * 16 * 4, 16 * 8 * 4)
    assert (second.activation_bytes, second.param_bytes) == (0, (2 * 16 + 2) * 4)
    assert found.edges == ((0, 1),)
    assert found.notes == {"minibatches": 1, "times": "operators on the CPU"}


def test_several_minibatches_give_the_mean(tmp_path):
    slower = step(1000)
    slower[1]["dur"] = 34
    found = profile(tmp_path, [*step(0), *slower])
    assert found.nodes[0].fwd_s == pytest.approx(32e-6)
    assert found.nodes[0].param_bytes == 16 * 8 * 4
    assert found.notes["minibatches"] == 2


def test_kernels_count_where_there_are_some(tmp_path):
    kernels = [
        event("kernel", "gemm", 500, 7, 99, External_id=2),
        event("kernel", "gemm", 510, 5, 99, External_id=3),
        event("kernel", "gemm", 520, 11, 99, External_id=5),
        event("gpu_memcpy", "copy", 530, 2, 99, External_id=6),
        event("kernel", "of nobody", 540, 100, 99, External_id=77),
    ]
    found = profile(tmp_path, [*step(0), *kernels])
    times = [(node.fwd_s, node.bwd_s) for node in found.nodes]
    assert times[0] == pytest.approx((7e-6, 2e-6))
    assert times[1] == pytest.approx((5e-6, 11e-6))
    assert found.notes["times"] == "kernels of the GPU"


@pytest.mark.parametrize(
    ("events", "line"),
    [
        ([], "marks no layers, expected record_function"),
        ([event("user_annotation", "layer.1", 0, 1, 1)], "layer.1: operators have no shapes"),
        ([e for e in step(0) if e["name"] != "layer.0"], "layer.0: is not marked, but layer.1 is"),
        ([*step(0), *step(1000)[3:]], "layer.1: marked 2 times, expected 1 as layer.0"),
        ([{**step(0)[0], "dur": "long"}], r"traceEvents\[0\].dur: 'long', expected a non-neg"),
        ([{**step(0)[0], "ts": float("nan")}], r"traceEvents\[0\].ts: nan, expected"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, events, line):
    with pytest.raises(InputError, match=line):
        profile(tmp_path, events)


@pytest.mark.parametrize(
    ("text", "line"),
    [("{", "is not JSON"), ("[]", "traceEvents: is no list"), ('{"a": 1}', "traceEvents: is no")],
)
def test_what_is_no_trace(tmp_path, text, line):
    path = tmp_path / "trace.json"
    path.write_text(text)
    with pytest.raises(InputError, match=line):
        read_trace(path)


def test_a_trace_that_torch_writes(tmp_path):
    torch = pytest.importorskip("torch")
    layers = [torch.nn.Linear(8, 16), torch.nn.Linear(16, 2)]
    path = tmp_path / "trace.json"
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as profiler:
        x = torch.randn(4, 8)
        for number, layer in enumerate(layers):
            with torch.profiler.record_function(f"layer.{number}"):
                x = torch.relu(layer(x))
        x.sum().backward()
    profiler.export_chrome_trace(str(path))
    first, second = read_trace(path).nodes
    assert min(first.fwd_s, first.bwd_s, second.fwd_s, second.bwd_s) > 0
    assert (first.activation_bytes, first.param_bytes) == (4 * 16 * 4, (16 * 8 + 16) * 4)
    assert second.param_bytes == (2 * 16 + 2) * 4
