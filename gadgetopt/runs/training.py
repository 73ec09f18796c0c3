"""Trainings that go on where they were stopped, and end with the same policy.

The state after a round is saved beside the policy, `OUT.checkpoint`, and the curve as
`OUT.curve.csv`. Each round has a random generator of its own, made of the seed and the round's
number, so that a training that was killed does the remaining rounds as it would have done them.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaration import Problem, Trainer
from gadgetopt.system.output import whole_file
from gadgetopt.system.result import Limits
from gadgetopt.system.training import About, Training, read_arrays, write_arrays

Curve = Sequence[Mapping[str, float]]

#: Seconds between two checkpoints, and so what a kill costs.
CHECKPOINT_S = 10.0


@dataclass(frozen=True)
class Trained:
    """What a call of `train` did: rounds done before it, after it and in all, and the curve."""

    before: int
    after: int
    rounds: int
    curve: Curve

    @property
    def finished(self) -> bool:
        """True if the policy is written."""
        return self.after == self.rounds


def checkpoint_of(out: Path) -> Path:
    """Return the file that holds the state of an unfinished training."""
    return out.with_name(f"{out.name}.checkpoint")


def curve_of(out: Path) -> Path:
    """Return the file of the curve."""
    return out.with_name(f"{out.name}.curve.csv")


def train(
    declared: Problem,
    trainer: Trainer,
    parameters: Mapping[str, Any],
    seed: int,
    out: Path,
    limits: Limits | None = None,
    *,
    force: bool = False,
    checkpoint_s: float = CHECKPOINT_S,
    say: Callable[[int, int, Mapping[str, float]], None] | None = None,
) -> Trained:
    """Train a policy, from the last checkpoint if there is one, and write it to a file.

    Parameters
    ----------
    declared, trainer : Problem, Trainer
    parameters : mapping
        All parameters of the trainer.
    seed : int
    out : Path
    limits : Limits, optional
        Training stops after the round in which the time is over.
    force : bool
        Begin anew, and replace a policy or checkpoint of another training.
    checkpoint_s : float
    say : callable, optional
        Told of every round: rounds done, rounds in all, the row of the curve.

    Raises
    ------
    InputError
        If `out` or its checkpoint is of another training.
    """
    clock = Clock(limits)
    asked = About(declared.name, trainer.name, dict(parameters), seed, 0)
    kept = None if force else _kept(asked, out)
    training: Training = trainer.start(seed, **parameters)
    curve: list[Mapping[str, float]] = []
    before = 0
    if kept is not None:
        before, curve = kept.about.rounds, list(kept.about.curve)
        if kept.place == str(out):
            return Trained(before, before, before, _read_curve(curve_of(out)))
        try:
            training.restore(kept.arrays)
        except (KeyError, ValueError, RuntimeError):
            raise InputError(
                f"{kept.place}: is not a state of {trainer.name}; --force begins anew"
            ) from None
    done, saved_s = before, 0.0
    while done < training.rounds:
        row = {k: float(v) for k, v in training.round(done, _stream(seed, done)).items()}
        curve.append(row)
        done += 1
        if say is not None:
            say(done, training.rounds, row)
        stops = clock.expired
        if stops or clock.elapsed_s - saved_s >= checkpoint_s:
            _save(asked, training, done, curve, out)
            saved_s = clock.elapsed_s
        if stops:
            break
    if done == training.rounds:
        _write_curve(curve, curve_of(out))
        about = About(asked.system, asked.trainer, asked.parameters, seed, done)
        write_arrays(out, about, training.policy())
        checkpoint_of(out).unlink(missing_ok=True)
    return Trained(before, done, training.rounds, curve)


def _stream(seed: int, k: int) -> np.random.Generator:
    return np.random.default_rng([seed, k])


def _kept(asked: About, out: Path) -> Any:
    """Return the finished policy or the checkpoint of the training that is asked for."""
    for path, what in ((out, "policy"), (checkpoint_of(out), "checkpoint")):
        if path.exists():
            kept = read_arrays(path, asked.system)
            if not kept.about.same_training(asked):
                raise InputError(
                    f"{path}: is the {what} of another training ({kept.about}), expected that of "
                    f"{asked}; --force begins anew"
                )
            return kept
    return None


def _save(asked: About, training: Training, done: int, curve: Curve, out: Path) -> None:
    about = About(
        asked.system, asked.trainer, asked.parameters, asked.seed, done, tuple(map(dict, curve))
    )
    write_arrays(checkpoint_of(out), about, training.state())
    _write_curve(curve, curve_of(out))


def _write_curve(curve: Curve, path: Path) -> None:
    columns = list(dict.fromkeys(name for row in curve for name in row))
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["round", *columns])
        for k, row in enumerate(curve):
            writer.writerow([k + 1, *(repr(row[c]) if c in row else "" for c in columns)])


def _read_curve(path: Path) -> Curve:
    """Return the curve of a finished training, empty if its file is gone or was changed."""
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [
                {k: v for k, v in row.items() if k != "round"} for row in csv.DictReader(stream)
            ]
        return [{name: float(text) for name, text in row.items() if text} for row in rows]
    except (OSError, ValueError):
        return []
