"""Instances from the topology matrix that `nvidia-smi topo -m` prints.

A cell tells how two GPUs are joined: NV# is a number of NVLinks, anything else is a path through
PCIe and the host. `nvlink` says which networks a matrix can mean; if several, options decide.

PCIe bandwidth is shared in ways that the matrix does not show. If it is to be used at all, every
GPU has one port of that bandwidth to one switch (reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError, field_validator

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer

from ...instance import (
    ForestPackingInstance,
    Link,
)
from .listing import (
    Matrix,
    read_matrix,
)
from .nvlink import (
    GPUS,
    Group,
    Reading,
    find_gpu,
    groups_of,
    reading_of,
)


class NvidiaTopoOptions(BaseModel):
    """Options of `nvidia_topo`. Text, as a command line gives it, is converted.

    Attributes
    ----------
    gpu : str
        The GPU, one of `nvlink.GPUS`: it says how many NVLinks there are, and how fast one is.
    fabric : "auto", "switch" or "mesh"
        If the NVLinks lead to a switch or to the other GPUs; "auto": what the matrix and the GPU
        leave, and an error if that is both.
    link_gbyte_per_s : float, optional
        Bandwidth of one NVLink, per direction, instead of the GPU's nominal one.
    pcie_gbyte_per_s : float
        Bandwidth of a GPU's PCIe port; 0: no links through PCIe.
    model_size_gbyte : float
        D.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    gpu: str = ""
    fabric: Literal["auto", "switch", "mesh"] = "auto"
    link_gbyte_per_s: float | None = Field(default=None, gt=0, le=1e6)
    pcie_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    model_size_gbyte: PositiveFloat = 1.0

    @field_validator("gpu")
    @classmethod
    def _known(cls, name: str) -> str:
        if name and find_gpu(name) is None:
            raise ValueError(f"expected one of {', '.join(gpu.name for gpu in GPUS)}")
        return name


@importer(
    options=NvidiaTopoOptions,
    help={
        "gpu": "such as v100, h100, gb200, a6000, where the matrix fits several",
        "fabric": "switch (NVSwitch) or mesh (cables), where the matrix fits both",
        "link_gbyte_per_s": (
            "of one NVLink, per direction; else the GPU's: 20 (P100), 25 (V100 to H100, "
            "A30), 50 (Blackwell), 14.0625 (A6000, RTX 3090)"
        ),
        "pcie_gbyte_per_s": "of a PCIe port of every GPU; 0: no links through PCIe",
    },
)
def nvidia_topo(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """The matrix that `nvidia-smi topo -m` prints.

    Make one instance of each text printed by `nvidia-smi topo -m`; see `NvidiaTopoOptions`.

    Workers have the numbers of their GPUs. Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used, or the matrix can mean several networks.
    """
    settings = _settings(options)
    if not files:
        raise InputError("files: none given, expected at least one text of nvidia-smi topo -m")
    instances, details, origins = [], [], []
    for path in map(Path, files):
        matrix = read_matrix(path)
        groups = groups_of(matrix.gpus, matrix.nvlinks)
        joined = [group for group in groups if group.nvlinks]
        reading = reading_of(
            path,
            joined,
            find_gpu(settings.gpu) if settings.gpu else None,
            None if settings.fabric == "auto" else settings.fabric,
            settings.link_gbyte_per_s,
        )
        instances.append((path.stem, _instance(matrix, joined, reading, settings)))
        details.append({"name": path.stem, **_described(matrix, groups, reading, settings)})
        origins.append({"name": path.name, "sha256": matrix.sha256})
    report = {
        "units": {"bandwidth_gbyte_per_s": "NVLinks x link_gbyte_per_s, per direction"},
        "instances": details,
    }
    origin = {
        "format": "nvidia_topo",
        "files": origins,
        "options": settings.model_dump(mode="json"),
    }
    return ImportOutcome(list(instances), report, origin)


def _described(
    matrix: Matrix, groups: Sequence[Group], reading: Reading, settings: NvidiaTopoOptions
) -> dict[str, Any]:
    """Return what was read, and what of it was not in the matrix."""
    details: dict[str, Any] = {
        "gpus": len(matrix.gpus),
        "pairs_with_nvlink": len(matrix.nvlinks),
        "pairs_without": len(matrix.gpus) * (len(matrix.gpus) - 1) // 2 - len(matrix.nvlinks),
        "fabric": " and ".join(dict.fromkeys(reading.fabrics)) or "none",
        "ignored_columns": list(matrix.ignored_columns),
        "ignored_lines": matrix.ignored_lines,
    }
    if reading.fabrics:
        details["link_gbyte_per_s"] = reading.link_gbyte_per_s
        details["as_of"] = list(reading.fits)
    if len(groups) > 1 and not settings.pcie_gbyte_per_s:
        parts = "; ".join(str(group) for group in groups)
        details["warning"] = (
            f"the GPUs fall apart, and the rate is 0: there is no NVLink between {parts}. "
            "--set pcie_gbyte_per_s=... joins them by a PCIe port of each"
        )
    return details


def _instance(
    matrix: Matrix, joined: Sequence[Group], reading: Reading, settings: NvidiaTopoOptions
) -> ForestPackingInstance:
    first_free = max(matrix.gpus) + 1
    switches: list[int] = []
    links: list[Link] = []

    def add(u: int, v: int, bandwidth: float) -> None:
        # 3 x 0.1 is 0.3, also in floating point.
        bandwidth = float(f"{bandwidth:.12g}")
        links.append(Link(src=u, dst=v, bandwidth_gbyte_per_s=bandwidth, both=True))

    def add_switch(gpus: Sequence[int], bandwidth: float) -> None:
        switches.append(first_free + len(switches))
        for gpu in gpus:
            add(gpu, switches[-1], bandwidth)

    for group, fabric in zip(joined, reading.fabrics, strict=True):
        if fabric == "switch":
            add_switch(group.gpus, (group.every_cell or 0) * reading.link_gbyte_per_s)
            continue
        for (u, v), count in group.nvlinks.items():
            add(u, v, count * reading.link_gbyte_per_s)
    if settings.pcie_gbyte_per_s > 0:
        add_switch(matrix.gpus, settings.pcie_gbyte_per_s)
    return ForestPackingInstance(
        workers=tuple(sorted(matrix.gpus)),
        switches=tuple(switches),
        links=tuple(links),
        model_size_gbyte=settings.model_size_gbyte,
    )


def _settings(options: dict[str, Any]) -> NvidiaTopoOptions:
    try:
        return NvidiaTopoOptions(**options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"][:1])
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"options of nvidia_topo: {place}: {first['input']!r}: {message}"
        ) from error
