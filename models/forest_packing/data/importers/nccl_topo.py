"""Instances from the topology that NCCL writes to NCCL_TOPO_DUMP_FILE, one dump a host.

NVLinks to NVSwitches are one switch a host, or one for all hosts where they share them; NVLinks
between GPUs are cables. PCIe is the tree of the dump. Network cards of several hosts meet in one
switch that has all their bandwidth (reconstructed: a dump ends at the card).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

import networkx as nx
import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.profile_import import options_of
from gadgetopt.system.declaring import importer

from ...instance import ForestPackingInstance, Link
from .nccl_xml import Bridge, Dump, Gpu, Host, Nic, read_dump

#: GB/s of one NVLink, one direction, as NCCL reckons with them, from a compute capability on
#: (NCCL's src/graph/topo.h). By definition.
_NVLINK_GBYTE_PER_S = (
    (60, Fraction("18")),
    (70, Fraction("20")),
    (86, Fraction("12")),
    (87, Fraction("20")),
    (90, Fraction("20.6")),
    (100, Fraction("40.1")),
)


class NcclTopoOptions(BaseModel):
    """Options of `nccl_topo`. Text, as a command line gives it, is converted.

    Attributes
    ----------
    pcie : "auto", "yes" or "no"
        If the PCIe trees are part of the network; "auto": if there are several hosts, or NVLinks
        do not join all GPUs.
    link_gbyte_per_s : float
        Bandwidth of one NVLink, per direction; 0: as NCCL reckons with it.
    pcie_gbyte_per_s : float
        Of a PCIe link whose speed the dump does not have; 0: such a link is refused.
    cpu_gbyte_per_s : float
        Between two processors of a host; 0: they are not joined.
    model_size_gbyte : float
        D.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    pcie: Literal["auto", "yes", "no"] = "auto"
    link_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    pcie_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    cpu_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    model_size_gbyte: PositiveFloat = 1.0


@importer(
    options=NcclTopoOptions,
    help={
        "pcie": "yes, no; auto: for several hosts, or where NVLinks do not join all GPUs",
        "link_gbyte_per_s": "of one NVLink, per direction; 0: NCCL's, such as 20.6 of sm 90",
        "pcie_gbyte_per_s": "of a PCIe link whose speed the dump does not have",
        "cpu_gbyte_per_s": "between two processors of a host; 0: they are not joined",
    },
)
def nccl_topo(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """The XML that NCCL writes to NCCL_TOPO_DUMP_FILE, a file for each host.

    Make one instance of all files; see `NcclTopoOptions`. Workers are numbered host by host, in the
    order of the files, by the numbers of their GPUs. Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or a bandwidth is in neither.
    """
    settings = options_of(NcclTopoOptions, options)
    if not files:
        raise InputError("files: none given, expected the dump of NCCL of each host")
    paths = list(map(Path, files))
    dumps = [read_dump(path) for path in paths]
    hosts = [host for dump in dumps for host in dump.hosts]
    if sum(len(host.gpus) for host in hosts) < 2:
        raise InputError(
            f"{paths[0]}: gpu: one in all, expected two or more, as a network joins them"
        )
    network = _Network(hosts, settings)
    network.add_nvlinks()
    if settings.pcie == "yes" or (settings.pcie == "auto" and not network.joined):
        network.add_pcie()
    name = paths[0].stem if len(paths) == 1 else f"{paths[0].stem}_and_{len(paths) - 1}_more"
    try:
        instance = network.instance()
    except ValidationError as error:
        raise InputError(f"{paths[0]}: {error.errors()[0]['msg']}") from None
    details = {"name": name, **_described(dumps, hosts, network)}
    report = {
        "units": {"bandwidth_gbyte_per_s": "per direction"},
        "instances": [details],
    }
    origin = {
        "format": "nccl_topo",
        "files": [
            {"name": path.name, "sha256": dump.sha256}
            for path, dump in zip(paths, dumps, strict=True)
        ],
        "options": settings.model_dump(mode="json"),
    }
    return ImportOutcome([(name, instance)], report, origin)


class _Network:
    """Links and switches, added part by part.

    Parameters
    ----------
    hosts : sequence of Host
    settings : NcclTopoOptions
    """

    def __init__(self, hosts: Sequence[Host], settings: NcclTopoOptions):
        self.hosts = hosts
        self.settings = settings
        self.worker: dict[tuple[int, str], int] = {}
        for h, host in enumerate(hosts):
            for gpu in host.gpus:
                self.worker[h, gpu.bus] = len(self.worker)
        self.switches: list[int] = []
        self.links: list[Link] = []
        self.warnings: list[str] = []
        self.with_pcie = False

    @property
    def joined(self) -> bool:
        """Whether there is a way between all GPUs."""
        return len(self.parts()) == 1

    def parts(self) -> list[set[int]]:
        """Return the workers by what joins them."""
        graph = nx.Graph()
        graph.add_nodes_from(self.worker.values())
        graph.add_edges_from((link.src, link.dst) for link in self.links)
        workers = set(self.worker.values())
        return [part & workers for part in nx.connected_components(graph) if part & workers]

    def add(self, u: int, v: int, gbyte_per_s: Fraction) -> None:
        """Add a cable."""
        bandwidth = float(f"{float(gbyte_per_s):.12g}")
        self.links.append(Link(src=u, dst=v, bandwidth_gbyte_per_s=bandwidth, both=True))

    def add_switch(self) -> int:
        """Add a switch; return its number."""
        self.switches.append(len(self.worker) + len(self.switches))
        return self.switches[-1]

    def add_nvlinks(self) -> None:
        """Add switches of NVLinks, and cables between GPUs."""
        to_switch: dict[tuple[str, int], list[tuple[int, Fraction]]] = defaultdict(list)
        for h, host in enumerate(self.hosts):
            pairs: Counter[tuple[str, str]] = Counter()
            for gpu in host.gpus:
                counts: Counter[str] = Counter()
                for link in gpu.nvlinks:
                    if link.kind == "gpu" and (h, link.target) in self.worker:
                        pairs[gpu.bus, link.target] += link.count
                    elif link.kind in ("switch", "fabric"):
                        counts[link.kind] += link.count
                    else:
                        self.warnings.append(
                            f"{host.file}: gpu {gpu.bus}: {link.count} NVLinks to {link.target}, "
                            "which is neither a GPU of the host nor a switch, are left out"
                        )
                for kind, count in counts.items():
                    # One fabric for all hosts, one switch for each.
                    key = (kind, 0 if kind == "fabric" else h)
                    to_switch[key].append((self.worker[h, gpu.bus], count * self._nvlink(gpu)))
            self._add_cables(h, host, pairs)
        for members in to_switch.values():
            switch = self.add_switch()
            for worker, bandwidth in members:
                self.add(worker, switch, bandwidth)

    def _add_cables(self, h: int, host: Host, pairs: Counter[tuple[str, str]]) -> None:
        speed = {gpu.bus: self._nvlink(gpu) for gpu in host.gpus}
        for (first, second), count in pairs.items():
            back = pairs.get((second, first), 0)
            if back != count:
                raise InputError(
                    f"{host.file}: gpu {first}: {count} NVLinks to {second}, "
                    f"expected {back} as {second} has them back"
                )
            if self.worker[h, first] < self.worker[h, second]:
                bandwidth = count * min(speed[first], speed[second])
                self.add(self.worker[h, first], self.worker[h, second], bandwidth)

    def _nvlink(self, gpu: Gpu) -> Fraction:
        """Return the bandwidth of one NVLink of a GPU."""
        if self.settings.link_gbyte_per_s:
            return decimal_rational(self.settings.link_gbyte_per_s)
        known = [speed for sm, speed in _NVLINK_GBYTE_PER_S if sm <= gpu.sm]
        if not known:
            raise InputError(
                f"gpu {gpu.bus}: sm {gpu.sm}: no NVLinks known, expected --set link_gbyte_per_s=..."
            )
        return known[-1]

    def add_pcie(self) -> None:
        """Add the PCIe trees, and, where there are several hosts, the network between them."""
        self.with_pcie = True
        net = self.add_switch() if len(self.hosts) > 1 else None
        for h, host in enumerate(self.hosts):
            roots = []
            for processor in host.processors:
                if self._leads_anywhere(processor, net):
                    roots.append(self.add_switch())
                    self._add_below(h, host, processor, roots[-1], net)
            if self.settings.cpu_gbyte_per_s:
                across = decimal_rational(self.settings.cpu_gbyte_per_s)
                for n, first in enumerate(roots):
                    for second in roots[n + 1 :]:
                        self.add(first, second, across)

    def _leads_anywhere(self, place: Bridge, net: int | None) -> bool:
        return any(isinstance(leaf, Gpu) or net is not None for leaf in place.leaves())

    def _add_below(self, h: int, host: Host, place: Bridge, node: int, net: int | None) -> None:
        """Add what is below a place; a bridge over one link is that link."""
        for link in place.below:
            bandwidth, child = _straight(*link)
            if isinstance(child, Gpu):
                self.add(node, self.worker[h, child.bus], self._pcie(host, child.bus, bandwidth))
            elif isinstance(child, Bridge):
                if self._leads_anywhere(child, net):
                    switch = self.add_switch()
                    self.add(node, switch, self._pcie(host, child.name, bandwidth))
                    self._add_below(h, host, child, switch, net)
            elif net is not None:
                self._add_nic(host, child, node, bandwidth, net)

    def _add_nic(
        self, host: Host, nic: Nic, node: int, bandwidth: Fraction | None, net: int
    ) -> None:
        """Add a network card: its ports share its PCIe link."""
        if len(nic.nets) == 1:
            speed = nic.nets[0]
            self.add(node, net, speed if bandwidth is None else min(speed, bandwidth))
            return
        card = self.add_switch()
        self.add(node, card, self._pcie(host, "nic", bandwidth))
        for speed in nic.nets:
            self.add(card, net, speed)

    def _pcie(self, host: Host, place: str, bandwidth: Fraction | None) -> Fraction:
        """Return the bandwidth of a PCIe link."""
        if bandwidth is not None:
            return bandwidth
        if not self.settings.pcie_gbyte_per_s:
            raise InputError(
                f"{host.file}: {place}: link_speed, link_width: unknown, "
                "expected --set pcie_gbyte_per_s=... or --set pcie=no"
            )
        return decimal_rational(self.settings.pcie_gbyte_per_s)

    def instance(self) -> ForestPackingInstance:
        """Return the instance."""
        return ForestPackingInstance(
            workers=tuple(self.worker.values()),
            switches=tuple(self.switches),
            links=tuple(self.links),
            model_size_gbyte=self.settings.model_size_gbyte,
        )


def _straight(
    bandwidth: Fraction | None, child: Bridge | Gpu | Nic
) -> tuple[Fraction | None, Bridge | Gpu | Nic]:
    """Return what lies behind bridges over one link, and the smallest bandwidth on the way."""
    while isinstance(child, Bridge) and len(child.below) == 1:
        following, child = child.below[0]
        known = [x for x in (bandwidth, following) if x is not None]
        bandwidth = min(known, default=None)
    return bandwidth, child


def _described(dumps: Iterable[Dump], hosts: Sequence[Host], network: _Network) -> dict[str, Any]:
    """Return what was read, and what is to be looked at."""
    ignored = sorted({tag for dump in dumps for tag in dump.ignored})
    details: dict[str, Any] = {
        "hosts": len(hosts),
        "gpus": len(network.worker),
        "pcie": "the trees of the dumps" if network.with_pcie else "left out",
        "ignored_elements": ignored,
    }
    warnings = [*network.warnings, *_unequal(hosts)]
    parts = network.parts()
    if len(parts) > 1:
        shown = "; ".join(", ".join(map(str, sorted(part))) for part in parts)
        warnings.append(
            f"the GPUs fall apart, and the rate is 0: nothing joins workers {shown}. "
            "--set pcie=yes adds PCIe, --set cpu_gbyte_per_s=... joins the processors of a host"
        )
    return {**details, "warnings": warnings} if warnings else details


def _unequal(hosts: Sequence[Host]) -> list[str]:
    """Name GPUs with other numbers of NVLinks than most of their kind, which NCCL does not mind."""
    by_sm: dict[int, list[tuple[Host, Gpu]]] = defaultdict(list)
    for host in hosts:
        for gpu in host.gpus:
            by_sm[gpu.sm].append((host, gpu))
    found = []
    for sm, gpus in sorted(by_sm.items()):
        usual = Counter(gpu.num_nvlinks for _, gpu in gpus).most_common(1)[0][0]
        found += [
            f"{host.file}: gpu {gpu.bus}: {gpu.num_nvlinks} NVLinks, most of sm {sm} have {usual}"
            for host, gpu in gpus
            if gpu.num_nvlinks != usual
        ]
    return found
