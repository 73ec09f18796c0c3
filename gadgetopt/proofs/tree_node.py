"""A node on the path of a tree search, and the text that the search leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gadgetopt.numbers.arrays import Floats


@dataclass(frozen=True)
class TreeText:
    """The lines of a proof, and its number of leaves."""

    lines: list[str]
    leaves: int


@dataclass
class Node:
    """A split on the path, and the duals of the node that was split, None if it has none.

    Attributes
    ----------
    closing : str
        The leaf of the side that propagation closes; empty for other splits.
    closes_left : bool
    at, closed_at : int
        Places of the split and of the closing leaf among the lines.
    is_used : bool
        Whether a leaf rests on the bound of the other side.
    """

    words: list[str]
    duals: Floats | None
    left: bool = True
    closing: str = ""
    closes_left: bool = False
    at: int = 0
    closed_at: int = 0
    is_used: bool = False

    @property
    def closes_here(self) -> bool:
        """Whether the search is on the side that propagation closes."""
        return bool(self.closing) and self.left == self.closes_left
