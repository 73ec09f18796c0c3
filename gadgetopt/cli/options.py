"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gadgetopt.errors import InputError
from gadgetopt.result import Limits

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.", min=0)]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", help="Wall-clock seconds of a solve.", metavar="S")
]
Threads = Annotated[int, typer.Option("--threads", help="Solver threads.", min=1)]
Memory = Annotated[
    float | None,
    typer.Option("--memory-mb", help="Memory of a solve, where the solver can limit it."),
]
Gap = Annotated[float, typer.Option("--gap", help="Relative gap at which a solve may stop.")]
System = Annotated[str, typer.Argument(metavar="SYSTEM", help="Name of a system, see `list`.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write to this file.")]


def limits(time_s: float | None, threads: int, memory_mb: float | None, rel_gap: float) -> Limits:
    """Return the limits the options ask for, or say which is out of range."""
    for option, value in (("--time-limit", time_s), ("--memory-mb", memory_mb)):
        if value is not None and not 0 < value < float("inf"):
            raise InputError(f"{option}: {value:g} is not a positive number")
    if not 0 <= rel_gap < 1:
        raise InputError(f"--gap: {rel_gap:g} is not in [0, 1)")
    return Limits(time_s, threads, memory_mb, rel_gap)
