"""`instance`: an instance of plain Python and DataFrames."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from gadgetopt.errors import InputError
from gadgetopt.numbers.standards import Called, Sourced
from gadgetopt.system.data import Data
from gadgetopt.system.declaration import Problem, resolved
from gadgetopt.system.files import Document, find_instances, library, read_instance, validate
from gadgetopt.system.reading.tables import entries_of, lists_of, plain
from gadgetopt.system.registry import problem

#: The preset whose values are named where fields are missing.
EXAMPLE = "quickstart"
#: Characters of a value that is named.
MOST_SHOWN = 60


def instance(
    system: Problem | str,
    *,
    name: str | None = None,
    like: Document[Any] | Path | str | None = None,
    **fields: Any,
) -> Document[Any]:
    """Return an instance of your own data, for `solve` and `compare`, or `write`.

    Parameters
    ----------
    system : str or Problem
    name : str, optional
        Default: the system's with `_own`.
    like : Document, path or str, optional
        An instance, its file, or a preset of the system: it gives the values of all fields that are
        not given, and the origin says which. Without it the physics of a cluster, such as
        bandwidths, has values of public standards, data sheets or the paper, which the origin names
        with their sources; no other value is made up.
    **fields
        The fields of the system's instances, as in its files (`gadgetopt schema SYSTEM`): plain
        Python, arrays, and for a list also a DataFrame. Its columns are the fields of the list's
        records; a list of values has one column of the list's name. A cell without a value takes
        the field's default.

    Raises
    ------
    InputError
        If a field or column is unknown or missing, or a value is not what the system expects.

    Examples
    --------
    >>> import gadgetopt
    >>> mine = gadgetopt.instance("parallel_machines", machines=2, processing_s=[3, 2, 2])
    >>> gadgetopt.solve(mine).objective
    4
    """
    declared = system if isinstance(system, Problem) else problem(system)
    return instance_of(declared, fields, name, like)


def instance_of(
    system: Problem,
    fields: Mapping[str, Any],
    name: str | None = None,
    like: Document[Any] | Path | str | None = None,
) -> Document[Any]:
    """Return the instance of some fields, as `instance` does, whatever their names.

    Raises
    ------
    InputError
        If a field or column is unknown or missing, or a value is not what the system expects.
    """
    fields = by_own_names(system, fields)
    check_known(system, fields)
    data = {key: _given(system, key, value) for key, value in fields.items()}
    origin: dict[str, Any] = {"format": "own data"}
    if like is not None:
        label, example = example_of(system, like)
        taken = {key: value for key, value in example.items() if key not in data}
        data |= taken
        origin |= {"taken_from": label, "taken_fields": list(taken)}
    sources = _fill(resolved(system.instance_type), data)
    if sources:
        origin["sourced"] = sources
    _check_complete(system, data)
    own = name if name is not None else f"{system.name}_own"
    if not isinstance(own, str) or not own or not own.isprintable():
        raise InputError(f"name: {own!r} is not a non-empty string of printable text")
    checked = validate(system.instance_type, data, system.name, prefix="")
    return Document(system, "instance", own, checked, origin)


def check_known(system: Problem, fields: Mapping[str, Any]) -> None:
    """Refuse fields that the instances of a system do not have.

    Raises
    ------
    InputError
        It names them and those that there are.
    """
    known = list(resolved(system.instance_type).model_fields)
    unknown = [key for key in fields if key not in known]
    if unknown:
        close = [difflib.get_close_matches(key, known, 1, 0.5) for key in unknown]
        hints = ", ".join(sorted({name for found in close for name in found}))
        hint = f"; did you mean {hints}?" if hints else ""
        raise InputError(
            f"{system.name}: no field {', '.join(map(repr, unknown))} "
            f"(it has: {', '.join(known)}){hint}"
        )


def by_own_names(system: Problem, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields under their own names, such as `server_gpus` for `servers`.

    Raises
    ------
    InputError
        If one is given under both.
    """
    names: dict[str, str] = {}
    for key, field in resolved(system.instance_type).model_fields.items():
        names |= {also.name: key for also in field.metadata if isinstance(also, Called)}
    out: dict[str, Any] = {}
    for key, value in fields.items():
        own = names.get(key, key)
        if own in out:
            both = " and ".join(name for name in fields if names.get(name, name) == own)
            raise InputError(f"{system.name}: {both}: are one field, expected one of them")
        out[own] = value
    return out


def _fill(kind: type[Data], data: dict[str, Any], start: str = "") -> dict[str, str]:
    """Give missing fields their sourced values, also in records within; return the sources."""
    sources, computed = dict[str, str](), dict[str, Sourced]()
    for key, field in kind.model_fields.items():
        if key not in data and field.is_required():
            for given in field.metadata:
                if isinstance(given, Sourced) and callable(given.value):
                    computed[key] = given
                elif isinstance(given, Sourced):
                    data[key] = given.value
                    sources[f"{start}{key}"] = f"{given.value}: {given.source}"
        elif isinstance(data.get(key), dict):
            data[key], found = _filled(field.annotation, data[key], f"{start}{key}.")
            sources |= found
        elif isinstance(data.get(key), list | tuple):
            entries = [_filled(field.annotation, entry, f"{start}{key}.") for entry in data[key]]
            data[key] = [entry for entry, _ in entries]
            for _, found in entries:
                sources |= found
    for key, given in computed.items():  # of the fields that are there by now
        data[key] = value = given.value(data)
        sources[f"{start}{key}"] = f"{value}: {given.source}"
    return sources


def _filled(annotation: Any, given: Any, start: str) -> tuple[Any, dict[str, str]]:
    """Return a record of a field, or an entry of its list, with sourced values; and the sources."""
    within = _record(annotation, given) if isinstance(given, dict) else None
    if within is None:
        return given, {}
    own = dict(given)
    if "type" in within.model_fields:  # tells records of several kinds apart
        own.setdefault("type", within.model_fields["type"].default)
    return own, _fill(within, own, start)


def _record(annotation: Any, given: Mapping[str, Any]) -> type[Data] | None:
    """Return the kind of record, of several the first, that has all fields which are given."""
    for kind in get_args(annotation) or (annotation,):
        if isinstance(kind, type) and issubclass(kind, Data) and set(given) <= {*kind.model_fields}:
            return kind
    return None


def _given(system: Problem, key: str, value: Any) -> Any:
    """Return a field's value as its file would hold it."""
    place = f"{system.name}: {key}"
    pandas = sys.modules.get("pandas")  # who has a DataFrame has imported it
    if pandas is None or not isinstance(value, pandas.DataFrame):
        return plain(value, place)
    field = lists_of(resolved(system.instance_type)).get(key)
    if field is None:
        raise InputError(f"{place}: is a DataFrame, but the field is no list")
    return entries_of(value, field, place)


def _check_complete(system: Problem, data: Mapping[str, Any]) -> None:
    """Refuse an instance without some fields; name all, and the values of an example."""
    fields = resolved(system.instance_type).model_fields
    missing = [key for key, field in fields.items() if field.is_required() and key not in data]
    if not missing:
        return
    line = f"{system.name}: missing: {', '.join(missing)}"
    try:
        label, example = example_of(system, EXAMPLE)
    except InputError:  # a third party's system without it
        raise InputError(line) from None
    values = ", ".join(f"{key}={_short(example[key])}" for key in missing if key in example)
    hint = f"like={EXAMPLE!r} (--like {EXAMPLE}) takes its values"
    raise InputError(f"{line}; {label} has {values}; {hint}")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 3]}..."


def example_of(system: Problem, like: Document[Any] | Path | str) -> tuple[str, dict[str, Any]]:
    """Return the name and the plain data of an instance that is given as example.

    Raises
    ------
    InputError
        If it is of another system, or there is no such file or preset.
    """
    label, document = _example(system, like)
    if document.problem.name != system.name or document.kind != "instance":
        what = f"{document.kind} of {document.problem.name}"
        raise InputError(f"like: {label} is of kind {what}, expected an instance of {system.name}")
    return label, document.data.model_dump(mode="json", exclude_none=True)


def _example(system: Problem, like: Any) -> tuple[str, Document[Any]]:
    from gadgetopt.api.looking import names_file
    from gadgetopt.api.making import generate

    if isinstance(like, Document):
        return _label(like), like
    if isinstance(like, Path) or (isinstance(like, str) and names_file(like)):
        found = find_instances([like])
        if len(found) > 1:
            raise InputError(f"like: {like} is {len(found)} instances, expected one")
        document = read_instance(found[0])
        return _label(document), document
    if not isinstance(like, str):
        kind = type(like).__name__
        raise InputError(f"like: is of type {kind}, expected an instance, its file or a preset")
    stored = library() / "quickstart" / f"{system.name}.json"
    if like == EXAMPLE and stored.is_file():
        return f"{system.name}_{like}", read_instance(stored)
    return f"{system.name}_{like}", generate(system, like)[0]


def _label(document: Document[Any]) -> str:
    """Return the name of an instance with its preset, which the library's names do not say."""
    preset = str(document.origin.get("generator", ""))
    return document.name if preset in document.name else f"{document.name}_{preset}"
