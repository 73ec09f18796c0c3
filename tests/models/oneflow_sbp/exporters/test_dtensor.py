"""Plans as DTensor placements: they read back, refuse what DTensor lacks, and run on four ranks."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.oneflow_sbp.baselines import strategies
from gadgetopt.models.oneflow_sbp.data.generate import networks
from gadgetopt.models.oneflow_sbp.data.generate.presets import costs_of, instance_of
from gadgetopt.models.oneflow_sbp.evaluate import evaluate
from gadgetopt.models.oneflow_sbp.exporters.dtensor import read_back, write
from gadgetopt.models.oneflow_sbp.instance import OneFlowSbpInstance, OneFlowSbpSolution
from gadgetopt.pieces.exporting import Exported
from gadgetopt.system.files import library, read_instance

#: Ranks, and how long all plans may take on them.
WORLD, LIMIT_S = 4, 600


def perceptron(devices="4"):
    return instance_of(networks.perceptron([12, 16, 4], 8), [devices], costs_of("oneflow", 0.05))


def transformer(devices="4"):
    graph = networks.transformer(1, 16, 4, 8, 8, words=0)
    return instance_of(graph, [devices], costs_of("oneflow", 0.05))


def small(**changes):
    """Two matrices and their product on two devices."""
    fields = {
        "placements": [{"name": "g", "hierarchy": [2]}],
        "operators": [
            {"name": "x", "kind": "source", "shape": [4, 6], "placement": "g"},
            {"name": "w", "kind": "variable", "shape": [6, 8], "placement": "g"},
            {
                "name": "y",
                "kind": "matmul",
                "inputs": ["x", "w"],
                "shape": [4, 8],
                "placement": "g",
            },
        ],
        **changes,
    }
    return OneFlowSbpInstance.model_validate_json(json.dumps(fields))


def plan_of(instance, *texts):
    """Return the plan of signatures given as texts."""
    lists = zip(instance.tables.signatures, texts, strict=True)
    return OneFlowSbpSolution(signature=tuple(list(map(str, k)).index(text) for k, text in lists))


def test_placements_are_written_as_dtensor_prints_them():
    instance = small()
    plan = plan_of(instance, "() -> B", "() -> S0", "(S1, S0) -> P")
    exported = write(instance, plan)
    document = json.loads(exported.text(".json"))
    assert document["mesh_shape"] == [2]
    assert document["nodes"]["y"]["inputs"] == [["S(1)"], ["S(0)"]]
    assert document["nodes"]["y"]["output"] == ["P"]
    text = exported.text(".py")
    assert "held(out['x'], Shard(1))" in text
    assert "[Partial()]" in text
    assert read_back(instance, exported) == plan


def test_conversions_into_partial_are_refused():
    instance = small(
        operators=[
            {"name": "x", "kind": "source", "shape": [4, 6], "placement": "g"},
            {"name": "y", "kind": "scale", "inputs": ["x"], "shape": [4, 6], "placement": "g"},
        ]
    )
    plan = plan_of(instance, "() -> B", "(P) -> P")
    assert evaluate(instance, plan).objective is not None
    with pytest.raises(InputError, match="x to input 0 of y: turns B into P, which DTensor does"):
        write(instance, plan)


def test_several_groups_are_refused():
    instance = read_instance(library() / "oneflow_sbp" / "tiny" / "two_groups.json").data
    plan = OneFlowSbpSolution(signature=(0,) * len(instance.operators))
    with pytest.raises(InputError, match="2 groups of devices, but a DTensor has one mesh;"):
        write(instance, plan)


def test_uneven_axes_are_named():
    instance = small(operators=[{"name": "x", "kind": "source", "shape": [5, 6], "placement": "g"}])
    notes = write(instance, plan_of(instance, "() -> S0")).notes
    assert notes == (
        "x has an axis that does not divide (such tensors: 1): DTensor makes the last slices "
        "smaller or empty, the costs here count even ones",
    )
    assert write(instance, plan_of(instance, "() -> B")).notes == ()


def test_kinds_without_text_have_no_python_file():
    instance = small(
        operators=[
            {
                "name": "x",
                "kind": "custom",
                "shape": [4],
                "placement": "g",
                "signatures": [{"inputs": [], "output": "B"}],
            }
        ]
    )
    exported = write(instance, OneFlowSbpSolution(signature=(0,)))
    assert list(exported.files) == [".json"]
    assert exported.notes == ("no Python file: operators of the kinds custom have no text",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("dtensor/1", "dtensor/2", "format: expected 'dtensor/1'"),
        ('"mesh_shape": [2]', '"mesh_shape": [4]', "mesh_shape: [4], expected [2]"),
        ('"y"', '"z"', "nodes: 'z' is no operator of the instance"),
        ('"output": ["P"]', '"output": ["R"]', "but signature 2 is (S1, S0) -> P"),
        ('"output": ["P"]', '"output": ["Q"]', "nodes['y'].output: 'Q', expected S(0), R or P"),
        ('"output": ["P"]', '"output": "P"', "nodes['y'].output: 'P', expected a list"),
        ('"signature": 2', '"signature": 99', "is no signature of this operator"),
        ('"signature": 2', '"signature": true', "is no signature of this operator"),
    ],
)
def test_a_file_that_says_something_else_is_refused(old, new, message):
    instance = small()
    plan = plan_of(instance, "() -> B", "() -> S0", "(S1, S0) -> P")
    text = write(instance, plan).text(".json")
    assert old in text
    with pytest.raises(InputError) as caught:
        read_back(instance, Exported({".json": text.replace(old, new)}))
    assert message in str(caught.value)


def test_a_file_without_numbers_is_read_by_its_labels():
    instance = small()
    plan = plan_of(instance, "() -> B", "() -> S0", "(S1, S0) -> P")
    document = json.loads(write(instance, plan).text(".json"))
    for node in document["nodes"].values():
        del node["signature"]
    assert read_back(instance, Exported({".json": json.dumps(document)})) == plan


# -- on four ranks -----------------------------------------------------------------------------


def plans():
    """Yield plans by name: strategies of the literature, and random ones, on a line and a grid."""
    rng = np.random.default_rng(0)
    for where in ("4", "2x2"):
        instance = perceptron(where)
        for strategy in (strategies.data_parallel, strategies.megatron):
            yield f"perceptron {strategy.__name__} {where}", instance, strategy(instance).solution
        yield f"perceptron random {where}", instance, runnable(instance, rng)
    instance = transformer("2x2")
    yield "transformer megatron 2x2", instance, strategies.megatron(instance).solution
    yield "transformer random 2x2", instance, runnable(instance, rng)


def runnable(instance, rng):
    """Return a random plan without conversions into P."""
    signatures = instance.tables.signatures
    for _ in range(10_000):
        plan = OneFlowSbpSolution(signature=tuple(int(rng.integers(len(k))) for k in signatures))
        plan = without_partial_inputs(instance, plan, rng)
        try:
            write(instance, plan)
        except InputError:
            continue
        return plan
    raise AssertionError("no plan was found")


def without_partial_inputs(instance, plan, rng):
    """Draw the signatures of operators that want P again until they do not."""

    def drawn(signatures, k):
        while any("P" in label for label in signatures[k].inputs):
            k = int(rng.integers(len(signatures)))
        return k

    lists = zip(instance.tables.signatures, plan.signature, strict=True)
    return OneFlowSbpSolution(signature=tuple(drawn(signatures, k) for signatures, k in lists))


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_plans_run_on_four_ranks_as_on_one_device(tmp_path):
    """Every output of every operator, to 1e-12; and DTensor itself agrees where it computes."""
    names, paths = [], []
    for k, (name, instance, plan) in enumerate(plans()):
        names.append(name)
        paths.append(tmp_path / f"plan{k}.py")
        paths[-1].write_text(write(instance, plan).text(".py"))
    ranks = str(Path(__file__).with_name("ranks.py"))
    done = subprocess.run(
        [sys.executable, ranks, str(WORLD), str(tmp_path / "rendezvous"), *map(str, paths)],
        check=False,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for name, found in zip(names, json.loads(done.stdout), strict=True):
        assert found["error"] <= 1e-12, (name, found)
        assert found["native_error"] <= 1e-12, (name, found)
        assert found["as_planned"] > 0, (name, found)
