"""Topologies as NCCL dumps them (NCCL_TOPO_DUMP_FILE): hosts, their PCIe trees, NVLinks and nets.

A `pci` element has the speed of its link upwards; they nest below a `cpu`. A `gpu` with its
`nvlink` elements and a `nic` with its `net` elements stand at the leaves. A dump of several hosts
tells them by the `host_hash` of each `cpu`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.reading import decoded, read_bytes

#: Largest number of devices, links and lanes, and of Mbit/s. By definition.
_MOST, _MOST_MBIT_PER_S = 10**4, 10**9
#: GT/s from which PCIe sends 128 bits in 130 instead of 8 in 10. By definition.
_GEN3_GT_PER_S = 8
#: Bits of a byte; Mbit/s of a GB/s. By definition.
_BITS, _MBIT_PER_GBYTE = 8, 8000
#: PCI classes of what NVLinks lead to: an NVSwitch or another GPU.
_SWITCH_CLASS, _GPU_CLASS = "0x068000", "0x030200"
#: Bus of the NVSwitches that several hosts share (MNNVL).
_FABRIC = re.compile(r"f{4,}:f+:f+(\.f)?", re.IGNORECASE)
_SPEED = re.compile(r"(\d+(?:\.\d+)?) GT/s.*")


@dataclass(frozen=True)
class NvLink:
    """NVLinks from a GPU: to another GPU, to the switch of its host, or to that of all hosts."""

    kind: Literal["gpu", "switch", "fabric", "other"]
    target: str
    count: int


@dataclass(frozen=True)
class Gpu:
    """A GPU: its number, its bus, its compute capability, and its NVLinks."""

    dev: int
    bus: str
    sm: int
    nvlinks: tuple[NvLink, ...]

    @property
    def num_nvlinks(self) -> int:
        """All NVLinks."""
        return sum(link.count for link in self.nvlinks)


@dataclass(frozen=True)
class Nic:
    """A network card with the speed of each port, in GB/s."""

    nets: tuple[Fraction, ...]


@dataclass(frozen=True)
class Bridge:
    """A processor or a PCIe switch, and what is below it.

    Attributes
    ----------
    name : str
    below : tuple of (Fraction or None, Bridge or Gpu or Nic)
        With the bandwidth of the link to each, in GB/s; None if the dump does not have it.
    """

    name: str
    below: tuple[tuple[Fraction | None, Bridge | Gpu | Nic], ...]

    def leaves(self) -> Iterator[Gpu | Nic]:
        """Yield GPUs and network cards below."""
        for _, child in self.below:
            if isinstance(child, Bridge):
                yield from child.leaves()
            else:
                yield child


@dataclass(frozen=True)
class Host:
    """A host: the file it is from, and its processors."""

    file: str
    name: str
    processors: tuple[Bridge, ...]

    @property
    def gpus(self) -> list[Gpu]:
        """Its GPUs by their numbers."""
        found = (leaf for cpu in self.processors for leaf in cpu.leaves())
        return sorted((leaf for leaf in found if isinstance(leaf, Gpu)), key=lambda g: g.dev)


@dataclass(frozen=True)
class Dump:
    """A file: its hosts, the elements that are not read, and the SHA-256 of its bytes."""

    hosts: tuple[Host, ...]
    ignored: tuple[str, ...]
    sha256: str


def read_dump(path: Path) -> Dump:
    """Read a dump.

    Raises
    ------
    InputError
        If the file is no XML with `system` at its root, has no GPU, or a value is missing or wrong.
    """
    content = read_bytes(path)
    text = decoded(path, content)
    if "<!" in re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL):
        raise InputError(f"{path}: has a document type, expected the plain XML that NCCL writes")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: is not XML: {error}") from None
    if root.tag != "system":
        raise InputError(f"{path}: root {root.tag!r}, expected 'system' (NCCL_TOPO_DUMP_FILE)")
    reader = _Reader(path)
    processors: dict[str, list[Bridge]] = {}
    try:
        for element in root:
            if element.tag != "cpu":
                reader.ignored.add(element.tag)
                continue
            bridge = Bridge(f"cpu {element.get('numaid', '')}", reader.below(element))
            processors.setdefault(element.get("host_hash", ""), []).append(bridge)
    except RecursionError:
        raise InputError(f"{path}: pci: nested too deeply, expected a tree of a machine") from None
    hosts = [Host(path.name, name, tuple(found)) for name, found in processors.items()]
    hosts = [host for host in hosts if host.gpus]
    if not hosts:
        raise InputError(f"{path}: gpu: none found, expected at least one")
    for host in hosts:
        buses = [gpu.bus for gpu in host.gpus]
        for bus in buses:
            if buses.count(bus) > 1:
                raise InputError(f"{path}: pci {bus}: holds two GPUs, expected one")
    digest = hashlib.sha256(content).hexdigest()
    return Dump(tuple(hosts), tuple(sorted(reader.ignored)), digest)


class _Reader:
    """Reads the elements of one file, and notes the tags that it does not read."""

    def __init__(self, path: Path):
        self.path = path
        self.ignored: set[str] = set()

    def below(self, element: Element) -> tuple[tuple[Fraction | None, Bridge | Gpu | Nic], ...]:
        """Return what lies below a `cpu` or `pci`, without branches of neither GPU nor net."""
        found: list[tuple[Fraction | None, Bridge | Gpu | Nic]] = []
        for child in element:
            if child.tag == "nic":
                nets = tuple(self._net(net) for net in child if net.tag == "net")
                if nets:
                    found.append((None, Nic(nets)))
            elif child.tag == "pci":
                found += self._device(child)
            elif child.tag != "gpu":
                self.ignored.add(child.tag)
        return tuple(found)

    def _device(self, pci: Element) -> list[tuple[Fraction | None, Bridge | Gpu | Nic]]:
        """Return a PCI device with the bandwidth of its link upwards, or nothing."""
        bus = pci.get("busid", "")
        bandwidth = self._pcie(pci, bus)
        gpu = pci.find("gpu")
        if gpu is not None:
            return [(bandwidth, self._gpu(gpu, bus))]
        below = self.below(pci)
        if len(below) == 1 and below[0][0] is None and isinstance(below[0][1], Nic):
            return [(bandwidth, below[0][1])]  # the link is the card's own
        return [(bandwidth, Bridge(f"pci {bus}", below))] if below else []

    def _gpu(self, element: Element, bus: str) -> Gpu:
        where = f"gpu {bus}"
        if not bus:
            raise InputError(f"{self.path}: gpu: its pci has no busid, expected one")
        links = []
        for child in element:
            if child.tag != "nvlink":
                self.ignored.add(child.tag)
                continue
            count = self._number(child, "count", where)
            target, kind = child.get("target", ""), child.get("tclass", "")
            links.append(NvLink(_kind(target, kind), target, count))
        return Gpu(
            self._number(element, "dev", where, least=0),
            bus,
            self._number(element, "sm", where),
            tuple(links),
        )

    def _net(self, element: Element) -> Fraction:
        name = element.get("name", "without a name")
        speed = self._number(element, "speed", f"net {name}", most=_MOST_MBIT_PER_S)
        return Fraction(speed, _MBIT_PER_GBYTE)

    def _pcie(self, pci: Element, bus: str) -> Fraction | None:
        """Return the bandwidth of a PCIe link, None if the dump does not have it."""
        speed = _SPEED.fullmatch(pci.get("link_speed", "").strip())
        width = pci.get("link_width", "")
        if speed is None or width in ("", "0"):
            return None
        lanes = self._number(pci, "link_width", f"pci {bus}")
        rate = decimal_rational(float(speed[1]))
        code = Fraction(128, 130) if rate >= _GEN3_GT_PER_S else Fraction(8, 10)
        return rate * lanes * code / _BITS or None

    def _number(
        self, element: Element, name: str, where: str, least: int = 1, most: int = _MOST
    ) -> int:
        text = element.get(name)
        if text is None:
            raise InputError(f"{self.path}: {where}: {name}: is missing, expected a whole number")
        if not re.fullmatch(r"\d{1,12}", text, re.ASCII) or not least <= int(text) <= most:
            raise InputError(
                f"{self.path}: {where}: {name}: {text!r}, expected a whole number "
                f"from {least} to {most}"
            )
        return int(text)


def _kind(target: str, target_class: str) -> Literal["gpu", "switch", "fabric", "other"]:
    if _FABRIC.fullmatch(target):
        return "fabric"
    if target_class.startswith(_SWITCH_CLASS):
        return "switch"
    return "gpu" if target_class.startswith(_GPU_CLASS) else "other"
