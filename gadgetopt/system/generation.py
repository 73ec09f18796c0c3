"""Instances generated from presets: one by one, or in series that reuse existing files.

A series whose options have several values, a sweep, holds its instances once for each combination
of values, drawn from the same seeds.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, ValidationError

from gadgetopt import __version__
from gadgetopt.errors import InputError
from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt
from gadgetopt.system.declaration import Generator, Problem
from gadgetopt.system.files import Document, read_instance, write
from gadgetopt.system.registry import problem
from gadgetopt.system.sweeps import arguments, as_text, parse_options, points

#: Longest label of options in a file name; of longer ones the end is replaced by a digest.
_LONGEST_LABEL = 120


class Series(Data):
    """A series of instances of a preset: a count, seeds, and options of the generator.

    There are `count` instances of each of `seeds` seeds from `seed` on. As text it is
    `system:preset:count=5:seed=0:seeds=1:option=value`. A colon or backslash inside a value
    is written with a backslash before it. An option with a list of values is swept: there are
    `count` instances for each combination of values.
    """

    system: str
    preset: str = "quickstart"
    count: PositiveInt = 1
    seed: NonNegativeInt = 0
    seeds: PositiveInt = 1
    options: dict[str, Any] = Field(default_factory=dict)

    @property
    def spec(self) -> str:
        """The series as text."""
        parts = [self.system, self.preset, f"count={self.count}", f"seed={self.seed}"]
        parts += [f"seeds={self.seeds}"] if self.seeds > 1 else []
        parts += _assignments(self)
        return ":".join(re.sub(r"([:\\])", r"\\\1", part) for part in parts)

    @property
    def names(self) -> list[str]:
        """Names of the instances.

        They say the seed and every option that is given, and are equal only for equal instances.
        """
        return [draw.name for draw in self._draws(_generator(self))]

    def _draws(self, generator: Generator) -> Iterator[Draw]:
        start = f"{self.system}_{self.preset}"
        for seed in range(self.seed, self.seed + self.seeds):
            yield from draws(generator, self.options, seed, self.count, start, digits=3)


def options_label(options: Mapping[str, Any]) -> str:
    """Return the part of an instance's name for its options; equal only for equal options."""
    label = "".join(f"_{k}={as_text(v)}" for k, v in sorted(options.items()))
    clean = re.sub(r"[^A-Za-z0-9.=+-]+", "_", label)[:_LONGEST_LABEL]
    if clean != label:
        clean += "_" + hashlib.sha256(label.encode()).hexdigest()[:8]
    return clean


def parse_series(spec: str, place: str) -> Series:
    """Read a series from its text.

    Raises
    ------
    InputError
        One line that begins with `place`, if the system, preset or an option is wrong.
    """
    parts = [""]
    for token in re.findall(r"\\[:\\]|.", spec, re.DOTALL):
        if token == ":":
            parts.append("")
        else:
            parts[-1] += token[-1]
    system, *rest = parts
    given: dict[str, Any] = {"system": system}
    options = []
    if rest and "=" not in rest[0]:
        given["preset"] = rest.pop(0)
    for assignment in rest:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise InputError(f"{place}: {assignment!r} is not of the form name=value")
        if name in ("count", "seed", "seeds"):
            given[name] = _whole(value, 0 if name == "seed" else 1, f"{place}: {name}")
        else:
            options.append(assignment)
    return _with_options(Series(**given), options, lambda _: place)


def _whole(text: str, least: int, place: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text) or int(text) < least:
        what = "a positive integer" if least else "a non-negative integer"
        raise InputError(f"{place}: {text!r} is not {what}")
    return int(text)


def checked_series(series: Series, place_of: Callable[[str], str]) -> Series:
    """Check system, preset and options of a series; return it with options of the right types.

    Raises
    ------
    InputError
        One line that begins with `place_of(field)`.
    """
    return _with_options(series, _assignments(series), place_of)


def _with_options(series: Series, assignments: list[str], place_of: Callable[[str], str]) -> Series:
    try:
        declared = problem(series.system)
    except InputError as error:
        raise InputError(f"{place_of('system')}: {error}") from None
    generator = find_generator(declared, series.preset, place_of("preset"))
    options = parse_options(assignments, generator.parameters, place_of("options"))
    return series.model_copy(update={"options": options})


def _assignments(series: Series) -> list[str]:
    return [f"{name}={as_text(value)}" for name, value in series.options.items()]


def _generator(series: Series) -> Generator:
    return find_generator(problem(series.system), series.preset, "preset")


def find_generator(declared: Problem, preset: str, place: str) -> Generator:
    """Return a system's preset by name, or raise an InputError that begins with `place`."""
    presets = {generator.name: generator for generator in declared.generators}
    if preset not in presets:
        known = ", ".join(presets) or "none"
        raise InputError(f"{place}: {preset!r}, expected one of {known}")
    return presets[preset]


@dataclass(frozen=True)
class Draw:
    """An instance to be drawn: the generator's arguments, its seed and its place in the series.

    Every combination of swept options is drawn from the same seeds, so that the instances of two
    values differ in nothing but what the value changes, as far as the generator draws alike.
    """

    name: str
    changed: Mapping[str, Any]
    seed: int
    index: int


def draws(
    generator: Generator, options: Mapping[str, Any], seed: int, count: int, start: str, digits: int
) -> Iterator[Draw]:
    """Yield the instances of a sweep in order, `count` of them for each combination of options.

    Parameters
    ----------
    generator : Generator
    options : mapping
        As `parse_options` returns them.
    seed, count : int
    start : str
        Beginning of the names.
    digits : int
        Least digits of the number at their end.
    """
    defaults = generator.parameters
    for point in points(options, defaults):
        label = f"{start}_s{seed}{options_label(point)}"
        for index in range(count):
            name = f"{label}_{index:0{digits}d}"
            yield Draw(name, arguments(point, defaults), seed, index)


def generate(declared: Problem, generator: Generator, draw: Draw, place: str) -> Document:
    """Return one instance of a preset, with its origin.

    Raises
    ------
    InputError
        If the generator rejects its parameters; the line begins with `place`.
    """
    # One random stream per instance: the fifth does not depend on the others being generated.
    rng = np.random.default_rng([draw.seed, draw.index])
    # The origin in the file holds the very parameters of the call.
    parameters = {**generator.parameters, **draw.changed}
    try:
        data = generator.generate(rng, **parameters)
    except ValidationError as error:
        detail = error.errors(include_url=False)[0]
        raise InputError(f"{place}: gives no valid instance: {detail['msg']}") from None
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{place}: {error}") from None
    return Document(declared, "instance", draw.name, data, _origin(generator, draw))


def _origin(generator: Generator, draw: Draw) -> dict[str, Any]:
    return {
        "generator": generator.name,
        "parameters": {**generator.parameters, **draw.changed},
        "seed": draw.seed,
        "index": draw.index,
        "version": __version__,
    }


def documents_of(series: Series) -> Iterator[Document]:
    """Yield the instances of a series without writing them."""
    declared, generator = problem(series.system), _generator(series)
    series = _with_options(series, _assignments(series), lambda _: series.spec)
    for draw in series._draws(generator):
        yield generate(declared, generator, draw, series.spec)


def write_series(series: Series, folder: Path) -> list[Path]:
    """Write those instances of a series that a folder lacks; return all their files.

    Raises
    ------
    InputError
        If a file of that name has other content: it is not overwritten.
    """
    declared, generator = problem(series.system), _generator(series)
    series = _with_options(series, _assignments(series), lambda _: series.spec)
    files = []
    for draw in series._draws(generator):
        path = folder / f"{draw.name}.json"
        files.append(path)
        there = read_instance(path) if path.exists() else None
        origin = json.loads(json.dumps(_origin(generator, draw)))
        if there and there.problem.name == declared.name and there.origin == origin:
            continue
        made = generate(declared, generator, draw, series.spec)
        if there and there.fingerprint != made.fingerprint:
            raise InputError(
                f"{path}: is not what {series.spec} generates with gadgetopt {__version__}; "
                "move it away, or choose another folder with --generated"
            )
        write(made, path)
    return files
