"""Cells: what a device executes, in the words of PyTorch's schedules.

A cell is a text such as "2F0": stage 2, forward, microbatch 0. Two more kinds and a pair:

==========================  ======================================================================
``2F0``                     forward
``2I0``                     gradient of the input, which the stage before waits for
``2W0``                     gradient of the weights, which nobody waits for
``2B0``                     both: I and W at once, or one fused backward (`Stage.fused_saving_s`)
``(2F3;1B0)OVERLAP_F_B``    a forward and a backward executed together (`Overlap`)
``2R0``                     recomputation of what the forward did not keep; before its I or B
``2O0``                     the device waits here for the copy of what F left to the host
``2L0``                     the copy back begins here; the I or B waits for it
==========================  ======================================================================

R, O and L are ours; PyTorch knows the others.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_CELL = re.compile(r"(0|[1-9][0-9]*)([FIWBROL])(0|[1-9][0-9]*)")
_PAIR = re.compile(r"\(([^;]*);([^;]*)\)OVERLAP_F_B")
#: Most digits of a stage or a microbatch in a cell. By definition.
_MOST_DIGITS = 9


class Operation(NamedTuple):
    """A kind of work on one microbatch of one stage."""

    stage: int
    kind: str
    microbatch: int

    def __str__(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"


#: One operation, or forward and backward of a pair.
Cell = tuple[Operation, ...]


def read_cell(text: str) -> Cell:
    """Return the operations of a cell.

    Raises
    ------
    ValueError
        If it is no cell.

    Examples
    --------
    >>> [str(op) for op in read_cell("(2F3;1B0)OVERLAP_F_B")]
    ['2F3', '1B0']
    """
    pair = _PAIR.fullmatch(text)
    operations = tuple(map(_read_operation, pair.groups() if pair else (text,)))
    if pair and [op.kind for op in operations] != ["F", "B"]:
        raise ValueError("expected a pair such as '(2F3;1B0)OVERLAP_F_B'")
    return operations


def _read_operation(text: str) -> Operation:
    found = _CELL.fullmatch(text) if len(text) <= 2 * _MOST_DIGITS + 1 else None
    if found is None:
        raise ValueError("expected a cell such as '2F0', '2I0', '2W0' or '2B0'")
    stage, kind, microbatch = found.groups()
    return Operation(int(stage), kind, int(microbatch))


def write_cell(cell: Cell) -> str:
    """Return the text of a cell."""
    if len(cell) == 1:
        return str(cell[0])
    return f"({';'.join(map(str, cell))})OVERLAP_F_B"
