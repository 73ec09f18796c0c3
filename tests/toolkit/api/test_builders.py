"""Instances that are built as graphs, and values from public standards."""

import json
from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt import InputError
from gadgetopt.pieces.graphs.building import Edge, Graph, Node

GRAPHS = ("a_srpt", "bgl_partition", "dapple", "forest_packing", "oneflow_sbp", "spp")


def refused(builder):
    with pytest.raises(InputError) as raised:
        builder.build()
    return str(raised.value)


# -- the same as by hand ---------------------------------------------------------------------------


def test_a_network_built_node_by_node_is_the_one_that_is_written_out():
    net = gadgetopt.Builder("forest_packing", model_size_gbyte=2.0, name="star")
    top = net.add_node("top", kind="switch", nic_in_gbyte_per_s=30.0)
    gpus = [net.add_node(f"gpu{k}") for k in range(2)]
    net.add_edge(gpus[0], top, bandwidth_gbyte_per_s=12.5, both=True)
    net.add_edge(gpus[1], top, bandwidth_gbyte_per_s=10.0, both=True)
    by_hand = gadgetopt.instance(
        "forest_packing",
        workers=[1, 2],
        switches=[0],
        links=[
            {"src": 1, "dst": 0, "bandwidth_gbyte_per_s": 12.5, "both": True},
            {"src": 2, "dst": 0, "bandwidth_gbyte_per_s": 10.0, "both": True},
        ],
        nic_in_gbyte_per_s={"0": 30.0},
        model_size_gbyte=2.0,
    )
    made = net.build()
    assert (made.name, made.fingerprint) == ("star", by_hand.fingerprint)


@pytest.mark.parametrize("system", ["dapple", "spp"])
def test_layers_are_those_of_the_chain_whatever_order_they_were_added_in(system, root):
    given = gadgetopt.read(root / "instances" / "quickstart" / f"{system}.json")
    layers = [layer.model_dump(exclude_none=True) for layer in given.data.layers]
    net = gadgetopt.Builder(system, like=given)
    act = [layer.pop("act_bytes") for layer in layers]
    nodes = [net.add_node(**layer) for layer in layers]
    for k in reversed(range(len(nodes) - 1)):
        net.add_edge(nodes[k], nodes[k + 1], act_bytes=act[k])
    made = net.build().data.layers
    assert made[:-1] == given.data.layers[:-1]
    assert made[-1].act_bytes == 0  # of the last layer it is not used


def test_operators_stand_after_what_they_read():
    net = gadgetopt.Builder("oneflow_sbp", placements=[{"name": "g", "hierarchy": [2]}])
    y = net.add_node("y", kind="matmul", shape=[8, 4], placement="g")
    w = net.add_node("w", kind="variable", shape=[2, 4], placement="g")
    x = net.add_node("x", kind="source", shape=[8, 2], placement="g")
    net.add_edge(x, y)
    net.add_edge(w, y)
    operators = net.build().data.operators
    assert [o.name for o in operators] == ["w", "x", "y"]
    assert operators[-1].inputs == ("x", "w")


def test_each_chain_of_stages_is_a_job_type():
    jobs = [{"job_type": 1, "num_iterations": 5}]
    net = gadgetopt.Builder("a_srpt", servers=[4, 4], jobs=jobs)
    one = net.add_node("bert", replicas=2, time_s=0.5, gradient_gbytes=1, pipeline_factor=1.5)
    net.add_node("vgg", replicas=4, time_s=1, gradient_gbytes=2)
    two = net.add_node(replicas=1, time_s=0.25, gradient_gbytes=0.5)
    net.add_edge(one, two, activation_gbytes=0.1)
    bert, vgg = net.build().data.job_types
    assert (bert.name, bert.replicas, bert.pipeline_factor) == ("bert", (2, 1), Fraction(3, 2))
    assert bert.activation_gbytes == (Fraction(1, 10),)
    assert (vgg.name, vgg.replicas, vgg.activation_gbytes) == ("vgg", (4,), ())


def test_the_graph_to_divide_has_its_training_nodes():
    net = gadgetopt.Builder("bgl_partition", num_parts=2, fanouts=[2])
    nodes = [net.add_node(train=k != 1) for k in range(3)]
    net.add_edge(nodes[0], nodes[1])
    data = net.build().data
    assert (data.num_nodes, data.edges, data.train_nodes) == (3, ((0, 1),), (0, 2))


# -- what is wrong ---------------------------------------------------------------------------------


def test_a_system_without_graphs_names_those_with():
    with pytest.raises(InputError) as raised:
        gadgetopt.Builder("knapsack")
    assert ", ".join(GRAPHS) in str(raised.value)


def test_a_wrong_node_or_edge_is_named():
    net = gadgetopt.Builder("forest_packing")
    a, b = net.add_node("a"), net.add_node("b", kind="gpu")
    net.add_edge(a, b, bandwidth_gbyte_per_s=1)
    assert refused(net) == "forest_packing: node b: kind: 'gpu' is not one of worker, switch"
    net = gadgetopt.Builder("forest_packing")
    ends = net.add_node("a"), net.add_node()
    net.add_edge(*ends, speed=1)
    said = "forest_packing: edge from node a to node 1: no field 'speed' (it has: bandwidth_gbyte"
    assert refused(net).startswith(said)
    net = gadgetopt.Builder("forest_packing", links=[])
    net.add_node()
    assert refused(net) == "forest_packing: links: given beside the graph"
    with pytest.raises(InputError, match="is no node of it, expected what its add_node returned"):
        net.add_edge(a, net.add_node())
    with pytest.raises(InputError, match="forest_packing: gpu0 is no node of it"):
        net.add_edge("gpu0", "gpu1")


def test_what_is_no_chain_of_layers_is_refused():
    def chain(*edges, nodes=3):
        net = gadgetopt.Builder("spp", num_microbatches=2, cluster={"gpus_per_machine": [2]})
        made = [net.add_node(fwd_time_s=1, bwd_time_s=1) for _ in range(nodes)]
        for u, v in edges:
            net.add_edge(made[u], made[v])
        return net

    assert refused(chain((0, 1), (0, 2))).endswith("two edges lead from it, expected a chain")
    assert refused(chain((0, 2), (1, 2))).endswith("two edges lead to it, expected a chain")
    assert refused(chain((0, 1))) == "spp: 2 chains of layers, expected one"
    assert refused(chain((0, 1), (1, 0))) == "spp: edges form a circle, expected a chain"


def test_operators_on_a_circle_and_of_one_name_are_refused():
    nodes = tuple(Node(k, name, {}) for k, name in enumerate("aba"))
    circle = Graph(nodes[:2], (Edge(nodes[0], nodes[1], {}), Edge(nodes[1], nodes[0], {})))
    with pytest.raises(InputError, match="node a: lies on a circle"):
        circle.in_order()
    with pytest.raises(InputError, match="node a: 2 nodes of this name"):
        Graph(nodes, ()).named()


# -- values from public standards ------------------------------------------------------------------


def test_bandwidths_of_standards_are_filled_in_and_named_in_the_origin():
    job_types = [{"replicas": [1], "stage_time_s": [1], "gradient_gbytes": [1]}]
    jobs = [{"job_type": 0, "num_iterations": 1}]
    mine = gadgetopt.instance("a_srpt", servers=[4, 8], job_types=job_types, jobs=jobs)
    # 100 Gbit/s are 12.5 GB/s; 16 lanes of 16 GT/s carry 128 of 130 bits, in bytes 252.06 / 8.
    assert mine.data.nic_bandwidth_gbytes_per_s == Fraction(25, 2)
    assert mine.data.intra_bandwidth_gbytes_per_s == Fraction(16 * 16 * 128, 130 * 8)
    assert mine.origin["sourced"] == {
        "intra_bandwidth_gbytes_per_s": "2048/65: PCI Express 4.0 x16 (PCI-SIG)",
        "nic_bandwidth_gbytes_per_s": "25/2: 100 Gbit/s Ethernet (IEEE 802.3)",
    }
    own = {"intra_bandwidth_gbytes_per_s": 300, "nic_bandwidth_gbytes_per_s": 50}
    told = gadgetopt.instance("a_srpt", servers=[4], job_types=job_types, jobs=jobs, **own)
    assert "sourced" not in told.origin
    like = gadgetopt.instance("a_srpt", servers=[8], jobs=jobs, like="quickstart")
    assert "sourced" not in like.origin


def test_the_physics_of_jobs_on_servers_is_filled_in_and_the_horizon_holds_all_jobs():
    jobs = [{"gpus": 2, "iterations": 10, "bwd_slots": 0.3}, {"gpus": 4, "iterations": 7}]
    mine = gadgetopt.instance("sjf_bco", jobs=jobs, servers=[2, 4])
    # Alone on one server an iteration takes 0.301 slots, three in a slot: four slots for ten; the
    # second job's takes 0.001 slots.
    assert mine.data.horizon_slots == 4 + 1
    assert mine.data.inter_bw_mb_per_slot == 12_500
    assert set(mine.origin["sourced"]) == {
        "horizon_slots", "inter_bw_mb_per_slot", "intra_bw_mb_per_slot", "gpu_reduce_mb_per_slot",
        "contention_coeff", "overhead_coeff",
    }  # fmt: skip
    assert mine.origin["sourced"]["horizon_slots"].startswith("5: all jobs one after another")
    own = gadgetopt.instance("sjf_bco", jobs=jobs, servers=[2, 4], inter_bw_mb_per_slot=1)
    assert own.data.inter_bw_mb_per_slot == 1
    assert "inter_bw_mb_per_slot" not in own.origin["sourced"]


def test_a_job_that_no_slot_holds_is_named_though_the_horizon_is_filled_in():
    with pytest.raises(InputError, match=r"jobs\[0\]: one iteration takes 1.501 slots "):
        gadgetopt.instance(
            "sjf_bco", jobs=[{"gpus": 1, "iterations": 1, "bwd_slots": 1.5}], servers=[2]
        )


@pytest.mark.parametrize(
    ("system", "rows", "names", "sourced"),
    [
        ("pd_ors", "jobs", ("bandwidth_internal_gbps", "bandwidth_external_gbps"), "jobs."),
        ("smd", "jobs", ("ps_bandwidth_gbps",), "jobs."),
        ("forest_packing", "links", ("bandwidth_gbyte_per_s",), "links."),
    ],
)
def test_records_of_a_list_are_filled_in_too(root, system, rows, names, sourced):
    path = root / "instances" / "quickstart" / f"{system}.json"
    fields = json.loads(path.read_text())["data"]
    kept = gadgetopt.instance(system, **fields)
    assert kept.fingerprint == gadgetopt.read(path).fingerprint
    assert "sourced" not in kept.origin
    for row in fields[rows]:
        for name in names:
            del row[name]
    mine = gadgetopt.instance(system, **fields)
    assert set(mine.origin["sourced"]) == {f"{sourced}{name}" for name in names}


def test_racks_and_servers_of_a_substrate_are_filled_in(root):
    path = root / "instances" / "quickstart" / "gadget.json"
    fields = json.loads(path.read_text())["data"]
    for server in fields["substrate"]["servers"]:
        del server["access_mbps"]
    for rack in fields["substrate"]["racks"]:
        del rack["uplink_mbps"]
    mine = gadgetopt.instance("gadget", **fields)
    assert {server.access_mbps for server in mine.data.substrate.servers} == {100_000}
    assert {rack.uplink_mbps for rack in mine.data.substrate.racks} == {400_000}
    assert set(mine.origin["sourced"]) == {
        "substrate.servers.access_mbps", "substrate.racks.uplink_mbps",
    }  # fmt: skip


def test_a_file_has_to_say_what_an_instance_of_one_s_own_may_leave_out(tmp_path, root):
    text = (root / "instances" / "quickstart" / "dapple.json").read_text()
    path = tmp_path / "d.json"
    path.write_text(text.replace('"inter_bytes_per_s"', '"inter"'))
    with pytest.raises(InputError, match="inter_bytes_per_s"):
        gadgetopt.read(path)


def test_servers_are_a_name_for_their_gpus_once():
    with pytest.raises(InputError, match="sjf_bco: servers and server_gpus: are one field"):
        gadgetopt.instance("sjf_bco", servers=[1], server_gpus=[2])
