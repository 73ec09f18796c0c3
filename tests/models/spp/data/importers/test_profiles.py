"""A profile written by hand becomes an instance; so do PipeDream's, where they are at hand."""

import json

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.spp.data.importers.profiles import (
    dnn_partitioning,
    pipedream_profile,
    torch_trace,
)

NODES = [
    ("node1", "Input0", 0, 0, 8, 0),
    ("node2", "Linear", 4, 8, 16, 100),
    ("node3", "ReLU", 0, 0, 12, 0),
    ("node4", "Linear", 2, 6, 4, 40),
]
PROFILE = "\n".join(
    [
        f"{name} -- {what} -- forward_compute_time={f}.000, backward_compute_time={b}.000, "
        f"activation_size={d}.0, parameter_size={w}.000"
        for name, what, f, b, d, w in NODES
    ]
    + [f"\tnode{k} -- node{k + 1}" for k in (1, 2, 3)]
)


def test_a_minibatch_is_split_and_free_layers_are_merged(tmp_path):
    path = tmp_path / "tiny.graph.txt"
    path.write_text(PROFILE)
    found = pipedream_profile(
        [path], np.random.default_rng(0), cluster="2x1", microbatches=4, inter_gbyte_per_s=2.5
    )
    ((name, instance),) = found.instances
    assert name == "tiny_2x1_m4_inter_gbyte_per_s=2.5"
    assert [(x.fwd_time_s, x.bwd_time_s, x.param_bytes, x.act_bytes) for x in instance.layers] == [
        (0.001, 0.002, 100, 3),
        (0.0005, 0.0015, 40, 0),
    ]
    assert instance.cluster.gpus_per_machine == (1, 1)
    assert instance.cluster.inter_bytes_per_s == 2.5e9
    details = found.report["instances"][0]
    assert details["merged_nodes"] == {"node2": ["node3"]}
    assert details["dropped_nodes"] == ["node1"]


def test_options_that_make_no_sense_are_named(tmp_path):
    path = tmp_path / "tiny.graph.txt"
    path.write_text(PROFILE)
    with pytest.raises(InputError, match="cluster: '4y4'"):
        pipedream_profile([path], np.random.default_rng(0), cluster="4y4")
    with pytest.raises(InputError, match="files: none given"):
        pipedream_profile([], np.random.default_rng(0))


def test_a_partitioning_input_becomes_a_chain(tmp_path):
    nodes = [
        {"id": k, "fpgaLatency": 2.0, "size": 10, "isBackwardNode": k > 1, "colorClass": k % 2}
        for k in range(4)
    ]
    edges = [{"sourceId": 0, "destId": 1, "cost": 1.0, "size": 4}]
    path = tmp_path / "net.json"
    path.write_text(json.dumps({"nodes": nodes, "edges": edges}))
    ((_, instance),) = dnn_partitioning([path], np.random.default_rng(0), microbatches=1).instances
    assert [(x.fwd_time_s, x.bwd_time_s) for x in instance.layers] == [(0.002, 0.002)] * 2
    assert instance.layers[0].act_bytes == 4


def test_a_trace_becomes_a_chain(tmp_path):
    def event(kind, name, begin, **args):
        return {"ph": "X", "cat": kind, "name": name, "ts": begin, "dur": 20, "args": args}

    linear = {"Input Dims": [[4, 8], [8, 8]], "Input type": ["float", "float"]}
    events = [
        event("user_annotation", "layer.0", 0),
        event("cpu_op", "aten::linear", 0, **{"Sequence number": 1, **linear}),
        event("user_annotation", "layer.1", 30),
        event("cpu_op", "aten::linear", 30, **{"Sequence number": 2, **linear}),
    ]
    path = tmp_path / "step.json"
    path.write_text(json.dumps({"traceEvents": events}))
    found = torch_trace([path], np.random.default_rng(0), cluster="2x1", microbatches=2)
    ((name, instance),) = found.instances
    assert name == "step_2x1_m2"
    assert [layer.fwd_time_s for layer in instance.layers] == [1e-5, 1e-5]
    assert instance.layers[0].act_bytes == 64
    assert found.report["instances"][0]["times"] == "operators on the CPU"
