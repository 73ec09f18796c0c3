"""Labels: how the devices of a placement hold a logical tensor.

A label has one part for every level of the placement's hierarchy, the outermost first. A part is
the split axis (0, 1, ...), `BROADCAST` or `PARTIAL`. In files, and to people, `S0`, `B`, `P`, and
`S0,B` on two levels.
"""

from __future__ import annotations

import re

#: Every device holds a full copy; every device holds a summand of the full shape.
BROADCAST, PARTIAL = -1, -2

#: One part for every level of the hierarchy.
Label = tuple[int, ...]

_PART = re.compile(r"S(0|[1-9][0-9]?)|B|P")


def parse(text: str) -> Label:
    """Return the label that a text such as `S0` or `S0,B` denotes.

    Raises
    ------
    ValueError
        If it denotes none.
    """
    parts = []
    for part in text.split(","):
        if not _PART.fullmatch(part):
            raise ValueError(f"{text!r} is not a label such as 'S0', 'B', 'P' or 'S0,B'")
        parts.append({"B": BROADCAST, "P": PARTIAL}.get(part) if part in "BP" else int(part[1:]))
    return tuple(p for p in parts if p is not None)


def write(label: Label) -> str:
    """Return a label as text."""
    return ",".join({BROADCAST: "B", PARTIAL: "P"}.get(part, f"S{part}") for part in label)


def splits(label: Label, axis: int, hierarchy: tuple[int, ...]) -> int:
    """Return the number of slices into which a label cuts an axis."""
    count = 1
    for part, devices in zip(label, hierarchy, strict=True):
        if part == axis:
            count *= devices
    return count


def slice_elements(label: Label, shape: tuple[int, ...], hierarchy: tuple[int, ...]) -> int:
    """Return the elements on the device that holds most: the first slices of an axis are longer."""
    extents = list(shape)
    for part, devices in zip(label, hierarchy, strict=True):
        if part >= 0:
            extents[part] = -(-extents[part] // devices)
    elements = 1
    for extent in extents:
        elements *= extent
    return elements
