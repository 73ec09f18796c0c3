"""Instances from the topology matrix that `nvidia-smi topo -m` prints.

A cell tells how two GPUs are joined: NV# is a number of NVLinks, anything else is a path through
PCIe and the host. The matrix leaves two things open, which are settled here (both reconstructed):

- Behind NVSwitches every pair of GPUs shows the same NV#, which is then the number of links of one
  GPU to the switches, not to that other GPU. A row with more links than a GPU has (18) reveals it.
- PCIe bandwidth is shared in ways that the matrix does not show. If it is to be used at all, every
  GPU has one port of that bandwidth to one switch.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.pieces.traces import ImportOutcome
from gadgetopt.system.reading import decoded, read_bytes

from ..instance import ForestPackingInstance, Link

#: The most NVLinks that a GPU has had so far (Hopper, Blackwell).
MOST_NVLINKS = 18

_GPU = re.compile(r"GPU(0|[1-9]\d{0,5})")
_NVLINKS = re.compile(r"NV([1-9]\d{0,2})")
#: Connections without NVLink; SOC and PSB are what older drivers print.
_THROUGH_HOST = ("SYS", "NODE", "PHB", "PXB", "PIX", "SOC", "PSB")
_EXPECTED_CELL = f"expected NV and a number, or one of {', '.join(_THROUGH_HOST)}"
#: Headers are underlined on a terminal.
_TERMINAL_CODE = re.compile(r"\x1b\[[0-9;]*m")


class NvidiaTopoOptions(BaseModel):
    """Options of `nvidia_topo`. Text, as a command line gives it, is converted.

    Attributes
    ----------
    nvlink_gbyte_per_s : float
        Bandwidth of one NVLink, per direction: 25 from V100 on, 20 of P100.
    pcie_gbyte_per_s : float
        Bandwidth of a GPU's PCIe port; 0: no links through PCIe.
    nvswitch : "auto", "yes" or "no"
        If the NVLinks lead to a switch; "auto": yes for rows of more than 18 links.
    model_size_gbyte : float
        D.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    nvlink_gbyte_per_s: float = Field(default=25.0, gt=0, le=1e6)
    pcie_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    nvswitch: Literal["auto", "yes", "no"] = "auto"
    model_size_gbyte: PositiveFloat = 1.0


@dataclass(frozen=True)
class Matrix:
    """Contents of a listing.

    Attributes
    ----------
    gpus : tuple of int
        Their numbers, in the order of the listing.
    nvlinks : dict
        Number of NVLinks of each pair u < v that has some.
    ignored_columns : tuple of str
        Words of the header after the GPUs.
    ignored_lines : int
        Lines that are neither the header nor a GPU's row nor blank.
    sha256 : str
        Of the file.
    """

    gpus: tuple[int, ...]
    nvlinks: dict[tuple[int, int], int]
    ignored_columns: tuple[str, ...]
    ignored_lines: int
    sha256: str


def nvidia_topo(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make one instance of each text printed by `nvidia-smi topo -m`; see `NvidiaTopoOptions`.

    Workers have the numbers of their GPUs. Nothing is random.

    Raises
    ------
    InputError
        If a file or an option cannot be used.
    """
    settings = _settings(options)
    if not files:
        raise InputError("files: none given, expected at least one text of nvidia-smi topo -m")
    instances, details, origins = [], [], []
    for path in map(Path, files):
        matrix = read_matrix(path)
        switched = _switched(path, matrix, settings)
        instance = _instance(matrix, switched, settings)
        instances.append((path.stem, instance))
        details.append(
            {
                "name": path.stem,
                "gpus": len(matrix.gpus),
                "pairs_with_nvlink": len(matrix.nvlinks),
                "pairs_without": len(matrix.gpus) * (len(matrix.gpus) - 1) // 2
                - len(matrix.nvlinks),
                "nvswitch": switched,
                "ignored_columns": list(matrix.ignored_columns),
                "ignored_lines": matrix.ignored_lines,
            }
        )
        origins.append({"name": path.name, "sha256": matrix.sha256})
    report = {
        "units": {"bandwidth_gbyte_per_s": "NVLinks x nvlink_gbyte_per_s, per direction"},
        "instances": details,
    }
    origin = {
        "format": "nvidia_topo",
        "files": origins,
        "options": settings.model_dump(mode="json"),
    }
    return ImportOutcome(list(instances), report, origin)


def read_matrix(path: Path) -> Matrix:
    """Read the matrix; lines and columns that are not of GPUs are skipped.

    Raises
    ------
    InputError
        If the file cannot be read, or the matrix has no header, a row missing or twice, a cell that
        is not understood, or two cells of a pair that disagree.
    """
    text, sha256 = _text(path)
    header: list[str] = []
    ignored: list[str] = []
    rows: dict[str, tuple[int, list[str]]] = {}
    ignored_lines = 0
    for number, line in enumerate(_TERMINAL_CODE.sub("", text).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        columns = _leading_gpus(words)
        if len(columns) >= 2:
            if header:
                raise InputError(f"{path}: line {number}: a second header, expected one matrix")
            for column in columns:
                if columns.count(column) > 1:
                    raise InputError(f"{path}: line {number}: column {column}: given twice")
            header, ignored = columns, words[len(columns) :]
        elif header and len(columns) == 1:
            name = columns[0]
            if name in rows:
                raise InputError(f"{path}: line {number}: row {name}: given twice")
            if name not in header:
                shown = ", ".join(header)
                raise InputError(f"{path}: line {number}: row {name}: expected one of {shown}")
            rows[name] = number, words[1:]
        else:
            ignored_lines += 1
    if not header:
        raise InputError(
            f"{path}: header: none found, expected a line with two or more of GPU0, GPU1, ..."
        )
    for column in header:
        if column not in rows:
            raise InputError(f"{path}: row {column}: missing, expected a row for every column")
    counts = {name: _counts(path, name, rows[name], header) for name in header}
    return Matrix(
        tuple(_gpu(name) for name in header),
        _pairs(path, counts),
        tuple(ignored),
        ignored_lines,
        sha256,
    )


def _text(path: Path) -> tuple[str, str]:
    content = read_bytes(path)
    return decoded(path, content), hashlib.sha256(content).hexdigest()


def _leading_gpus(words: list[str]) -> list[str]:
    """Return the names of GPUs with which a line begins: two or more in a header, one in a row."""
    count = 0
    while count < len(words) and _GPU.fullmatch(words[count]):
        count += 1
    return words[:count]


def _counts(path: Path, name: str, row: tuple[int, list[str]], header: list[str]) -> dict[str, int]:
    """Return the number of NVLinks in each cell of a row."""
    number, cells = row
    place = f"{path}: line {number}: row {name}"
    if len(cells) < len(header):
        raise InputError(f"{place}: {len(cells)} cells, expected {len(header)}")
    counts = {}
    for column, cell in zip(header, cells, strict=False):
        if column == name:
            if cell != "X":
                raise InputError(f"{place}, column {column}: {cell!r}, expected X")
            continue
        nvlinks = _NVLINKS.fullmatch(cell)
        if nvlinks is None and cell not in _THROUGH_HOST:
            raise InputError(f"{place}, column {column}: {cell!r}, {_EXPECTED_CELL}")
        counts[column] = int(nvlinks[1]) if nvlinks else 0
    return counts


def _pairs(path: Path, counts: dict[str, dict[str, int]]) -> dict[tuple[int, int], int]:
    """Return the number of NVLinks of every pair that has some; both cells must say the same."""
    pairs = {}
    for name, row in counts.items():
        for column, links in row.items():
            back = counts[column][name]
            if back != links:
                raise InputError(
                    f"{path}: row {name}, column {column}: {links} NVLinks, "
                    f"expected {back} as in row {column}, column {name}"
                )
            if links and _gpu(name) < _gpu(column):
                pairs[_gpu(name), _gpu(column)] = links
    return dict(sorted(pairs.items()))


def _gpu(name: str) -> int:
    return int(name.removeprefix("GPU"))


def _switched(path: Path, matrix: Matrix, settings: NvidiaTopoOptions) -> bool:
    """Return True if the NVLinks lead to a switch."""
    in_row = dict.fromkeys(matrix.gpus, 0)
    for pair, links in matrix.nvlinks.items():
        for gpu in pair:
            in_row[gpu] += links
    busiest = max(matrix.gpus, key=lambda gpu: in_row[gpu])
    if settings.nvswitch == "no" or (
        settings.nvswitch == "auto" and in_row[busiest] <= MOST_NVLINKS
    ):
        return False
    pairs = len(matrix.gpus) * (len(matrix.gpus) - 1) // 2
    if len(matrix.nvlinks) < pairs or len(set(matrix.nvlinks.values())) > 1:
        raise InputError(
            f"{path}: row GPU{busiest}: {in_row[busiest]} NVLinks in all, expected at most "
            f"{MOST_NVLINKS}, or the same number in every cell as behind an NVSwitch"
        )
    return True


def _instance(matrix: Matrix, switched: bool, settings: NvidiaTopoOptions) -> ForestPackingInstance:
    first_free = max(matrix.gpus) + 1
    switches: list[int] = []
    links: list[Link] = []

    def add(u: int, v: int, bandwidth: float) -> None:
        # 3 x 0.1 is 0.3, also in floating point.
        bandwidth = float(f"{bandwidth:.12g}")
        links.append(Link(src=u, dst=v, bandwidth_gbyte_per_s=bandwidth, both=True))

    def add_switch(bandwidth: float) -> None:
        switches.append(first_free + len(switches))
        for gpu in matrix.gpus:
            add(gpu, switches[-1], bandwidth)

    if switched:
        (count,) = set(matrix.nvlinks.values())
        add_switch(count * settings.nvlink_gbyte_per_s)
    else:
        for (u, v), count in matrix.nvlinks.items():
            add(u, v, count * settings.nvlink_gbyte_per_s)
    if settings.pcie_gbyte_per_s > 0:
        add_switch(settings.pcie_gbyte_per_s)
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
        raise InputError(
            f"options of nvidia_topo: {place}: {first['input']!r}: {first['msg']}"
        ) from error
