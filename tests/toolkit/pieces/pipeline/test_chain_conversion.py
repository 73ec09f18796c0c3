"""From graphs to chains: what is dropped, merged and carried over a boundary."""

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.chain_conversion import chain_of
from gadgetopt.pieces.pipeline.profiles import parse_profile


def profile_of(nodes, edges):
    """Nodes: (name, fwd ms, bwd ms, activation, parameters)."""
    lines = [
        f"n{k} -- {name} -- forward_compute_time={f}, backward_compute_time={b}, "
        f"activation_size={a}, parameter_size={p}"
        for k, (name, f, b, a, p) in enumerate(nodes)
    ]
    return parse_profile("\n".join(lines + [f"  n{u} -- n{v}" for u, v in edges]), "x.txt")


def test_a_tensor_crosses_every_boundary_up_to_its_last_consumer_once():
    # 0 feeds 1 and 3; boundaries: 0 | 1: 10, 1 | 2: 10 + 20, 2 | 3: 10 + 40.
    nodes = [("a", 1, 1, 10, 0), ("b", 1, 1, 20, 0), ("c", 1, 1, 40, 0), ("d", 1, 1, 80, 0)]
    chain = chain_of(profile_of(nodes, [(0, 1), (1, 2), (2, 3), (0, 3)]))
    assert chain.act_bytes == (10, 30, 50, 0)


def test_inputs_and_unused_items_are_dropped_and_empty_nodes_merged():
    nodes = [
        ("Input0", 5, 0, 100, 0),
        ("conv", 1, 2, 10, 7),
        ("view", 0, 0, 20, 0),
        ("__getitem__(1)", 0, 0, 30, 0),
        ("fc", 3, 4, 40, 9),
    ]
    chain = chain_of(profile_of(nodes, [(0, 1), (1, 2), (1, 3), (2, 4)]))
    assert chain.dropped == ("n0", "n3")
    assert chain.node_ids == (("n1", "n2"), ("n4",))
    assert chain.act_bytes == (20, 0)  # the boundary after the merged node remains
    assert chain.fwd_time_s == (0.001, 0.003)
    assert chain.report() == {
        "layers": 2,
        "dropped_nodes": ["n0", "n3"],
        "merged_nodes": {"n1": ["n2"]},
        "order": ["n1", "n4"],
    }


def test_of_available_nodes_the_first_in_the_file_comes_first():
    nodes = [("c", 1, 1, 1, 0), ("b", 1, 1, 1, 0), ("a", 1, 1, 1, 0)]
    assert chain_of(profile_of(nodes, [(2, 0)])).node_ids == (("n1",), ("n2",), ("n0",))


def test_a_cycle_and_a_profile_of_inputs_are_refused():
    a = ("a", 1, 1, 1, 0)
    with pytest.raises(InputError, match="cycle"):
        chain_of(profile_of([a, a], [(0, 1), (1, 0)]))
    with pytest.raises(InputError, match="no node is left"):
        chain_of(profile_of([("Input", 1, 1, 1, 0)], []))


def test_microbatches_divide_times_and_boundaries_but_not_parameters():
    chain = chain_of(profile_of([("a", 1, 2, 10, 7), ("b", 3, 4, 5, 9)], [(0, 1)]))
    part = chain.scaled(1, 2)
    assert part.fwd_time_s == (0.0005, 0.0015)
    assert part.act_bytes == (5, 0)
    assert part.param_bytes == (7, 9)
