"""Signatures of operators that are known by their shapes only: samples are split, or nothing is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from ...instance import ListedSignature
from ...labels import (
    BROADCAST,
    Shape,
    fits,
    label_text,
    shard_shape,
    split,
    split_devices,
)


@dataclass(frozen=True)
class BySamples:
    """What is assumed of an operator.

    Attributes
    ----------
    samples : tuple of bool
        Whether the first axis of each input is that of the samples.
    work : int
        Floating-point operations of one device that does all of it; of a gradient, too.
    hierarchy : tuple of int
        Of the devices.
    """

    samples: tuple[bool, ...]
    work: int
    hierarchy: tuple[int, ...]

    def signatures(
        self, shapes: Sequence[Shape], shape: Shape, output_bytes: int, output: str = split(0)
    ) -> tuple[ListedSignature, ...]:
        """Return the signatures; where samples are split, the output is held as `output` says.

        Parameters
        ----------
        shapes : sequence of Shape
            Of the inputs.
        shape : Shape
            Of the output.
        output_bytes : int
            Of an element of the output.
        output : str
            S0, or P of a sum over samples.
        """
        whole = ((BROADCAST,) * len(shapes), BROADCAST)
        divided = tuple(split(0) if s else BROADCAST for s in self.samples)
        rows = [(divided, output), whole] if any(self.samples) else [whole]
        found = []
        for chosen in product(rows, repeat=len(self.hierarchy)):
            inputs = [tuple(row[0][slot] for row in chosen) for slot in range(len(shapes))]
            out = tuple(row[1] for row in chosen)
            tensors = zip((*inputs, out), (*shapes, shape), strict=True)
            if not all(fits(label, extents, self.hierarchy) for label, extents in tensors):
                continue
            parts = split_devices([*inputs, out], self.hierarchy)
            found.append(
                ListedSignature(
                    inputs=tuple(map(label_text, inputs)),
                    output=label_text(out),
                    compute=Fraction(self.work, parts),
                    memory_bytes=output_bytes * math.prod(shard_shape(shape, out, self.hierarchy)),
                )
            )
        return tuple(found)

    def gradient(self) -> BySamples:
        """Return what is assumed of a gradient, whose first input is that of the output."""
        return BySamples((any(self.samples), *self.samples), self.work, self.hierarchy)
