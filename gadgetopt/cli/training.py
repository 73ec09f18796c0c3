"""The command `train`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from gadgetopt.cli.completion import trainer_names
from gadgetopt.cli.options import (
    FIGURE_FILE,
    Json,
    Plugins,
    Seed,
    Settings,
    System,
    TimeLimit,
    check_outputs,
    limits,
)
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.reporting.words import spaced


def train(
    system: System,
    trainer: Annotated[
        str | None,
        typer.Argument(
            metavar="[TRAINER]", help="Default: the system's first.", autocompletion=trainer_names
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help="Preset of the trainer.")] = "small",
    out: Annotated[Path, typer.Option("--out", help="File of the policy.")] = Path("policy.npz"),
    seed: Seed = 0,
    settings: Settings = None,
    time_limit: TimeLimit = None,
    plot: Annotated[
        Path | None, typer.Option(help=f"Write a picture of the curve: {FIGURE_FILE}.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew; replace what an earlier training wrote.")
    ] = False,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Train a policy; continue a training that was stopped.

    The exit code is 1 if the time limit came before the last round: there is no policy yet.
    """
    from gadgetopt.reporting.curves import learning_curve
    from gadgetopt.reporting.images import check_figure_file, write_figure
    from gadgetopt.runs.training import checkpoint_of, curve_of
    from gadgetopt.runs.training import train as run
    from gadgetopt.system.methods import parse_assignments
    from gadgetopt.system.registry import problem
    from gadgetopt.system.training import find_trainer

    declared = problem(system)
    chosen = find_trainer(declared, trainer)
    if preset not in chosen.presets:
        raise InputError(f"--preset: {preset!r}, expected one of {', '.join(chosen.presets)}")
    changed = parse_assignments(settings or (), chosen.parameters, "--set")
    parameters = {**chosen.parameters, **chosen.presets[preset], **changed}
    check_figure_file("--plot", plot)
    if out.is_dir():
        raise InputError(f"{out}: is a directory, expected a file")
    check_outputs(plot, curve_of(out), checkpoint_of(out), read=out)
    trained = run(
        declared, chosen, parameters, seed, out, limits(time_limit, 1, None, 0.0), force=force,
        say=None if as_json else _say,
    )  # fmt: skip
    if plot is not None:
        write_figure(learning_curve(trained.curve, f"{system}: {chosen.name}, seed {seed}"), plot)
    files = {"curve": curve_of(out), **({"policy": out} if trained.finished else {})}
    if as_json:
        row = {
            "trainer": chosen.name, "rounds_before": trained.before, "rounds": trained.after,
            "finished": trained.finished, "curve": [dict(r) for r in trained.curve],
            "files": {k: str(v) for k, v in files.items()},
        }  # fmt: skip
        echo(json.dumps(row, indent=1))
    elif trained.finished:
        echo(f"{out}: trained in {trained.after} rounds, for {', '.join(chosen.methods)}")
    if not trained.finished:
        left = f"stopped after {trained.after} of {trained.rounds} rounds"
        print(f"gadgetopt: {left}; the same command goes on", file=sys.stderr)
    return 0 if trained.finished else 1


def _say(done: int, rounds: int, row: Mapping[str, float]) -> None:
    values = ", ".join(f"{spaced(name)} {value:.6g}" for name, value in row.items())
    echo(f"round {done} of {rounds}: {values}")
    sys.stdout.flush()
