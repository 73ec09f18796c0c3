"""Profiles: both families of files, their variants, and one line for what cannot be read."""

import json

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.profiles import (
    parse_profile,
    read_partitioning_graph,
    read_profile,
)

NUMBERS = (
    "forward_compute_time=22.307, backward_compute_time=1e-1, "
    "activation_size=[3; 4.5], parameter_size=7168.000"
)


def text_of(*edges):
    nodes = [f"node{k} -- Conv2d(3, 64) -- {NUMBERS}" for k in (1, 2, 3)]
    return "\n".join([*nodes, *edges])


@pytest.mark.parametrize("indent", ["\t", "  ", ""])
def test_edges_are_read_with_any_indentation(indent):
    profile = parse_profile(text_of(f"{indent}node1 -- node3", f"{indent}node3 -- node2"), "x.txt")
    assert profile.edges == ((0, 2), (2, 1))


def test_times_become_seconds_exactly_and_lists_are_summed():
    node = parse_profile(text_of(), "x.graph.txt").nodes[0]
    assert node.fwd_s == 0.022307  # the nearest double of the decimal, not of a quotient
    assert node.bwd_s == 0.0001
    assert node.activation_bytes == 7.5
    assert node.param_bytes == 7168
    assert parse_profile(text_of(), "x.graph.txt").name == "x"


def test_a_description_may_hold_the_separator():
    profile = parse_profile(f"node1 -- a -- b -- {NUMBERS}", "x.txt")
    assert profile.nodes[0].description == "a -- b"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("word", "x.txt: line 4: 'word', expected a node or an edge with ' -- '"),
        ("node1 -- node9", "x.txt: line 4: 'node9' is no node of the profile"),
        (f"node1 -- again -- {NUMBERS}", "x.txt: line 4: 'node1' is declared twice"),
        ("n -- a -- activation_size=1", "x.txt: line 4: forward_compute_time is missing"),
        (
            "n -- a -- " + NUMBERS.replace("22.307", "-1"),
            "x.txt: line 4: forward_compute_time: '-1', expected a number of at least 0 and at "
            "most 1e30",
        ),
        (
            "n -- a -- " + NUMBERS.replace("4.5", "many"),
            "x.txt: line 4: activation_size: 'many', expected a number of at least 0 and at most "
            "1e30",
        ),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line, said):
    with pytest.raises(InputError) as error:
        parse_profile(text_of(line), "x.txt")
    assert str(error.value) == said


def test_an_empty_or_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="no nodes"):
        parse_profile("\n", "x.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_profile(tmp_path / "none.txt")
    (tmp_path / "binary.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="byte 0 is not UTF-8"):
        read_profile(tmp_path / "binary.txt")


def graph(**changes):
    nodes = [
        {"id": k, "fpgaLatency": 2.0, "size": 10.0, "isBackwardNode": k > 2, "colorClass": k % 2}
        for k in (1, 2, 3, 4)
    ]
    edges = [
        {"sourceId": 1, "destId": 2, "cost": 0.5, "size": 4.0},
        {"sourceId": 4, "destId": 3, "cost": 0.5, "size": 4.0},
    ]
    return {"maxFPGAs": 2, "nodes": nodes, "edges": edges} | changes


def test_backward_nodes_join_the_forward_nodes_of_their_colour(tmp_path):
    path = tmp_path / "tiny_training.json"
    path.write_text(json.dumps(graph()))
    profile = read_partitioning_graph(path)
    assert [node.id for node in profile.nodes] == ["node1", "node2"]
    assert [node.bwd_s for node in profile.nodes] == [0.002, 0.002]
    assert [node.param_bytes for node in profile.nodes] == [6.0, 10.0]
    assert profile.edges == ((0, 1),)
    assert profile.notes == {"maxFPGAs": 2}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"nodes": 3}, "g.json: nodes: expected a list"),
        ({"nodes": [3]}, "g.json: nodes[0]: expected an object"),
        (
            {"nodes": [{"id": 1, "fpgaLatency": -1}]},
            "g.json: nodes[0].fpgaLatency: -1, expected a number of at least 0",
        ),
        (
            {"edges": [{"sourceId": 1, "destId": 7, "cost": 0, "size": 0}]},
            "g.json: edges[0].destId: 7 is no node",
        ),
    ],
)
def test_a_field_that_cannot_be_read_is_named(tmp_path, changes, said):
    path = tmp_path / "g.json"
    path.write_text(json.dumps(graph(**changes)))
    with pytest.raises(InputError) as error:
        read_partitioning_graph(path)
    assert str(error.value) == said


def test_a_file_that_is_no_json_is_refused(tmp_path):
    (tmp_path / "g.json").write_text("{")
    with pytest.raises(InputError, match=r"g.json: line 1: .*expected JSON"):
        read_partitioning_graph(tmp_path / "g.json")
