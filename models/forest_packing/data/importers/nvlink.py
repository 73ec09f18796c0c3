"""NVLinks of the generations of GPUs, and what a matrix of NVLinks can mean.

A matrix has two readings. In a mesh, NV# is the number of links between two GPUs. Behind NVSwitches
every pair shows the same NV#, which is then the number of links of one GPU to the switches. Neither
this nor the speed of a link is in the matrix, but a GPU has only so many links:

1. A GPU whose links cover the sum of a row can be in a mesh.
2. A GPU whose links do not, but are as many as every cell of an even matrix says, can be behind a
   switch.

Every GPU of the table is tried. If all that fit make the same network, it is taken; if they make
different ones, the matrix does not tell, and options must. A mesh and a switch of two GPUs are the
same network; it is made as a cable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gadgetopt.errors import InputError

Fabric = Literal["mesh", "switch"]


@dataclass(frozen=True)
class Gpu:
    """A GPU with NVLinks.

    Attributes
    ----------
    name : str
    links : int
        NVLinks of one GPU.
    link_gbyte_per_s : float
        Nominal bandwidth of one, per direction.
    built_as : tuple
        Machines that are common: "mesh"; "switch"; "bridge", that is pairs with all links between
        them. A GPU that is named may be in others.
    """

    name: str
    links: int
    link_gbyte_per_s: float
    built_as: tuple[Literal["mesh", "switch", "bridge"], ...]


#: Sources: [W] the article NVLink of Wikipedia (P100 to H100: links, bandwidth); [G] NVIDIA's
#: Ampere GA102 whitepaper (four links of 14.0625 GB/s); [D] data sheets of the bridges, as both
#: directions of all links (A30 200, GA102 112.5, TU102 100 GB/s); [B] NVLink 5: 1.8 TB/s in both
#: directions over 18 links; [A] AstraSim's table (8 links of A800, H800). Twice the links times
#: the bandwidth of one is the sum in both directions that data sheets give.
GPUS = (
    Gpu("p100", 4, 20.0, ("mesh",)),  # [W]
    Gpu("v100", 6, 25.0, ("mesh", "switch")),  # [W]
    Gpu("a100", 12, 25.0, ("mesh", "switch")),  # [W]
    Gpu("a800", 8, 25.0, ("mesh", "switch")),  # [A]
    Gpu("h100", 18, 25.0, ("mesh", "switch")),  # [W]
    Gpu("h200", 18, 25.0, ("mesh", "switch")),  # as H100
    Gpu("gh200", 18, 25.0, ("mesh", "switch")),  # as H100
    Gpu("h800", 8, 25.0, ("switch",)),  # [A]
    Gpu("h20", 18, 25.0, ("switch",)),  # as H100
    Gpu("b200", 18, 50.0, ("switch",)),  # [B]
    Gpu("b300", 18, 50.0, ("switch",)),  # as B200
    Gpu("gb200", 18, 50.0, ("switch",)),  # [B]; the board NVL4 is a mesh
    Gpu("gb300", 18, 50.0, ("switch",)),  # as GB200
    Gpu("a30", 4, 25.0, ("bridge",)),  # [D]
    Gpu("a40", 4, 14.0625, ("bridge",)),  # [G]
    Gpu("a5000", 4, 14.0625, ("bridge",)),  # [G]
    Gpu("a6000", 4, 14.0625, ("bridge",)),  # [G]
    Gpu("rtx3090", 4, 14.0625, ("bridge",)),  # [G]
    Gpu("rtx2080ti", 2, 25.0, ("bridge",)),  # [D]
    Gpu("rtx8000", 2, 25.0, ("bridge",)),  # [D]
)

_BRANDS = ("nvidia", "geforce", "quadro", "tesla", "rtx", "titan")

#: The most NVLinks that a GPU of the table has.
MOST_NVLINKS = max(gpu.links for gpu in GPUS)


def find_gpu(name: str) -> Gpu | None:
    """Return the GPU of a name, however it is written: a6000, RTX A6000, NVIDIA A100-SXM4-80GB."""
    words = re.findall(r"[a-z0-9]+", name.lower())
    words = [word for word in words if word not in _BRANDS]
    spellings = {word.removeprefix("rtx") for word in (*words[:1], "".join(words[:2]))}
    return next((gpu for gpu in GPUS if gpu.name.removeprefix("rtx") in spellings), None)


@dataclass(frozen=True)
class Group:
    """GPUs that NVLinks join, with the number of links of each pair that has some."""

    gpus: tuple[int, ...]
    nvlinks: dict[tuple[int, int], int]

    @property
    def in_row(self) -> dict[int, int]:
        """The sum of each GPU's row."""
        total = dict.fromkeys(self.gpus, 0)
        for pair, links in self.nvlinks.items():
            for gpu in pair:
                total[gpu] += links
        return total

    @property
    def most_in_row(self) -> int:
        """The sum of the fullest row."""
        return max(self.in_row.values())

    @property
    def every_cell(self) -> int | None:
        """The number of links of every pair if it is the same, else None."""
        pairs = len(self.gpus) * (len(self.gpus) - 1) // 2
        counts = set(self.nvlinks.values())
        return counts.pop() if len(self.nvlinks) == pairs and len(counts) == 1 else None

    def __str__(self) -> str:
        """Return the names of the GPUs."""
        return ", ".join(f"GPU{gpu}" for gpu in self.gpus)


def groups_of(gpus: Sequence[int], nvlinks: dict[tuple[int, int], int]) -> tuple[Group, ...]:
    """Return the GPUs by what NVLinks join, also those alone, in order of their first GPUs."""
    leader = {gpu: gpu for gpu in gpus}
    for u, v in nvlinks:
        low, high = sorted((leader[u], leader[v]))
        leader = {gpu: low if first == high else first for gpu, first in leader.items()}
    members: dict[int, list[int]] = {}
    for gpu in sorted(gpus):
        members.setdefault(leader[gpu], []).append(gpu)
    return tuple(
        Group(tuple(own), {pair: n for pair, n in nvlinks.items() if pair[0] in own})
        for own in members.values()
    )


@dataclass(frozen=True)
class Reading:
    """What the groups of a matrix are, and the bandwidth of a link; GPUs for which it is so."""

    fabrics: tuple[Fabric, ...]
    link_gbyte_per_s: float
    fits: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the reading in words."""
        kinds = " and ".join(f"a {kind}" for kind in dict.fromkeys(self.fabrics))
        return f"{kinds} of {', '.join(self.fits)} ({self.link_gbyte_per_s:g} GB/s a link)"


def reading_of(
    path: Path,
    groups: Sequence[Group],
    gpu: Gpu | None,
    fabric: Fabric | None,
    link_gbyte_per_s: float | None,
) -> Reading:
    """Return the only reading of the groups under what is given; None leaves it to the matrix.

    Raises
    ------
    InputError
        If there is none, or several: the message names the options that decide.
    """
    if not groups:
        return Reading((), link_gbyte_per_s or 0.0)
    _check_even(path, groups, fabric)
    if fabric and link_gbyte_per_s and gpu is None:
        return Reading((fabric,) * len(groups), link_gbyte_per_s)
    found: dict[tuple[tuple[Fabric, ...], float], tuple[str, ...]] = {}
    for candidate in GPUS if gpu is None else (gpu,):
        fabrics = [_fabric(group, candidate, fabric, named=gpu is not None) for group in groups]
        known = tuple(kind for kind in fabrics if kind is not None)
        if len(known) == len(groups):
            network = known, link_gbyte_per_s or candidate.link_gbyte_per_s
            found[network] = (*found.get(network, ()), candidate.name)
    readings = [Reading(*network, fits) for network, fits in found.items()]
    if len(readings) == 1:
        return readings[0]
    if readings:
        raise InputError(_question(path, groups, readings))
    if gpu is not None:
        raise InputError(_misfit(path, groups, gpu))
    if link_gbyte_per_s:
        # More links in a row than any GPU has, and even: a switch.
        return Reading(
            tuple("mesh" if g.most_in_row <= MOST_NVLINKS else "switch" for g in groups),
            link_gbyte_per_s,
        )
    raise InputError(
        f"{path}: {_shape(_fullest(groups))}: no GPU known here has such links, "
        f"expected --set link_gbyte_per_s=... with --set fabric=switch or fabric=mesh"
    )


def _fabric(group: Group, gpu: Gpu, fabric: Fabric | None, *, named: bool) -> Fabric | None:
    """Return what a group is if its GPUs are these, None if they cannot be."""
    row, cell = group.most_in_row, group.every_cell
    mesh = row <= gpu.links
    fewer_up = cell is not None and cell < gpu.links and named and fabric == "switch"
    switch = cell == gpu.links or fewer_up
    if not named:
        bridge = len(group.gpus) == 2 and cell == gpu.links
        mesh = mesh and ("mesh" in gpu.built_as or ("bridge" in gpu.built_as and bridge))
        # Two GPUs behind a switch are the same network as two with a cable.
        mesh = mesh or (len(group.gpus) == 2 and switch and "switch" in gpu.built_as)
        switch = switch and "switch" in gpu.built_as
    if fabric == "switch":
        return "switch" if switch else None
    if mesh:
        return "mesh"
    return "switch" if switch and fabric is None else None


def _check_even(path: Path, groups: Sequence[Group], fabric: Fabric | None) -> None:
    """Refuse uneven rows that no mesh has, and uneven ones behind a switch."""
    for group in groups:
        if group.every_cell is not None or fabric == "mesh":
            continue
        busiest = max(group.gpus, key=lambda gpu: group.in_row[gpu])
        place = f"{path}: row GPU{busiest}: {group.in_row[busiest]} NVLinks in all, expected"
        if group.most_in_row > MOST_NVLINKS:
            raise InputError(
                f"{place} at most {MOST_NVLINKS}, or the same number in every cell as behind an "
                "NVSwitch"
            )
        if fabric == "switch":
            raise InputError(f"{place} the same number in every cell, as fabric=switch has")


def _question(path: Path, groups: Sequence[Group], readings: Sequence[Reading]) -> str:
    """Return the message that says what is open, and which options decide it."""
    names = [f"gpu={reading.fits[0]}" for reading in readings]
    options = [f"--set {' or '.join(names)}"]
    if len({reading.fabrics for reading in readings}) > 1:
        options.append("--set fabric=switch or fabric=mesh")
    if len({reading.link_gbyte_per_s for reading in readings}) > 1:
        options.append("--set link_gbyte_per_s=...")
    return (
        f"{path}: {_shape(_fullest(groups))} can be {', or '.join(map(str, readings))}; "
        f"the matrix does not tell, expected {', or '.join(options)}"
    )


def _misfit(path: Path, groups: Sequence[Group], gpu: Gpu) -> str:
    return (
        f"{path}: {_shape(_fullest(groups))} does not fit gpu={gpu.name}: it has {gpu.links} "
        "NVLinks, expected at most so many in a row of a mesh, or so many in every cell behind a "
        "switch (or fewer with --set fabric=switch)"
    )


def _fullest(groups: Sequence[Group]) -> Group:
    return max(groups, key=lambda group: group.most_in_row)


def _shape(group: Group) -> str:
    cell = group.every_cell
    if cell is None:
        return f"up to {group.most_in_row} NVLinks in a row of {group}"
    return f"NV{cell} in every cell of {group}"
