"""Labels of partial plans as arrays, and which of them others dominate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints


@dataclass
class Labels:
    """Labels of one number of layers; all arrays have one entry a label."""

    state: Ints
    largest: Ints
    head: Ints
    tail: Ints
    onward: Ints
    bound: Ints
    parent: Ints
    option: Ints

    def __len__(self) -> int:
        return len(self.state)

    def chosen(self, which: Ints | Bools) -> Labels:
        """Return some of the labels."""
        return Labels(*(getattr(self, name)[which] for name in Labels.__dataclass_fields__))

    @staticmethod
    def joined(parts: list[Labels]) -> Labels:
        """Return the labels of several parts."""
        names = Labels.__dataclass_fields__
        return Labels(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


def undominated(labels: Labels, standing: Ints) -> Bools:
    """Return True for labels that no other label dominates.

    Labels are sorted by group of states, then `largest`, so that a label is dominated by earlier
    ones only. One dominates another if none of its numbers is larger, its replicas are not fewer,
    its stages not more, and its home is the same, or the other's is 0.
    """
    keep = np.zeros(len(labels), dtype=bool)
    ends = np.flatnonzero(np.diff(standing[:, 0])) + 1
    numbers = np.stack(
        [labels.head, labels.tail, labels.onward, standing[:, 1], standing[:, 3]], axis=0
    )
    homes = standing[:, 2]
    for low, high in zip([0, *ends], [*ends, len(labels)], strict=True):
        left = np.arange(low, high)
        while len(left):
            best, left = left[0], left[1:]
            keep[best] = True
            worse = (homes[left] == 0) | (homes[left] == homes[best])
            for row in numbers:
                worse &= row[left] >= row[best]
            left = left[~worse]
    return keep
