"""What trains a policy, and policies as files: arrays and plain text in one npz, never pickled.

A policy file holds the arrays that a trainer declares and, as JSON in the array `about`, the
system, the trainer, its parameters, the seed and the number of rounds that made it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.system.declaration import Problem, Trainer
from gadgetopt.system.output import whole_file
from gadgetopt.system.reading import check_regular

Arrays = Mapping[str, npt.NDArray[Any]]

#: Name of the array that holds the JSON text.
_ABOUT = "about"
#: Bytes of all arrays of a file; a larger one is not read.
_MOST_BYTES = 2**30


class Training(Protocol):
    """A training in rounds, whose state is a set of arrays.

    After `restore(state())` of another training with the same seed and parameters, the rounds that
    follow are the same: what is random comes from the generator that each round is given.
    """

    rounds: int

    def round(self, k: int, rng: np.random.Generator) -> Mapping[str, float]:
        """Do round k, from 0; return its row of the curve (a column may be missing in a row)."""

    def state(self) -> Arrays:
        """Return everything that later rounds depend on."""

    def restore(self, state: Arrays) -> None:
        """Take over what `state` returned."""

    def policy(self) -> Arrays:
        """Return what the methods need."""


@dataclass(frozen=True)
class About:
    """Where a policy or a checkpoint comes from; `curve` holds the rows of a checkpoint."""

    system: str
    trainer: str
    parameters: Mapping[str, Any]
    seed: int
    rounds: int
    curve: tuple[Mapping[str, float], ...] = ()

    def same_training(self, other: About) -> bool:
        """Return True if both are of one training, at any of its rounds."""
        return self._asked() == other._asked()

    def _asked(self) -> str:
        # As text, where tuples are lists as in a file.
        asked = (self.system, self.trainer, dict(self.parameters), self.seed)
        return json.dumps(asked, sort_keys=True)

    def __str__(self) -> str:
        changed = "".join(f", {name} {value}" for name, value in self.parameters.items())
        return f"{self.system} {self.trainer}, seed {self.seed}{changed}"


@dataclass(frozen=True)
class Policy:
    """A policy that was read, and the file's name for messages."""

    about: About
    arrays: Arrays = field(repr=False)
    place: str = "policy"

    def array(self, name: str, *shape: int | None) -> Floats:
        """Return an array of finite numbers; a None in `shape` allows any length.

        Raises
        ------
        InputError
            If it is missing, of another shape, or not of finite numbers.
        """
        place = f"{self.place}: {name}"
        if name not in self.arrays:
            raise InputError(f"{place}: missing, expected an array")
        array = self.arrays[name]
        if array.dtype.kind not in "fiu" or not np.isfinite(array).all():
            raise InputError(f"{place}: {array.dtype} array, expected finite numbers")
        fits = [wanted in (None, n) for wanted, n in zip(shape, array.shape, strict=False)]
        if array.ndim != len(shape) or not all(fits):
            wanted = "x".join("any" if n is None else str(n) for n in shape) or "one number"
            found = "x".join(map(str, array.shape)) or "one number"
            raise InputError(f"{place}: shape {found}, expected {wanted}")
        return array.astype(np.float64)


def find_trainer(declared: Problem, name: str | None) -> Trainer:
    """Return a system's trainer by name, its first one for None.

    Raises
    ------
    InputError
        If there is none.
    """
    for trainer in declared.trainers:
        if name in (None, trainer.name):
            return trainer
    known = ", ".join(t.name for t in declared.trainers) or "none"
    raise InputError(
        f"trainer {name or ''!r}: {declared.name} has no such trainer (it has: {known})"
    )


def write_arrays(path: Path, about: About, arrays: Arrays) -> None:
    """Write a policy or a checkpoint, whole or not at all; equal content makes equal files.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    text = json.dumps(asdict(about))
    with whole_file(path) as part, part.open("wb") as stream:
        np.savez(stream, allow_pickle=False, **{_ABOUT: np.array(text)}, **arrays)


def read_arrays(path: Path, system: str) -> Policy:
    """Read what `write_arrays` wrote; nothing in the file is executed.

    Raises
    ------
    InputError
        One line, if there is no such file, or it is something else or another system's.
    """
    expected = f"expected what `gadgetopt train {system}` writes"
    check_regular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                raise InputError(f"{path}: holds more than {_MOST_BYTES} bytes")
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
        about = About(**json.loads(str(arrays.pop(_ABOUT))))
        about = About(**{**asdict(about), "rounds": int(about.rounds), "seed": int(about.seed)})
        _ = str(about)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None
    except InputError:
        raise
    except Exception:  # a damaged archive ends in any of a dozen exceptions
        raise InputError(f"{path}: is not a policy file, {expected}") from None
    if about.system != system:
        raise InputError(f"{path}: system: {about.system!r}, expected {system!r}")
    return Policy(about, arrays, str(path))


def read_policy(path: str | Path, system: str, trainers: tuple[str, ...]) -> Policy:
    """Read a policy of one of some trainers.

    Raises
    ------
    InputError
        One line, if the file holds anything else.
    """
    policy = read_arrays(Path(path), system)
    if policy.about.trainer not in trainers:
        known = " or ".join(map(repr, trainers))
        raise InputError(f"{path}: trainer: {policy.about.trainer!r}, expected {known}")
    return policy
