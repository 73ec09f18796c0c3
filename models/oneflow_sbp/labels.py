"""Labels: how a tensor is held along every dimension of a hierarchy of devices.

A label has one part for every dimension, the outer first. A part is "S0", "S1", ... (split along
that axis of the tensor: balanced slices, the first ones one larger), "B" (broadcast: every device
has all of it) or "P" (partial: the tensor is the sum over the devices). In files a label is "S0" on
a line of devices and "(S0,B)" on a hierarchy of two dimensions.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

#: One part for every dimension of the hierarchy of devices.
Label = tuple[str, ...]
#: Extents of a tensor's axes.
Shape = tuple[int, ...]

BROADCAST = "B"
PARTIAL = "P"

_PART = re.compile(r"S(0|[1-9][0-9]?)|B|P")


def split(axis: int) -> str:
    """Return the part that splits an axis."""
    return f"S{axis}"


def axis_of(part: str) -> int | None:
    """Return the axis that a part splits, None if it splits none."""
    return int(part[1:]) if part[0] == "S" else None


def parse_label(text: str) -> Label:
    """Return the label of a text such as "S0" or "(S0,B)".

    Raises
    ------
    ValueError
        With a sentence that says what is expected.
    """
    inner = text[1:-1].split(",") if text.startswith("(") and text.endswith(")") else [text]
    parts = tuple(part.strip() for part in inner)
    if not all(_PART.fullmatch(part) for part in parts) or (len(parts) == 1 and text[:1] == "("):
        raise ValueError(f"{text!r} is not a label such as 'S0', 'B', 'P' or '(S0,B)'")
    return parts


def label_text(label: Label) -> str:
    """Return the text of a label, which `parse_label` reads."""
    return label[0] if len(label) == 1 else f"({','.join(label)})"


def splits(label: Label, hierarchy: Sequence[int]) -> Counter[int]:
    """Return into how many slices each split axis is cut."""
    counts: Counter[int] = Counter()
    for part, devices in zip(label, hierarchy, strict=True):
        axis = axis_of(part)
        if axis is not None:
            counts[axis] = counts.get(axis, 1) * devices
    return counts


def fits(label: Label, shape: Shape, hierarchy: Sequence[int]) -> bool:
    """Return True if every axis that a label splits has an element for each slice."""
    return all(a < len(shape) and shape[a] >= n for a, n in splits(label, hierarchy).items())


def all_labels(shape: Shape, hierarchy: Sequence[int]) -> list[Label]:
    """Return every label in which a tensor can be held on a hierarchy."""
    labels: list[Label] = [()]
    for _ in hierarchy:
        parts = [*map(split, range(len(shape))), BROADCAST, PARTIAL]
        labels = [(*label, part) for label in labels for part in parts]
    return [label for label in labels if fits(label, shape, hierarchy)]


def shard_shape(shape: Shape, label: Label, hierarchy: Sequence[int]) -> Shape:
    """Return the extents of the largest shard, that of the first device."""
    extents = list(shape)
    for part, devices in zip(label, hierarchy, strict=True):
        axis = axis_of(part)
        if axis is not None:
            extents[axis] = -(-extents[axis] // devices)
    return tuple(extents)


def elements(shape: Shape) -> int:
    """Return the number of elements of a tensor."""
    return math.prod(shape)


def split_devices(labels: Iterable[Label], hierarchy: Sequence[int]) -> int:
    r"""Return into how many parts a signature of these labels divides the work.

    That is :math:`\prod_d h_d` over the dimensions in which an input or the output is split.
    """
    divided = {d for label in labels for d, part in enumerate(label) if axis_of(part) is not None}
    return math.prod(hierarchy[d] for d in divided)
