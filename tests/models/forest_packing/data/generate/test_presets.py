"""Presets are repeatable, valid and distributed as stated, and make the library's files."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from gadgetopt.models.forest_packing.data.generate import presets as generate
from gadgetopt.models.forest_packing.data.generate.presets import (
    HARDWARE,
    MODEL_SIZE_GBYTE,
    clustered,
    hardware,
    paper,
    quickstart,
    random_digraph,
)
from gadgetopt.models.forest_packing.instance import ForestPackingInstance

LIBRARY = Path(__file__).parents[5] / "instances"

PRESETS: dict[str, Any] = {
    name: getattr(generate, name)
    for name in (
        *("quickstart", "paper", "hardware", "star", "fat_tree", "bcube", "dcell", "torus"),
        *("hypercube", "complete", "clustered", "random_digraph"),
    )
}
FILES = [
    *(
        path
        for folder in ("hardware", "networks", "subsets")
        for path in sorted((LIBRARY / "forest_packing" / folder).glob("*.json"))
    ),
    LIBRARY / "quickstart" / "forest_packing.json",
]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def bandwidths(instance: ForestPackingInstance) -> np.ndarray:
    return np.array([x.bandwidth_gbyte_per_s for x in instance.links])


def strongly_connected(instance: ForestPackingInstance) -> bool:
    network = instance.network
    n = network.num_nodes
    graph = coo_array((np.ones(len(network.arcs)), (network.tails, network.heads)), shape=(n, n))
    return int(connected_components(graph, connection="strong")[0]) == 1


@pytest.mark.parametrize("preset", PRESETS)
def test_same_seed_same_instance(preset: str) -> None:
    make = PRESETS[preset]
    assert make(rng(3), contention=0.5) == make(rng(3), contention=0.5)
    assert make(rng(3), contention=0.5) != make(rng(4), contention=0.5)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seed", range(5))
def test_every_seed_gives_a_connected_instance_of_short_decimals(preset: str, seed: int) -> None:
    instance = PRESETS[preset](rng(seed), contention=0.1)
    assert strongly_connected(instance)
    assert all(round(b, 2) == b > 0 for b in bandwidths(instance))


@pytest.mark.parametrize("preset", PRESETS)
def test_contention_leaves_each_link_a_part_of_its_bandwidth(preset: str) -> None:
    alone, shared = (PRESETS[preset](rng(1), contention=c) for c in (1.0, 0.25))
    left = bandwidths(shared) / bandwidths(alone)
    assert [(x.src, x.dst) for x in shared.links] == [(x.src, x.dst) for x in alone.links]
    # Bandwidths of 1 GB/s are rounded by up to half a percent.
    assert 0.245 <= left.min() < left.max() <= 1.005


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_library_files_are_what_the_presets_make(path: Path) -> None:
    document = json.loads(path.read_text())
    origin = document["origin"]
    preset = PRESETS[origin["generator"]]
    parameters = {k for k in inspect.signature(preset).parameters if k != "rng"}
    assert set(origin["parameters"]) == parameters
    made = preset(rng([origin["seed"], origin["index"]]), **origin["parameters"])
    assert made == ForestPackingInstance.model_validate_json(json.dumps(document["data"]))
    assert document["name"] == path.stem


def test_overlays_have_the_stated_distributions() -> None:
    uniform = bandwidths(paper(rng(), workers=64))
    assert uniform.min() == 1
    assert uniform.max() == 100
    assert np.mean(uniform) == pytest.approx(50.5, rel=0.05)
    lognormal = bandwidths(paper(rng(), workers=64, distribution="lognormal"))
    assert np.median(lognormal) == pytest.approx(20, rel=0.1)
    assert np.log(lognormal).std() == pytest.approx(1, rel=0.1)
    two_level = bandwidths(paper(rng(), workers=64, distribution="two_level"))
    assert set(two_level) == {1.0, 20.0}
    assert np.mean(two_level == 1) == pytest.approx(0.2, rel=0.15)


def test_overlays_are_complete_and_symmetric_on_request() -> None:
    assert paper(rng(), workers=6).network.symmetric
    one_way = paper(rng(), workers=6, symmetric=False)
    assert not one_way.network.symmetric
    assert len(one_way.network.arcs) == len(paper(rng(), workers=6).network.arcs) == 30


@pytest.mark.parametrize("model", MODEL_SIZE_GBYTE)
def test_models_give_the_data_to_synchronise(model: str) -> None:
    assert paper(rng(), model=model).model_size_gbyte == MODEL_SIZE_GBYTE[model]


@pytest.mark.parametrize("topology", HARDWARE)
def test_hardware_has_its_topology(topology: str) -> None:
    build, several = HARDWARE[topology]
    instance = hardware(rng(), topology=topology, boxes=2 if several else 1)
    assert instance == (build(2) if several else build()).instance()


def test_a_partial_allocation_keeps_nvlinks_among_its_gpus_only() -> None:
    instance = hardware(rng(), gpus="0,1,4")
    assert instance.workers == (0, 1, 4)
    assert {(x.src, x.dst) for x in instance.links} == {(0, 1), (0, 4)}


def test_clusters_are_fast_inside_and_joined_by_slow_cables() -> None:
    instance = clustered(rng(), clusters=3, cluster_workers=5)
    for x in instance.links:
        inside = x.src // 5 == x.dst // 5
        assert 50 <= x.bandwidth_gbyte_per_s <= 100 if inside else x.bandwidth_gbyte_per_s <= 10
    assert not clustered(rng(), symmetric=False).network.symmetric


def test_random_digraphs_are_directed_and_may_have_switches() -> None:
    instance = random_digraph(rng(), workers=4, switches=2)
    assert (instance.workers, instance.switches) == ((0, 1, 2, 3), (4, 5))
    assert not instance.network.symmetric


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (paper, {"distribution": "normal"}, "distribution: 'normal', expected one of uniform, lo"),
        (paper, {"model": "gpt5"}, "model: 'gpt5', expected one of unit, resnet50"),
        (paper, {"contention": 0.0}, "contention: 0.0, expected above 0 and at most 1"),
        (paper, {"contention": 1.5}, "contention: 1.5, expected above 0 and at most 1"),
        (hardware, {"topology": "cray"}, "topology: 'cray', expected one of dgx1_v100"),
        (hardware, {"boxes": 2}, "boxes: 2, expected 1 for dgx1_v100"),
        (hardware, {"gpus": "0;1"}, "gpus: '0;1', expected numbers such as 1,2,4"),
        (hardware, {"gpus": "0,9"}, "gpus: 9 is not a GPU, expected numbers up to 7"),
        (generate.torus, {"dims": "4,4"}, "dims: '4,4', expected numbers such as 1x2x4"),
        (clustered, {"clusters": 0}, "clusters, cluster_workers: expected 1 or more"),
    ],
)
def test_a_bad_parameter_is_refused_in_one_sentence(make, parameters, message) -> None:
    with pytest.raises(ValueError, match=message):
        make(rng(), **parameters)


def test_quickstart_is_heterogeneous() -> None:
    instance = quickstart(rng())
    assert len(set(bandwidths(instance))) > 5
