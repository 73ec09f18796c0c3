"""Instances from the matrix of `nvidia-smi topo -m`, and the input that is refused."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import InputError
from gadgetopt.models.forest_packing.data.generate.topologies import (
    DGX1_LISTING,
    dgx1_v100,
)
from gadgetopt.models.forest_packing.data.importers.listing import read_matrix
from gadgetopt.models.forest_packing.data.importers.nvidia_topo import nvidia_topo
from gadgetopt.models.forest_packing.instance import ForestPackingInstance

#: A DGX-1 V100 as listed: its numbering differs from that of `topologies`.
DGX1 = """\
\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\tPIX\tSYS\t0-19,40-59\t0
GPU1\tNV1\t X \tNV2\tNV1\tSYS\tNV2\tSYS\tSYS\tPIX\tSYS\t0-19,40-59\t0
GPU2\tNV1\tNV2\t X \tNV2\tSYS\tSYS\tNV1\tSYS\tPHB\tSYS\t0-19,40-59\t0
GPU3\tNV2\tNV1\tNV2\t X \tSYS\tSYS\tSYS\tNV1\tPHB\tSYS\t0-19,40-59\t0
GPU4\tNV2\tSYS\tSYS\tSYS\t X \tNV1\tNV1\tNV2\tSYS\tPIX\t20-39,60-79\t1
GPU5\tSYS\tNV2\tSYS\tSYS\tNV1\t X \tNV2\tNV1\tSYS\tPIX\t20-39,60-79\t1
GPU6\tSYS\tSYS\tNV1\tSYS\tNV1\tNV2\t X \tNV2\tSYS\tPHB\t20-39,60-79\t1
GPU7\tSYS\tSYS\tSYS\tNV1\tNV2\tNV1\tNV2\t X \tSYS\tPHB\t20-39,60-79\t1
mlx5_0\tPIX\tPIX\tPHB\tPHB\tSYS\tSYS\tSYS\tSYS\t X \tSYS
mlx5_1\tSYS\tSYS\tSYS\tSYS\tPIX\tPIX\tPHB\tPHB\tSYS\t X

Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes
  NV#  = Connection traversing a bonded set of # NVLinks
"""

TWO = "\tGPU0\tGPU1\nGPU0\tX\tNV1\nGPU1\tNV1\tX\n"

#: What other tools print.
ROCM = """\
======================= ROCm System Management Interface =======================
=========================== Weight between two GPUs ============================
       GPU0         GPU1
GPU0   0            15
GPU1   15           0

============================ Hops between two GPUs =============================
       GPU0         GPU1
GPU0   0            1
GPU1   1            0
"""
AMD = "LINK TYPE TABLE:\n             0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 SELF         XGMI\n"
NCCL = """\
<system version="1">
  <cpu numaid="0" affinity="0000ffff" arch="x86_64">
    <gpu dev="0" sm="90" rank="0" gdr="1">
      <nvlink target="0000:0b:00.0" count="18" tclass="0x068000"/>
    </gpu>
  </cpu>
</system>
"""


def listing(tmp_path: Path, text: str, name: str = "box.txt") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def read(path: Path, **options) -> ForestPackingInstance:
    return nvidia_topo([path], np.random.default_rng(0), **options).instances[0][1]


def all_pairs(gpus: int, cell: str) -> str:
    header = " ".join(f"GPU{g}" for g in range(gpus))
    rows = (
        f"GPU{g} " + " ".join("X" if g == h else cell for h in range(gpus)) for g in range(gpus)
    )
    return "\n".join([header, *rows])


def test_a_dgx1_listing_is_the_table_renumbered(tmp_path) -> None:
    network = read(listing(tmp_path, DGX1)).network
    table = dgx1_v100().instance().network
    renumbered = {
        (DGX1_LISTING[u], DGX1_LISTING[v]): c
        for (u, v), c in zip(table.arcs, table.capacity, strict=True)
    }
    assert dict(zip(network.arcs, network.capacity, strict=True)) == renumbered
    assert network.labels == tuple(range(8))


def test_report_and_origin_say_what_was_read(tmp_path) -> None:
    outcome = nvidia_topo([listing(tmp_path, DGX1)], np.random.default_rng(0))
    (details,) = outcome.report["instances"]
    assert details == {
        "name": "box",
        "gpus": 8,
        "pairs_with_nvlink": 16,
        "pairs_without": 12,
        "fabric": "mesh",
        "ignored_columns": ["mlx5_0", "mlx5_1", "CPU", "Affinity", "NUMA", "Affinity"],
        "ignored_lines": 6,
        "link_gbyte_per_s": 25.0,
        "as_of": ["v100", "a100", "a800", "h100", "h200", "gh200"],
    }
    json.dumps(outcome.report)
    origin = json.loads(json.dumps(outcome.origin))
    assert origin["format"] == "nvidia_topo"
    assert origin["files"][0]["name"] == "box.txt"
    assert len(origin["files"][0]["sha256"]) == 64


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\t", "   "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "$ nvidia-smi topo -m\n" + text,
        lambda text: text.replace("\tGPU0\tGPU1", "\t\x1b[4mGPU0\tGPU1", 1).replace(
            "NUMA Affinity\n", "NUMA Affinity\x1b[0m\n", 1
        ),
        lambda text: text.split("mlx5_0\tPIX")[0].replace("SYS", "SOC"),
        lambda text: text.replace("\tGPU0\tGPU1", "\t[4mGPU0\tGPU1", 1).replace(
            "NUMA Affinity\n", "NUMA Affinity[0m\n", 1
        ),
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: "".join(f"[1,0]<stdout>:{line}\n" for line in text.splitlines()),
    ],
    ids=[
        *("blanks", "windows", "byte order mark", "prompt", "underlined", "old driver"),
        *("escape lost", "quoted", "by mpirun"),
    ],
)
def test_how_the_text_was_saved_does_not_matter(tmp_path, change) -> None:
    changed = tmp_path / "changed.txt"
    changed.write_bytes(change(DGX1).encode())
    assert read(changed) == read(listing(tmp_path, DGX1))


def test_bandwidths_are_options(tmp_path) -> None:
    instance = read(listing(tmp_path, DGX1), link_gbyte_per_s="20", model_size_gbyte=0.44)
    assert {x.bandwidth_gbyte_per_s for x in instance.links} == {20.0, 40.0}
    assert instance.model_size_gbyte == 0.44
    triple = listing(tmp_path, TWO.replace("NV1", "NV3"))
    assert read(triple, link_gbyte_per_s=0.1).links[0].bandwidth_gbyte_per_s == 0.3


def test_pcie_is_one_port_of_every_gpu_to_one_switch(tmp_path) -> None:
    instance = read(listing(tmp_path, DGX1), pcie_gbyte_per_s=12.0)
    assert instance.switches == (8,)
    ports = [x for x in instance.links if x.dst == 8]
    assert [(x.src, x.bandwidth_gbyte_per_s, x.both) for x in ports] == [
        (g, 12.0, True) for g in range(8)
    ]


def test_nvlinks_behind_switches_are_not_counted_once_per_pair(tmp_path) -> None:
    instance = read(listing(tmp_path, all_pairs(8, "NV12")))
    assert instance.switches == (8,)
    assert [x.bandwidth_gbyte_per_s for x in instance.links] == [300.0] * 8
    # Four A100 joined directly have 12 links each, 4 to every other one.
    direct = read(listing(tmp_path, all_pairs(4, "NV4")))
    assert direct.switches == ()
    assert [x.bandwidth_gbyte_per_s for x in direct.links] == [100.0] * 6
    stated = {"gpu": "a100", "fabric": "switch"}
    assert read(listing(tmp_path, all_pairs(4, "NV4")), **stated).switches == (4,)
    stated = {"link_gbyte_per_s": 25, "fabric": "mesh"}
    assert read(listing(tmp_path, all_pairs(8, "NV12")), **stated).switches == ()


def test_gpus_without_nvlink_stay_unlinked(tmp_path) -> None:
    instance = read(listing(tmp_path, all_pairs(3, "PHB")))
    assert instance.workers == (0, 1, 2)
    assert instance.links == ()


def test_every_file_makes_an_instance_of_its_name(tmp_path) -> None:
    files = [listing(tmp_path, DGX1, "a.txt"), listing(tmp_path, TWO, "b.txt")]
    # The pair of TWO may also be of P100, whose links are slower.
    outcome = nvidia_topo(files, np.random.default_rng(0), gpu="v100")
    assert [name for name, _ in outcome.instances] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "header: none found, expected a line with two or more of GPU0"),
        ("GPU0 X\n", "header: none found"),
        ("\tGPU0\tCPU Affinity\nGPU0\tX\t0-31\n", "GPU0 is the only GPU, expected two or more"),
        ("\tGPU3\tNIC0\nGPU3\tX\tPIX\nNIC0\tPIX\tX\n", "GPU3 is the only GPU, expected two"),
        (ROCM, "a listing of rocm-smi or amd-smi, whose links (XGMI) are not read here, expected"),
        (AMD, "a listing of rocm-smi or amd-smi"),
        (NCCL, "NCCL's XML (NCCL_TOPO_DUMP_FILE, NCCL_GRAPH_DUMP_FILE), expected the matrix that"),
        (TWO + TWO, "line 4: a second header, expected one matrix"),
        (TWO.replace("\nGPU1\tNV1\tX", ""), "row GPU1: missing, expected a row for every column"),
        (TWO + "GPU1\tNV1\tX\n", "line 4: row GPU1: given twice"),
        (TWO + "GPU2\tNV1\tX\n", "line 4: row GPU2: expected one of GPU0, GPU1"),
        (TWO.replace("GPU1\tNV1\tX", "GPU1\tNV1"), "line 3: row GPU1: 1 cells, expected 2"),
        (
            TWO.replace("X\tNV1", "X\tNV"),
            "line 2: row GPU0, column GPU1: 'NV', expected NV and a number, or one of SYS, NODE",
        ),
        (TWO.replace("X\tNV1", "X\tNV0"), "line 2: row GPU0, column GPU1: 'NV0', expected NV"),
        (TWO.replace("X\tNV1", "X\tX"), "line 2: row GPU0, column GPU1: 'X', expected NV"),
        (TWO.replace("GPU0\tX", "GPU0\tNV1"), "line 2: row GPU0, column GPU0: 'NV1', expected X"),
        (
            TWO.replace("X\tNV1", "X\tNV2"),
            "row GPU0, column GPU1: 2 NVLinks, expected 1 as in row GPU1, column GPU0",
        ),
        (TWO.replace("\tGPU0\tGPU1", "\tGPU0\tGPU0", 1), "line 1: column GPU0: given twice"),
        (
            all_pairs(8, "NV12").replace("X NV12", "X SYS", 1).replace("NV12 X", "SYS X", 1),
            "row GPU2: 84 NVLinks in all, expected at most 18, or the same number in every cell",
        ),
    ],
)
def test_a_bad_matrix_is_an_input_error_of_one_line(tmp_path, text, message) -> None:
    path = listing(tmp_path, text)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: cannot be read: No such file"):
        read(tmp_path / "none.txt")
    (tmp_path / "binary.txt").write_bytes(b"GPU0 \xff\xfe")
    with pytest.raises(InputError, match=r"binary\.txt: byte 5 is not UTF-8 text"):
        read(tmp_path / "binary.txt")
    with pytest.raises(InputError, match="files: none given"):
        nvidia_topo([], np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"link_gbyte_per_s": 0}, "options of nvidia_topo: link_gbyte_per_s: 0: .*than 0"),
        ({"pcie_gbyte_per_s": -1}, "pcie_gbyte_per_s: -1: .*greater than or equal to 0"),
        ({"fabric": "maybe"}, "fabric: 'maybe': .*'auto', 'switch' or 'mesh'"),
        ({"gpu": "k80"}, "options of nvidia_topo: gpu: 'k80': expected one of p100, v100, a100"),
        ({"colour": "red"}, "colour: 'red': Extra inputs are not permitted"),
    ],
)
def test_a_bad_option_is_an_input_error_of_one_line(tmp_path, options, message) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(listing(tmp_path, TWO), **options)
    assert "\n" not in str(caught.value)


def test_every_pair_of_the_listing_is_read_once(tmp_path) -> None:
    instance = read(listing(tmp_path, all_pairs(5, "NV2")))
    assert {(x.src, x.dst) for x in instance.links} == set(itertools.combinations(range(5), 2))
    assert {x.bandwidth_gbyte_per_s for x in instance.links} == {50.0}


@st.composite
def plain_and_pasted(draw) -> tuple[str, str]:
    """Draw a listing, and the same as a terminal, a launcher or a mail has it."""
    gpus = draw(st.integers(2, 5))
    cell = st.sampled_from(["NV1", "NV2", "NV12", "SYS", "PHB", "NODE", "PIX"])
    cells = {pair: draw(cell) for pair in itertools.combinations(range(gpus), 2)}
    header = "\t".join(["", *(f"GPU{g}" for g in range(gpus)), "CPU Affinity", "NUMA Affinity"])
    rows = [
        [f"GPU{g}", *("X" if g == h else cells[min(g, h), max(g, h)] for h in range(gpus)), "0-31"]
        for g in range(gpus)
    ]
    plain = [header, *("\t".join(row) for row in rows), "", "Legend:", "", "  X    = Self"]
    escape = draw(st.sampled_from(["\x1b", "", "^[", "\\x1b", "\\033", "\u241b"]))
    underlined = draw(st.booleans())
    pasted = [f"\t{escape}[4m{header.strip()}{escape}[0m" if underlined else header, *plain[1:]]
    if draw(st.booleans()):
        pasted = [line.expandtabs(draw(st.integers(2, 9))) for line in pasted]
    starts = ["[1,0]<stdout>:", "[1,3]<stdout>: ", "0: ", "[rank0]:", "[default0]:", "    ", "> "]
    starts += ["Wed Mar  3 12:00:00 2021[1,0]<stdout>:", "> > ", "&gt; ", "[1,0]&lt;stdout&gt;:"]
    for start in draw(st.lists(st.sampled_from(starts), max_size=2)):
        pasted = [start + line for line in pasted]
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return "\n".join(plain), end.join(pasted)


@settings(max_examples=150, deadline=None)
@given(texts=plain_and_pasted())
def test_pasted_listings_are_read_like_plain_ones(tmp_path_factory, texts) -> None:
    folder = tmp_path_factory.mktemp("pasted")
    (folder / "plain.txt").write_bytes(texts[0].encode())
    (folder / "pasted.txt").write_bytes(texts[1].encode())
    plain, pasted = (read_matrix(folder / f"{name}.txt") for name in ("plain", "pasted"))
    assert dataclasses.replace(pasted, sha256=plain.sha256) == plain
