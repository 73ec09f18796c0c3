"""Where tables are printed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Return the console of standard output; one that is no terminal gets a fixed width."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=160)
