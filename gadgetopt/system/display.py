"""Values that show themselves: at the prompt, by `print`, and in a notebook.

What they show is made by `gadgetopt.reporting.views`, which this room does not import: it is named
here as a declaration names its functions, and loaded when something is shown.
"""

from __future__ import annotations

import importlib
from typing import Any

from gadgetopt.system.printable import printable


def _views() -> Any:
    return importlib.import_module("gadgetopt.reporting.views")


class Displayed:
    """A value with a short `repr` and a display for notebooks."""

    def __repr__(self) -> str:
        return printable(str(_views().line(self)))

    def __str__(self) -> str:
        return printable(str(_views().text(self)))

    def _repr_html_(self) -> str:
        """Return numbers and picture as HTML."""
        return str(_views().page(self))

    def _ipython_display_(self) -> None:
        """Show numbers and picture as two outputs, so that each front end draws its own way."""
        _views().display(self)


class DisplayedResult(Displayed):
    """A result with what is known beside it; its numbers and its picture are those of the result.

    Attributes
    ----------
    result : Result
    ratio : Ratio or None
    """

    result: Any
    ratio: Any
