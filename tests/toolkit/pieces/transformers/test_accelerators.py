"""The shipped table says where its numbers are from; a file of one's own adds to it."""

from fractions import Fraction

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.transformers.accelerators import read_catalogue

OWN = """
[devices.gb300]
bf16_tflop_per_s = 2500.5
memory_tbyte_per_s = 8
memory_gbyte = 288
link_gbyte_per_s = 900

[devices.h100]
bf16_tflop_per_s = 756
memory_tbyte_per_s = 2.0
memory_gbyte = 80
link_gbyte_per_s = 64
source = "the PCIe card in our room"

[boxes.rack]
device = "gb300"
gpus = 72
nic_gbyte_per_s = 100
"""


def own(tmp_path, text):
    path = tmp_path / "ours.toml"
    path.write_text(text)
    return path


def test_the_shipped_table():
    tables = read_catalogue()
    assert list(tables.devices) == ["a100", "h100", "h200", "b200", "mi300x"]
    assert list(tables.boxes) == ["dgx-a100", "dgx-h100", "dgx-b200", "mi300x-8"]
    assert all(entry.source for entry in (*tables.devices.values(), *tables.boxes.values()))
    assert all(box.device in tables.devices for box in tables.boxes.values())
    h100 = tables.device("H100")
    assert (h100.flop_per_s, h100.memory_bytes_per_s) == (989 * 10**12, 3350 * 10**9)
    assert (h100.memory_bytes, h100.link_bytes_per_s) == (80 * 10**9, 450 * 10**9)


def test_a_file_of_ones_own_adds_and_replaces(tmp_path):
    tables = read_catalogue(own(tmp_path, OWN))
    assert tables.box("rack").device == "gb300"
    assert tables.device("gb300").flop_per_s == Fraction("2500.5") * 10**12
    assert tables.device("h100").source == "the PCIe card in our room"
    assert tables.device("a100") == read_catalogue().device("a100")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[devices", "is not TOML"),
        (OWN.replace("2500.5", "-1"), "devices.gb300.bf16_tflop_per_s: -1: "),
        (OWN.replace("memory_gbyte = 288\n", ""), "devices.gb300.memory_gbyte: Field required"),
        (OWN.replace("gpus = 72", "gpus = '72'"), "boxes.rack.gpus: '72': "),
        (OWN.replace('device = "gb300"', 'device = "gb301"'), "boxes.rack.device: 'gb301', exp"),
        (OWN + "colour = 1\n", "boxes.rack.colour: Extra"),
        ("[gpus.h100]", "gpus: Extra"),
        (OWN.replace("2500.5", "inf"), "devices.gb300.bf16_tflop_per_s: inf: "),
    ],
)
def test_what_is_wrong_in_it_is_named(tmp_path, text, line):
    path = own(tmp_path, text)
    with pytest.raises(InputError, match=line) as caught:
        read_catalogue(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_name_that_is_in_no_table(tmp_path):
    tables = read_catalogue()
    with pytest.raises(InputError, match="device: 'h101', expected one of a100, h100"):
        tables.device("h101")
    with pytest.raises(InputError, match="cluster: 'dgx-2', expected one of dgx-a100"):
        tables.box("dgx-2")
