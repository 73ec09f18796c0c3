"""Options of generators, each with one value or with a list of values: a sweep.

A list is a sweep if it is one level deeper than the option's default: `[4, 8]` for a number or a
text, `[[4], [4, 8]]` for an option whose default is itself a list.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.methods import parse_assignments


def parse_options(
    assignments: Iterable[str], defaults: Mapping[str, Any], what: str
) -> dict[str, Any]:
    """Parse `name=value` and `name=[value, value, ...]` into JSON values of the defaults' types.

    Raises
    ------
    InputError
        One line that begins with `what`, if an option is unknown or a value is wrong, or if a sweep
        is empty or holds a value twice.
    """
    options: dict[str, Any] = {}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        values = _listed(text) if equals and name in defaults else None
        if values is None or _depth(values) <= _depth(defaults[name]):
            options[name] = _one(assignment, defaults, what)
            continue
        found = [_one(f"{name}={_as_text(v)}", defaults, what) for v in values]
        if not found:
            raise InputError(f"{what}: {name}: the list is empty, expected values")
        for k, value in enumerate(found):
            if value in found[:k]:
                raise InputError(f"{what}: {name}: {as_text(value)} is given twice")
        options[name] = found
    return options


def swept(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> set[str]:
    """Return the names of the options that have several values."""
    return {
        name
        for name, value in options.items()
        if isinstance(value, list) and _depth(value) > _depth(defaults[name])
    }


def points(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the options' values; the last option varies fastest."""
    several = swept(options, defaults)
    choices = [value if name in several else [value] for name, value in options.items()]
    for values in itertools.product(*choices):
        yield dict(zip(options, values, strict=True))


def arguments(point: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return one combination of options as arguments of the generator."""
    return {
        name: tuple(value) if isinstance(defaults[name], tuple) else value
        for name, value in point.items()
    }


def as_text(value: Any) -> str:
    """Return an option's value as text that `parse_options` reads back."""
    if not isinstance(value, str):
        return json.dumps(value)
    if value.strip().startswith("["):
        return json.dumps(value)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value)  # a string that would be read as another type


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _one(assignment: str, defaults: Mapping[str, Any], what: str) -> Any:
    try:
        ((_, value),) = parse_assignments([assignment], defaults, what).items()
    except InputError as error:
        name, _, text = assignment.partition("=")
        if name in defaults and isinstance(defaults[name], int | float) and "," in text:
            hint = f"several values are written {name}=[{text.strip('[]')}]"
            raise InputError(f"{error}; {hint}") from None
        raise
    return list(value) if isinstance(value, tuple) else value


def _listed(text: str) -> list[Any] | None:
    """Return the values of a list, `[1, 2]` or `[one, two]`; None if the text is no list."""
    try:
        value = json.loads(text)
    except ValueError:
        inside = text.strip()
        if not (inside.startswith("[") and inside.endswith("]")):
            return None
        return [part.strip() for part in inside[1:-1].split(",")]
    return value if isinstance(value, list) else None


def _depth(value: Any) -> int:
    """Return how deep lists are nested in a value: 0 for a number, 1 for a list of numbers."""
    if not isinstance(value, list | tuple):
        return 0
    return 1 + max(map(_depth, value), default=0)
