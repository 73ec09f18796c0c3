"""Dumps of AutoParallel: their optimum is that of enumeration and of AutoParallel's own program."""

import itertools
import json
import math
import pickle
import random
import runpy
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

import gadgetopt
from gadgetopt.errors import InputError

#: Two devices. Data is split by samples, and 4 bytes hold half of the weights only.
FOUR_NODES = {
    "format": "autoparallel/1",
    "mesh_shape": [2],
    "nodes": [
        {
            "name": "x",
            "op": "primals",
            "inputs": [],
            "strategies": [
                {"output": "R", "inputs": [], "compute_us": 0},
                {"output": "S(0)", "inputs": [], "compute_us": 0},
            ],
        },
        {
            "name": "w",
            "op": "primals",
            "inputs": [],
            "strategies": [
                {"output": "R", "inputs": [], "compute_us": 0, "memory_bytes": 8},
                {"output": "S(1)", "inputs": [], "compute_us": 0, "memory_bytes": 4},
            ],
        },
        {
            "name": "mm",
            "op": "aten.mm.default",
            "inputs": ["x", "w"],
            "strategies": [
                {"output": "S(0)", "inputs": ["S(0)", "R"], "compute_us": 10},
                {"output": "S(1)", "inputs": ["R", "S(1)"], "compute_us": 10},
                {"output": "R", "inputs": ["R", "R"], "compute_us": 20},
            ],
        },
        {
            "name": "loss",
            "op": "aten.sum.default",
            "inputs": ["mm"],
            "strategies": [
                {"output": "R", "inputs": ["R"], "compute_us": 1},
                {"output": "P(sum)", "inputs": ["S(0)"], "compute_us": 1},
            ],
        },
    ],
    "edges": [
        {"node": "mm", "arg": 0, "cost_us": [[0, 0, 0], [0, 6, 6]]},
        {"node": "mm", "arg": 1, "cost_us": [[0, 0, 0], [4, 0, 4]]},
        {"node": "loss", "arg": 0, "cost_us": [[7, 0], [7, 3], [0, None]]},
    ],
    "pins": {"x": "S(0)"},
}


def written(tmp_path, dump):
    path = tmp_path / "dump.json"
    path.write_text(json.dumps(dump))
    return path


def imported(tmp_path, dump, **options):
    return gadgetopt.import_("autoparallel", written(tmp_path, dump), **options)[0]


def solved(document, method=None):
    result = gadgetopt.solve(document, method) if method else gadgetopt.solve(document)
    assert result.status in ("optimal", "infeasible"), result.status
    return result


# -- by hand -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("memory", "optimum"), [(None, 11), (4, 15), (3, None)])
def test_four_nodes_by_hand(tmp_path, memory, optimum):
    """Free: samples, 10 + 1. With 4 bytes the weights are gathered for 4, else x for 6."""
    dump = FOUR_NODES | ({} if memory is None else {"memory": {"limit_bytes": memory}})
    document = imported(tmp_path, dump)
    for method in ("branch_and_bound", "aggregated@highs", "pairwise@highs", "cp_labels"):
        result = solved(document, method)
        if optimum is None:
            assert result.status == "infeasible"
        else:
            assert result.objective == pytest.approx(optimum / 10**6, rel=1e-12)
    if optimum is not None:
        result = solved(document)
        assert result.objective == Fraction(optimum, 10**6)
        assert result.bound_voucher == "verified"
        assert result.solution.signature == (1, 0 if memory is None else 1, 0, 1)


def test_the_hand_checked_instance_is_this_dump(tmp_path, root):
    document = imported(tmp_path, FOUR_NODES | {"memory": {"limit_bytes": 4}})
    kept = gadgetopt.read(root / "instances" / "oneflow_sbp" / "tiny" / "listed_tables.json")
    assert kept.data == document.data


def test_the_plan_is_written_as_placements_and_read_back(tmp_path):
    document = imported(tmp_path, FOUR_NODES)
    result = solved(document)
    gadgetopt.export(document, result.solution, tmp_path / "plan.json", format="dtensor")
    nodes = json.loads((tmp_path / "plan.json").read_text())["nodes"]
    assert nodes["mm"] == {"output": ["S(0)"], "inputs": [["S(0)"], ["R"]], "signature": 0}


# -- random dumps against enumeration ----------------------------------------------------------


def random_dump(seed):
    """Return a small dump with everything that the format has."""
    rng = random.Random(seed)
    mesh = rng.choice([[2], [4], [2, 2]])

    def placements():
        return "".join(rng.choice(["S(0)", "S(1)", "R", "P"]) for _ in mesh)

    def cost():
        return rng.choice([0, rng.randint(1, 400), rng.uniform(0, 300)])

    nodes, edges = [], []
    for n in range(rng.randint(3, 6)):
        inputs = [f"n{rng.randrange(n)}" for _ in range(rng.choice([1, 1, 2, 3]))] if n else []
        strategies = [
            {
                "output": placements(),
                "inputs": [placements() for _ in inputs],
                "compute_us": cost(),
                "memory_bytes": rng.randint(0, 50),
            }
            for _ in range(rng.choice([2, 2, 3]))
        ]
        for a, name in enumerate(inputs):
            rows = len(nodes[int(name[1:])]["strategies"])
            table = [
                [None if rng.random() < 0.15 else cost() for _ in strategies] for _ in range(rows)
            ]
            edges.append({"node": f"n{n}", "arg": a, "cost_us": table})
        nodes.append({"name": f"n{n}", "op": "op", "inputs": inputs, "strategies": strategies})
    dump = {"format": "autoparallel/1", "mesh_shape": mesh, "nodes": nodes, "edges": edges}
    if rng.random() < 0.4:
        node = rng.choice(nodes)
        dump["pins"] = {node["name"]: rng.choice(node["strategies"])["output"]}
    if rng.random() < 0.3:
        dump["ties"] = [[node["name"] for node in rng.sample(nodes, 2)]]
    if rng.random() < 0.5:
        dump["memory"] = {"limit_bytes": rng.randint(20 * len(nodes), 40 * len(nodes))}
    return dump


def enumerated(dump):
    """Return the least cost of a dump in microseconds, read from it alone, or None."""
    nodes = {node["name"]: n for n, node in enumerate(dump["nodes"])}
    strategies = [node["strategies"] for node in dump["nodes"]]
    alike = [[nodes[x] for x in group] for group in dump.get("clusters", ())]
    alike += [
        [nodes[a], nodes[b]]
        for group in dump.get("clusters", ())
        for x in group[1:]
        for a, b in zip(*(dump["nodes"][nodes[y]]["inputs"] for y in (group[0], x)), strict=False)
    ]
    best = None
    for chosen in itertools.product(*(range(len(of)) for of in strategies)):
        taken = [of[k] for of, k in zip(strategies, chosen, strict=True)]
        if any(len({chosen[n] for n in group}) > 1 for group in alike):
            continue
        if any(taken[nodes[x]]["output"] != text for x, text in dump.get("pins", {}).items()):
            continue
        if any(len({taken[nodes[x]]["output"] for x in p}) > 1 for p in dump.get("ties", ())):
            continue
        if "memory" in dump:
            used = sum(strategy["memory_bytes"] for strategy in taken)
            if used > dump["memory"]["limit_bytes"]:
                continue
        parts = [Fraction(repr(strategy["compute_us"])) for strategy in taken]
        for edge in dump["edges"]:
            n = nodes[edge["node"]]
            producer = nodes[dump["nodes"][n]["inputs"][edge["arg"]]]
            cost = edge["cost_us"][chosen[producer]][chosen[n]]
            parts.append(None if cost is None else Fraction(repr(cost)))
        if None not in parts and (best is None or sum(parts) < best):
            best = sum(parts)
    return best


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_the_optimum_is_that_of_enumeration_and_proved(tmp_path, first):
    for seed in range(first, first + 20):
        dump = random_dump(seed)
        optimum = enumerated(dump)
        document = imported(tmp_path, dump)
        result = solved(document)
        if optimum is None:
            assert result.status == "infeasible", seed
            continue
        assert result.objective == optimum / 10**6, seed
        # With a limit of memory a slow machine may ask CP-SAT, whose word it is then.
        if "memory" not in dump:
            assert result.bound_voucher == "verified", seed


@pytest.mark.parametrize("method", ["aggregated@highs", "pairwise@highs", "cp_labels"])
def test_formulations_and_solvers_agree(tmp_path, method):
    for seed in range(8):
        dump = random_dump(seed)
        optimum = enumerated(dump)
        result = solved(imported(tmp_path, dump), method)
        if optimum is None:
            assert result.status == "infeasible", seed
        else:
            assert float(result.objective) == pytest.approx(float(optimum) / 10**6, rel=1e-6), seed


# -- the script, and AutoParallel's own program ------------------------------------------------


class Spec:
    """A tensor placed on a mesh, as PyTorch describes it."""

    def __init__(self, text, shape=(8, 6)):
        self.placements = [
            SimpleNamespace(
                dim=int(part[2]) if part[0] == "S" else None,
                is_shard=lambda part=part: part[0] == "S",
                is_partial=lambda part=part: part == "P",
            )
            for part in text.replace("S", " S").replace("R", " R").replace("P", " P").split()
        ]
        self.tensor_meta = SimpleNamespace(shape=shape, dtype=SimpleNamespace(itemsize=4))


class Node:
    """A node of the program; nodes are keys of dictionaries."""

    target = "op"

    def __init__(self, name, op):
        self.name, self.op = name, op


class Optimizer:
    """What the script reads of AutoParallel's optimizer: two layers of a random network.

    The nodes of the second layer are linked to those of the first, whose variables they share.
    """

    def __init__(self, seed, linked):
        rng = random.Random(seed)
        # Data, weights of the first layer, its product; those of the second; the output.
        inputs = [[], [], [0, 1], [], [2, 3], [4]]
        number_of = [3, 2, 3, 2, 3, 2]
        self.mesh = SimpleNamespace(shape=(2,))
        self.inputs, self.strats, self.node_map = inputs, {}, {}
        for n, its in enumerate(inputs):
            node = Node(f"n{n}", "call_function" if its else "placeholder")
            strategies = [
                SimpleNamespace(
                    output_specs=Spec(rng.choice(["S(0)", "S(1)", "R", "P"])),
                    input_specs=[Spec(rng.choice(["S(0)", "R"])) for _ in its or [0]],
                )
                for _ in range(number_of[n])
            ]
            self.node_map[node] = n
            self.strats[node] = SimpleNamespace(strategies=strategies)
        self.cluster_links, self.decision_vars = {}, {}
        roots = {3: 1, 4: 2} if linked else {}
        for n, its in enumerate(inputs):
            for o in range(number_of[n]):
                compute = rng.uniform(0, 50) / len(its or [0])
                for a, count in enumerate([number_of[u] for u in its] or [1]):
                    for j in range(count):
                        key = (n, a, o, j)
                        if n in roots:
                            self.cluster_links[key] = (roots[n], a, o, j)
                            continue
                        moved = rng.choice([0.0, rng.uniform(0, 90), math.inf if its else 0.0])
                        self.decision_vars[key] = SimpleNamespace(
                            compute_cost=compute, comm_cost=moved, sharding_transition_cost=a
                        )

    def _all_input_nodes(self, node):
        return [list(self.strats)[u] for u in self.inputs[self.node_map[node]]]

    def optimum(self):
        """Return the optimum of AutoParallel's program: a variable for every (i, a, o, j)."""
        keys = [*self.decision_vars, *self.cluster_links]
        root = {key: self.cluster_links.get(key, key) for key in keys}
        column = {key: i for i, key in enumerate(self.decision_vars)}
        cost, upper = np.zeros(len(column)), np.ones(len(column))
        for key in keys:
            found = self.decision_vars[root[key]]
            moved = found.comm_cost + found.sharding_transition_cost
            if math.isinf(moved):
                upper[column[root[key]]] = 0
            else:
                cost[column[root[key]]] += moved + found.compute_cost
        rows, right = [], []

        def equal(plus, minus=(), value=0):
            row = np.zeros(len(column))
            for key in plus:
                row[column[root[key]]] += 1
            for key in minus:
                row[column[root[key]]] -= 1
            rows.append(row)
            right.append(value)

        for n, its in enumerate(self.inputs):
            mine = [key for key in keys if key[0] == n]
            strategies = sorted({key[2] for key in mine})
            for a in range(len(its or [0])):
                equal([key for key in mine if key[1] == a], value=1)
                for o in strategies:
                    first, other = (
                        [key for key in mine if key[1] == b and key[2] == o] for b in (0, a)
                    )
                    equal(first, other)
            for a, u in enumerate(its):
                for o in sorted({key[2] for key in keys if key[0] == u}):
                    produced = [key for key in keys if key[:3] == (u, 0, o)]
                    equal(produced, [key for key in mine if key[1] == a and key[3] == o])
        found = milp(
            cost,
            integrality=np.ones(len(column)),
            bounds=Bounds(0, upper),
            constraints=LinearConstraint(np.array(rows), right, right),
        )
        return found.fun if found.success else None


@pytest.mark.parametrize("linked", [False, True])
def test_the_script_dumps_the_problem_that_autoparallel_solves(tmp_path, root, linked):
    dump = runpy.run_path(str(root / "docs" / "autoparallel_dump.py"))["dump"]
    feasible = 0
    for seed in range(25):
        optimizer = Optimizer(seed, linked)
        path = tmp_path / "dump.json"
        dump(optimizer, path, ties=[], parameters={"n1", "n3"})
        optimum = optimizer.optimum()
        result = solved(gadgetopt.import_("autoparallel", path)[0])
        least = enumerated(json.loads(path.read_text()))
        if optimum is None:
            assert (result.status, least) == ("infeasible", None), seed
            continue
        feasible += 1
        assert float(least) == pytest.approx(optimum, rel=1e-9), seed
        assert float(result.objective) == pytest.approx(optimum / 10**6, rel=1e-9), seed
    assert feasible > 10


def test_without_clusters_copies_may_differ(tmp_path, root):
    dump = runpy.run_path(str(root / "docs" / "autoparallel_dump.py"))["dump"]
    cheaper = 0
    for seed in range(10):
        path = tmp_path / "dump.json"
        dump(Optimizer(seed, True), path, ties=[], parameters=())
        shared, free = (
            solved(gadgetopt.import_("autoparallel", path, clusters=c)[0]) for c in (True, False)
        )
        if shared.objective is not None:
            assert free.objective <= shared.objective
            cheaper += free.objective < shared.objective
    assert cheaper


def test_the_script_counts_the_bytes_of_parameters(tmp_path, root):
    dump = runpy.run_path(str(root / "docs" / "autoparallel_dump.py"))["dump"]
    path = tmp_path / "dump.json"
    dump(Optimizer(1, False), path, ties=[], parameters={"n1"}, limit_bytes=100)
    nodes = json.loads(path.read_text())["nodes"]
    expected = {"S": 4 * 8 * 6 // 2, "R": 4 * 8 * 6, "P": 4 * 8 * 6}
    for strategy in nodes[1]["strategies"]:
        assert strategy["memory_bytes"] == expected[strategy["output"][0]]
    assert {s["memory_bytes"] for s in nodes[2]["strategies"]} == {0}


# -- malformed dumps ---------------------------------------------------------------------------


def changed(path, value):
    """Return the dump with what is at a path of keys replaced."""
    dump = json.loads(json.dumps(FOUR_NODES))
    place = dump
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return dump


MALFORMED = [
    (("format",), "autoparallel/2", "format: \"autoparallel/2\": input should be 'autoparallel/1'"),
    (("mesh_shape",), [2, 2, 2], "mesh_shape: 3 dimensions, expected 1 or 2"),
    (("mesh_shape",), [0], "mesh_shape[0]: 0 is not a positive integer"),
    (("clusters",), [["x", "v"]], "clusters[0]: 'v' is not a node"),
    (("clusters",), [["x", "mm"]], "clusters: mm has 3 strategies, expected 2 as x, with which "),
    (("ties",), [["x", "v"]], "ties[0]: 'v' is not a node"),
    (("pins",), {"v": "R"}, "pins: 'v' is not a node"),
    (("pins",), {"x": "P"}, "pins.x: 'P', expected the output of one of its strategies"),
    (("pins",), {"x": "S0"}, "pins.x: 'S0', expected S(i), R or P for each dimension of the mesh"),
    (("memory",), {"limit_bytes": 0}, "memory.limit_bytes: 0 is not a positive integer"),
    (("memory",), {"limit": 9}, "memory.limit_bytes: missing"),
    (("nodes", 1, "name"), "x", "nodes[1].name: 'x' occurs twice"),
    (("nodes", 2, "inputs", 0), "loss", "nodes[2].inputs[0]: 'loss' is not a node listed before"),
    (("nodes", 0, "strategies"), [], "nodes[0].strategies: [] has fewer than 1 entries"),
    (
        ("nodes", 3, "strategies", 0, "inputs"),
        [],
        "nodes[3].strategies[0].inputs: 0 placements, expected 1, one for each input of loss",
    ),
    (
        ("nodes", 3, "strategies", 0, "output"),
        "RR",
        "nodes[3].strategies[0].output: 'RR', expected S(i), R or P for each dimension",
    ),
    (
        ("nodes", 3, "strategies", 0, "compute_us"),
        -1,
        "nodes[3].strategies[0].compute_us: -1 is below the least allowed, 0",
    ),
    (
        ("nodes", 3, "strategies", 0, "compute_us"),
        "fast",
        'nodes[3].strategies[0].compute_us: "fast" is not a number',
    ),
    (
        ("nodes", 3, "strategies", 0, "memory_bytes"),
        1.5,
        "nodes[3].strategies[0].memory_bytes: 1.5 is not an integer",
    ),
    (("nodes", 3, "cost"), 1, "nodes[3].cost: unknown field"),
    (("edges", 2, "node"), "v", "edges[2].node: 'v' is not a node"),
    (("edges", 2, "arg"), 1, "edges[2].arg: 1, but loss has 1 inputs"),
    (("edges", 1, "arg"), 0, "edges[1]: a second table of input 0 of mm"),
    (
        ("edges", 0, "cost_us"),
        [[0, 0, 0]],
        "edges[0].cost_us: 1 rows, expected 2, one for each strategy of x",
    ),
    (
        ("edges", 0, "cost_us", 1),
        [0, 0],
        "edges[0].cost_us[1]: 2 costs, expected 3, one for each strategy of mm",
    ),
    (
        ("edges", 0, "cost_us", 1, 2),
        "cheap",
        'edges[0].cost_us[1][2]: "cheap" is not a number',
    ),
    (("edges",), [], "edges: none for input 0 of mm"),
    (("nodes",), None, "nodes: null is not an array"),
]


@pytest.mark.parametrize(("path", "value", "line"), MALFORMED)
def test_a_malformed_dump_is_one_line(tmp_path, path, value, line):
    file = written(tmp_path, changed(path, value))
    with pytest.raises(InputError) as caught:
        gadgetopt.import_("autoparallel", file)
    assert str(caught.value).startswith(f"{file}: {line}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "is not JSON"),
        (b"[]", "is no JSON object, expected the keys of autoparallel/1"),
        (b'{"format": Infinity}', "is not JSON: Infinity is no number"),
        (pickle.dumps({"version": 1}), "is not "),
    ],
)
def test_what_is_no_dump_is_one_line(tmp_path, content, line):
    file = tmp_path / "dump.json"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        gadgetopt.import_("autoparallel", file)
    assert str(caught.value).startswith(f"{file}: {line}")
    assert "\n" not in str(caught.value)
