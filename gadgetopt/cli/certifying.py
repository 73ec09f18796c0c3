"""The command `certify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gadgetopt.cli.options import Instances, Memory, Methods, Plugins, Systems, budget, names_of
from gadgetopt.cli.printing import echo


def certify(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="SQLite file of runs.")],
    within: Annotated[
        str,
        typer.Option(
            "--budget",
            help="Seconds for each run, or a multiple of its time.",
            parser=budget,
            metavar="S|10x",
        ),
    ] = "10x",
    systems: Systems = None,
    methods: Methods = None,
    instances: Instances = None,
    memory_mb: Memory = None,
    plugin: Plugins = None,
) -> int:
    """Prove the bounds of a store that are only a solver's word.

    Each run keeps what could be proved. A search that exceeds its time or memory is stopped; Ctrl-C
    or SIGTERM ends the command within seconds, without losing what was proved. The exit code is 1
    if bounds were tried and nothing was proved.
    """
    from gadgetopt.cli import INTERRUPTED
    from gadgetopt.runs.certifying import certify_store

    chosen = names_of(systems), names_of(methods), names_of(instances)
    counts = certify_store(store, within, *chosen, memory_mb=memory_mb, tell=echo)
    echo(
        f"{store}: {counts.verified} of {counts.runs} bounds verified now, "
        f"{counts.partly} proved in part"
    )
    if counts.failed:
        echo(f"{counts.failed} of {counts.runs} searches failed by an unexpected error")
    nothing = counts.runs > 0 and not (counts.verified or counts.partly)
    return INTERRUPTED if counts.interrupted else int(nothing or counts.failed > 0)
