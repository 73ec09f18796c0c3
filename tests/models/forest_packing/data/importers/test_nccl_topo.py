"""Dumps of NCCL's topology become networks: NVSwitches, cables, PCIe trees, nets between hosts."""

from fractions import Fraction

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.forest_packing.data.importers.nccl_topo import nccl_topo

GEN5 = 'link_speed="32.0 GT/s PCIe" link_width="16"'
#: 32 GT/s on 16 lanes, 128 of 130 bits, in GB/s.
GEN5_GBYTE_PER_S = float(f"{32 * 16 / 8 * 128 / 130:.12g}")


def gpu(dev, bus, links, sm=90, pcie=GEN5):
    nvlinks = "".join(
        f'<nvlink target="{target}" count="{count}" tclass="{kind}"/>'
        for target, count, kind in links
    )
    return (
        f'<pci busid="{bus}" class="0x030200" {pcie}>'
        f'<gpu dev="{dev}" sm="{sm}" rank="{dev}" gdr="1">{nvlinks}</gpu></pci>'
    )


def nic(bus, *speeds, pcie=GEN5):
    nets = "".join(
        f'<net name="mlx5_{n}" dev="{n}" speed="{speed}" port="1" guid="0x1"/>'
        for n, speed in enumerate(speeds)
    )
    return f'<pci busid="{bus}" class="0x020700" {pcie}><nic>{nets}</nic></pci>'


def system(*processors, version=1):
    cpus = "".join(f'<cpu numaid="{n}" arch="x86_64">{x}</cpu>' for n, x in enumerate(processors))
    return f'<system version="{version}">{cpus}</system>'


#: Four NVSwitches with 18 NVLinks of every GPU.
SWITCHES = [(f"0000:0{n}:00.0", count, "0x068000") for n, count in enumerate((5, 4, 4, 5), 1)]


def h100(dev, bus):
    """Return a PCIe switch with a GPU behind NVSwitches and its network card."""
    below = gpu(dev, f"0000:{bus}1:00.0", SWITCHES) + nic(f"0000:{bus}2:00.0", 400_000)
    return f'<pci busid="0000:{bus}0:00.0" class="0x060400" {GEN5}>{below}</pci>'


BOX = system(h100(0, "1") + h100(1, "2"), h100(2, "3"))


def imported(tmp_path, *texts, **options):
    paths = []
    for n, text in enumerate(texts):
        paths.append(tmp_path / f"host{n}.xml")
        paths[-1].write_text(text)
    return nccl_topo(paths, np.random.default_rng(0), **options)


def cables(instance):
    return {frozenset((link.src, link.dst)): link.bandwidth_gbyte_per_s for link in instance.links}


def test_nvlinks_to_switches_are_one_switch(tmp_path):
    outcome = imported(tmp_path, BOX)
    ((name, instance),) = outcome.instances
    assert name == "host0"
    assert (instance.workers, instance.switches) == ((0, 1, 2), (3,))
    # NCCL reckons with 20.6 GB/s a link of compute capability 90.
    assert cables(instance) == {frozenset((w, 3)): 18 * 20.6 for w in range(3)}
    assert outcome.report["instances"][0]["pcie"] == "left out"
    assert "warnings" not in outcome.report["instances"][0]
    nominal = imported(tmp_path, BOX, link_gbyte_per_s=25.0).instances[0][1]
    assert set(cables(nominal).values()) == {450.0}


def test_nvlinks_between_gpus_are_cables(tmp_path):
    first = gpu(0, "0000:0a:00.0", [("0000:0b:00.0", 4, "0x030200")], sm=80)
    second = gpu(1, "0000:0b:00.0", [("0000:0a:00.0", 4, "0x030200")], sm=80)
    instance = imported(tmp_path, system(first + second)).instances[0][1]
    assert cables(instance) == {frozenset((0, 1)): 80.0}
    assert instance.switches == ()


def test_hosts_meet_at_their_network_cards(tmp_path):
    instance = imported(tmp_path, BOX, BOX).instances[0][1]
    assert instance.workers == tuple(range(6))
    nvswitches, net = (6, 7), 8
    found = cables(instance)
    assert found[frozenset((0, nvswitches[0]))] == found[frozenset((5, nvswitches[1]))] == 370.8
    at_net = {pair: b for pair, b in found.items() if net in pair}
    assert set(at_net.values()) == {50.0}  # 400 Gbit/s, slower than the card's PCIe
    assert len(at_net) == 6
    # Every GPU has its PCIe link to the switch that its network card is at.
    ports = [
        b for pair, b in found.items() if min(pair) < 6 and not pair & set(nvswitches)
    ]  # fmt: skip
    assert ports == [GEN5_GBYTE_PER_S] * 6
    result = gadgetopt.solve(
        gadgetopt.import_("nccl_topo", [tmp_path / "host0.xml", tmp_path / "host1.xml"])[0]
    )
    # Three cards of 50 GB/s join the hosts. What is summed in one host crosses there in the first
    # stage and back in the second, so that each direction carries the whole model once.
    assert result.status == "optimal"
    assert float(result.objective) == pytest.approx(150.0)


def test_a_host_that_is_dumped_with_another(tmp_path):
    both = BOX.replace("<cpu ", '<cpu host_hash="0x1" ').replace("</system>", "") + BOX.replace(
        "<cpu ", '<cpu host_hash="0x2" '
    ).replace('<system version="1">', "")
    ((_, instance),) = imported(tmp_path, both).instances
    assert cables(instance) == cables(imported(tmp_path, BOX, BOX).instances[0][1])


def test_switches_that_all_hosts_share(tmp_path):
    fabric = [("fffffff:ffff:ff", 18, "0x068000")]
    host = system(gpu(0, "0000:0a:00.0", fabric, sm=100) + gpu(1, "0000:0b:00.0", fabric, sm=100))
    outcome = imported(tmp_path, host, host)
    instance = outcome.instances[0][1]
    assert instance.switches == (4,)
    assert cables(instance) == {frozenset((w, 4)): float(18 * Fraction("40.1")) for w in range(4)}
    assert outcome.report["instances"][0]["pcie"] == "left out"


def test_a_gpu_that_lost_its_nvlinks_is_named(tmp_path):
    broken = BOX.replace(gpu(1, "0000:21:00.0", SWITCHES), gpu(1, "0000:21:00.0", SWITCHES[:3]))
    warnings = imported(tmp_path, broken).report["instances"][0]["warnings"]
    assert warnings == ["host0.xml: gpu 0000:21:00.0: 13 NVLinks, most of sm 90 have 18"]


def test_without_nvlinks_gpus_are_joined_by_pcie(tmp_path):
    pair = gpu(0, "0000:0a:00.0", []) + gpu(1, "0000:0b:00.0", [])
    outcome = imported(tmp_path, system(pair))
    instance = outcome.instances[0][1]
    assert cables(instance) == {frozenset((w, 2)): GEN5_GBYTE_PER_S for w in (0, 1)}
    apart = system(gpu(0, "0000:0a:00.0", []), gpu(1, "0000:0b:00.0", []))
    (warning,) = imported(tmp_path, apart).report["instances"][0]["warnings"]
    assert warning.startswith("the GPUs fall apart, and the rate is 0: nothing joins workers 0; 1.")
    joined = imported(tmp_path, apart, cpu_gbyte_per_s=10.0)
    assert "warnings" not in joined.report["instances"][0]
    assert cables(joined.instances[0][1])[frozenset((2, 3))] == 10.0


def test_bridges_over_one_link_are_that_link(tmp_path):
    slow = 'link_speed="8.0 GT/s PCIe" link_width="4"'
    nested = f'<pci busid="0000:01:00.0" {slow}>{gpu(0, "0000:0a:00.0", [])}</pci>'
    instance = imported(tmp_path, system(nested + gpu(1, "0000:0b:00.0", []))).instances[0][1]
    assert instance.switches == (2,)
    assert cables(instance)[frozenset((0, 2))] == pytest.approx(8 * 4 / 8 * 128 / 130)
    old = 'link_speed="5.0 GT/s" link_width="8"'
    two = system(gpu(0, "0000:0a:00.0", [], pcie=old) + gpu(1, "0000:0b:00.0", []))
    assert cables(imported(tmp_path, two).instances[0][1])[frozenset((0, 2))] == 4.0


def test_ports_of_a_card_share_its_link(tmp_path):
    host = system(gpu(0, "0000:0a:00.0", []) + nic("0000:0c:00.0", 200_000, 100_000))
    instance = imported(tmp_path, host, host).instances[0][1]
    speeds = sorted(cables(instance).values())
    # Ports of 12.5 and 25 GB/s are parallel links of a card; each card and GPU has a PCIe link.
    assert speeds[-4:] == [GEN5_GBYTE_PER_S] * 4
    links = sorted(link.bandwidth_gbyte_per_s for link in instance.links)
    assert links[:4] == [12.5, 12.5, 25.0, 25.0]


def test_what_is_not_read_is_said(tmp_path):
    odd = gpu(0, "0000:0a:00.0", [("0000:ff:00.0", 2, "0x068001")]) + gpu(1, "0000:0b:00.0", [])
    text = system(odd).replace("</gpu>", '<c2c bw="100"/></gpu>', 1)
    details = imported(tmp_path, text).report["instances"][0]
    assert details["ignored_elements"] == ["c2c"]
    assert details["warnings"][0].startswith("host0.xml: gpu 0000:0a:00.0: 2 NVLinks to 0000:ff")


UNKNOWN = 'link_speed="Unknown" link_width="0"'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("<system", "host0.xml: is not XML"),
        ("<graphs version='1'/>", "host0.xml: root 'graphs', expected 'system'"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><system/>', "host0.xml: has a document type"),
        (system(nic("0000:0c:00.0", 1)), "host0.xml: gpu: none found"),
        (BOX.replace('sm="90"', ""), "gpu 0000:11:00.0: sm: is missing, expected a whole"),
        (BOX.replace('count="5"', 'count="-5"'), "gpu 0000:11:00.0: count: '-5', expected a who"),
        (BOX.replace('speed="400000"', 'speed="fast"'), "net mlx5_0: speed: 'fast', expected a w"),
        (BOX.replace("0000:21:00.0", "0000:11:00.0"), "pci 0000:11:00.0: holds two GPUs"),
        (BOX.replace('sm="90"', 'sm="50"'), "sm 50: no NVLinks known, expected --set link_gb"),
        (
            system(gpu(0, "0000:0a:00.0", [("0000:0b:00.0", 4, "0x030200")])
                   + gpu(1, "0000:0b:00.0", [])),
            "gpu 0000:0a:00.0: 4 NVLinks to 0000:0b:00.0, expected 0 as",
        ),
        (
            system(gpu(0, "0000:0a:00.0", [], pcie=UNKNOWN) + gpu(1, "0000:0b:00.0", [])),
            "0000:0a:00.0: link_speed, link_width: unknown, expected --set pcie_gbyte_per_s",
        ),
        (system(gpu(0, "0000:0a:00.0", [])), "gpu: one in all, expected two"),
        ("<system>" + "<cpu>" + "<pci>" * 5000 + "</pci>" * 5000 + "</cpu></system>", "nested too"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_dump_is_one_line(tmp_path, text, line):
    with pytest.raises(InputError, match=line) as caught:
        imported(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_a_link_of_unknown_speed_may_be_given(tmp_path):
    text = system(gpu(0, "0000:0a:00.0", [], pcie=UNKNOWN) + gpu(1, "0000:0b:00.0", []))
    instance = imported(tmp_path, text, pcie_gbyte_per_s=12.0).instances[0][1]
    assert cables(instance)[frozenset((0, 2))] == 12.0


def test_options_and_files_are_checked(tmp_path):
    with pytest.raises(InputError, match="files: none given, expected the dump of NCCL"):
        nccl_topo([], np.random.default_rng(0))
    with pytest.raises(InputError, match="pcie: Input should be 'auto', 'yes' or 'no'"):
        imported(tmp_path, BOX, pcie="maybe")
