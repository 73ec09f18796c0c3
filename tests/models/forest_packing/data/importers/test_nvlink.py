"""What a matrix of NVLinks means: read where it is the only way, asked where it is not."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.forest_packing.data.importers.nvidia_topo import nvidia_topo
from gadgetopt.models.forest_packing.data.importers.nvlink import (
    GPUS,
    find_gpu,
    groups_of,
)
from gadgetopt.models.forest_packing.instance import ForestPackingInstance
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem


def rate(instance: ForestPackingInstance) -> float:
    """Return the optimum in GB/s."""
    result = gadgetopt.solve(Document(problem("forest_packing"), "instance", "box", instance, {}))
    assert result.status == "optimal"
    return float(result.objective)


def matrix(gpus: int, cells: dict[tuple[int, int], str], other: str = "SYS") -> str:
    """Return a listing with these cells above the diagonal."""
    lines = ["\t" + "\t".join(f"GPU{g}" for g in range(gpus)) + "\tCPU Affinity"]
    for g in range(gpus):
        row = ["X" if g == h else cells.get((min(g, h), max(g, h)), other) for h in range(gpus)]
        lines.append("\t".join([f"GPU{g}", *row, "0-31"]))
    return "\n".join(lines) + "\n"


def even(gpus: int, count: int) -> str:
    return matrix(gpus, dict.fromkeys(itertools.combinations(range(gpus), 2), f"NV{count}"))


def details(tmp_path: Path, text: str, **options) -> tuple[ForestPackingInstance, dict]:
    path = tmp_path / "box.txt"
    path.write_text(text)
    outcome = nvidia_topo([path], np.random.default_rng(0), **options)
    return outcome.instances[0][1], outcome.report["instances"][0]


def read(tmp_path: Path, text: str, **options) -> ForestPackingInstance:
    return details(tmp_path, text, **options)[0]


def question(tmp_path: Path, text: str, **options) -> str:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def bandwidths(instance: ForestPackingInstance) -> set[float]:
    return {link.bandwidth_gbyte_per_s for link in instance.links}


def test_four_even_rows_are_a_slice_of_a_switch_box_or_a_mesh(tmp_path) -> None:
    # NV6 in every cell: a quarter of a DGX-2 (6 links to the switches), or four H100 with 3 x 6
    # links to each other.
    asked = question(tmp_path, even(4, 6))
    for words in (
        "NV6 in every cell",
        "a switch of v100 (25 GB/s a link)",
        "a mesh of h100",
        "--set gpu=v100 or gpu=h100",
        "--set fabric=switch or fabric=mesh",
    ):
        assert words in asked


@pytest.mark.parametrize("options", [{"gpu": "v100"}, {"fabric": "switch"}])
def test_a_slice_of_a_switch_box(tmp_path, options) -> None:
    instance = read(tmp_path, even(4, 6), **options)
    assert (instance.switches, bandwidths(instance)) == ((4,), {150.0})
    assert rate(instance) == 100  # 4 x 150 / (2 x 3)


@pytest.mark.parametrize("options", [{"gpu": "h100"}, {"fabric": "mesh"}])
def test_a_mesh_of_four(tmp_path, options) -> None:
    instance = read(tmp_path, even(4, 6), **options)
    assert (instance.switches, bandwidths(instance)) == ((), {150.0})
    assert rate(instance) == 300  # 450 of each GPU x 4 / (2 x 3)


def test_blackwell_has_links_of_twice_the_speed(tmp_path) -> None:
    asked = question(tmp_path, even(4, 18))
    assert "--set gpu=h100 or gpu=b200, or --set link_gbyte_per_s=..." in asked
    assert "fabric=" not in asked  # 54 links in a row are a switch's
    assert bandwidths(read(tmp_path, even(4, 18), gpu="gb200")) == {900.0}
    assert bandwidths(read(tmp_path, even(4, 18), gpu="h100")) == {450.0}
    assert bandwidths(read(tmp_path, even(4, 18), link_gbyte_per_s=53)) == {954.0}
    # The board GB200 NVL4 is a mesh; who names it gets it.
    assert bandwidths(read(tmp_path, even(4, 6), gpu="gb200")) == {300.0}


def test_bridges_of_workstation_cards_are_slower(tmp_path) -> None:
    pairs = matrix(4, {(0, 1): "NV4", (2, 3): "NV4"})
    assert "a40, a5000, a6000, rtx3090 (14.0625 GB/s a link)" in question(tmp_path, pairs)
    assert bandwidths(read(tmp_path, pairs, gpu="A6000")) == {56.25}
    assert bandwidths(read(tmp_path, pairs, gpu="RTX 3090")) == {56.25}
    assert bandwidths(read(tmp_path, pairs, gpu="a30")) == {100.0}
    # Four links to each of three others are more than such a card has.
    assert bandwidths(read(tmp_path, even(4, 4))) == {100.0}


@pytest.mark.parametrize(
    ("text", "fabric", "bandwidth"),
    [
        (even(4, 2), "mesh", 50.0),  # V100: no switch has two links a GPU
        (even(4, 4), "mesh", 100.0),  # A100 without switches
        (even(16, 6), "switch", 150.0),  # DGX-2
        (even(3, 12), "switch", 300.0),  # 24 links in a row: more than any GPU has
        (even(2, 12), "mesh", 300.0),  # two GPUs: a switch would be the same network
        (even(8, 8), "switch", 200.0),  # A800
    ],
)
def test_a_matrix_of_one_meaning_is_not_asked_about(tmp_path, text, fabric, bandwidth) -> None:
    instance, said = details(tmp_path, text)
    assert (said["fabric"], said["link_gbyte_per_s"]) == (fabric, 25.0)
    assert bandwidths(instance) == {bandwidth}


def test_one_gpu_may_be_off_the_switch(tmp_path) -> None:
    on = [g for g in range(8) if g != 2]
    text = matrix(8, dict.fromkeys(itertools.combinations(on, 2), "NV18"))
    instance, said = details(tmp_path, text, gpu="b200", pcie_gbyte_per_s=50)
    assert instance.switches == (8, 9)
    assert sorted(x.src for x in instance.links if x.dst == 8) == on
    assert sorted(x.src for x in instance.links if x.dst == 9) == list(range(8))
    assert "warning" not in said
    assert rate(instance) == 50  # the port of the eighth
    instance, said = details(tmp_path, text, gpu="b200")
    assert instance.switches == (8,)
    assert "between GPU0, GPU1, GPU3, GPU4, GPU5, GPU6, GPU7; GPU2." in said["warning"]


def test_two_boards_of_a_box_are_two_switches(tmp_path) -> None:
    boards = [itertools.combinations(half, 2) for half in (range(8), range(8, 16))]
    text = matrix(16, dict.fromkeys(itertools.chain(*boards), "NV6"))
    instance, said = details(tmp_path, text, pcie_gbyte_per_s=12)
    assert instance.switches == (16, 17, 18)
    assert said["fabric"] == "switch"


def test_gpus_that_fall_apart_are_said_with_the_option_that_mends_it(tmp_path) -> None:
    pairs = matrix(4, {(0, 1): "NV12", (2, 3): "NV12"})
    said = details(tmp_path, pairs)[1]["warning"]
    assert said.startswith("the GPUs fall apart, and the rate is 0")
    assert "between GPU0, GPU1; GPU2, GPU3" in said
    assert "--set pcie_gbyte_per_s=..." in said
    assert "warning" not in details(tmp_path, pairs, pcie_gbyte_per_s=32)[1]
    assert "between GPU0; GPU1; GPU2." in details(tmp_path, matrix(3, {}))[1]["warning"]


def test_the_command_line_asks_and_warns(tmp_path, cli) -> None:
    (tmp_path / "box.txt").write_text(even(4, 6))
    command = ("import", "nvidia_topo", tmp_path / "box.txt", "--out", tmp_path)
    code, out, err = cli(*command)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--set gpu=v100 or gpu=h100, or --set fabric=switch or fabric=mesh" in err
    assert not (tmp_path / "box.json").exists()
    assert cli(*command, "--set", "gpu=v100")[0] == 0
    (tmp_path / "box.txt").write_text(matrix(4, {(0, 1): "NV12", (2, 3): "NV12"}))
    code, out, _ = cli(*command, "--force")
    assert code == 0
    assert "warning: the GPUs fall apart" in out


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (even(4, 6), {"gpu": "a100"}, "does not fit gpu=a100: it has 12 NVLinks"),
        (even(4, 6), {"gpu": "v100", "fabric": "mesh"}, "does not fit gpu=v100: it has 6"),
        (even(2, 12), {"gpu": "a6000"}, "does not fit gpu=a6000: it has 4"),
        (even(8, 16), {}, "no GPU known here has such links, expected --set link_gbyte_per_s"),
        (even(8, 12), {"fabric": "mesh"}, "no GPU known here"),
        (
            matrix(3, {(0, 1): "NV2", (1, 2): "NV4"}),
            {"fabric": "switch"},
            "row GPU1: 6 NVLinks in all, expected the same number in every cell, as fabric=switch",
        ),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, text, options, message) -> None:
    assert message in question(tmp_path, text, **options)


def test_unknown_links_are_read_with_their_speed(tmp_path) -> None:
    instance = read(tmp_path, even(8, 16), link_gbyte_per_s=100)
    assert (instance.switches, bandwidths(instance)) == ((8,), {1600.0})
    instance = read(tmp_path, even(4, 9), fabric="mesh", link_gbyte_per_s=100)
    assert (instance.switches, bandwidths(instance)) == ((), {900.0})
    # Some of the links to the switches may be down; who says it is a switch gets it.
    instance = read(tmp_path, even(8, 16), gpu="h100", fabric="switch")
    assert bandwidths(instance) == {400.0}


def test_names_of_gpus_are_found_however_they_are_written() -> None:
    for gpu in GPUS:
        assert find_gpu(gpu.name.upper()) == gpu
    assert find_gpu("NVIDIA RTX A6000").name == "a6000"
    assert find_gpu("GeForce_RTX-3090").name == "rtx3090"
    assert find_gpu("2080 Ti").name == "rtx2080ti"
    for written, name in {
        "NVIDIA A100-SXM4-80GB": "a100",
        "NVIDIA H100 80GB HBM3": "h100",
        "NVIDIA H200": "h200",
        "Tesla V100-SXM2-32GB": "v100",
        "Quadro RTX 8000": "rtx8000",
        "NVIDIA GB200": "gb200",
        "NVIDIA H20": "h20",
    }.items():
        assert find_gpu(written).name == name
    for other in ("K80", "RTX 6000 Ada", "A1000", "H2", "V100S", "NVIDIA", "-", "L40S"):
        assert find_gpu(other) is None


def test_a_link_times_all_links_is_the_bandwidth_of_data_sheets() -> None:
    # Both directions of all links, in GB/s.
    known = {"p100": 160, "v100": 300, "a100": 600, "h100": 900, "b200": 1800, "a800": 400}
    known |= {"a30": 200, "a6000": 112.5, "rtx8000": 100}
    for name, gbyte_per_s in known.items():
        gpu = find_gpu(name)
        assert 2 * gpu.links * gpu.link_gbyte_per_s == gbyte_per_s


def test_groups_are_what_links_join() -> None:
    groups = groups_of((4, 0, 1, 2, 3), {(0, 4): 1, (1, 3): 2, (3, 4): 1})
    assert [group.gpus for group in groups] == [(0, 1, 3, 4), (2,)]
    assert groups[0].in_row == {0: 1, 1: 2, 3: 3, 4: 2}
    assert groups[0].every_cell is None


@st.composite
def matrices(draw) -> str:
    gpus = draw(st.integers(2, 6))
    kind = st.sampled_from(["NV1", "NV2", "NV4", "NV6", "NV8", "NV12", "NV18"])
    cell = draw(st.sampled_from([st.just(draw(kind)), st.sampled_from(["SYS", draw(kind)])]))
    return matrix(gpus, {pair: draw(cell) for pair in itertools.combinations(range(gpus), 2)})


@settings(max_examples=100, deadline=None)
@given(text=matrices())
def test_a_matrix_is_read_if_all_gpus_that_fit_agree_and_else_asked_about(
    tmp_path_factory, text
) -> None:
    tmp_path = tmp_path_factory.mktemp("random")
    try:
        instance, said = details(tmp_path, text)
    except InputError as error:
        message = str(error)
        if "does not tell" in message:
            options = message.split("expected --set ")[1]
            named = [read(tmp_path, text, gpu=g) for g in re.findall(r"gpu=(\w+)", options)]
            assert len({repr(instance.links) for instance in named}) == len(named) >= 2
        else:
            assert "NVLinks in all, expected" in message or "no GPU known here" in message
    else:
        for name in said.get("as_of", []):
            assert read(tmp_path, text, gpu=name) == instance
