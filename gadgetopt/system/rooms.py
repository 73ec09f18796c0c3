"""The parts of a system, read from the files of its folder without importing them.

A part is a function at the top of a file, below one of the decorators of
`gadgetopt.system.declaring`; only files that mention one are parsed. The order of parts is that of
the rooms, the paper's first, then of the files by name, then of the lines. A folder says another
order of its files and folders by `ORDER = ("first", "second")` in its `__init__.py`; those that it
does not name follow. Of presets, `quickstart` and `paper` come first.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pkgutil import iter_modules
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import PARTS, Part
from gadgetopt.system.declaring import (
    DECORATORS,
    Argument,
    Described,
    summary_of,
)
from gadgetopt.system.sources import Source, source

#: Rooms in the order in which a reader meets them: the paper, what is ours, what proves, data.
ROOMS = (
    "algorithms",
    "baselines",
    "formulations",
    "guarantees",
    "statements",
    "subproblems",
    "heuristics",
    "proving",
    "exact",
    "bounds",
    "certificate",
    "data",
    "generate",
    "importers",
    "learning",
    "pictures",
)

#: Presets that every system has come before the others.
FIRST_PRESETS = ("quickstart", "paper")

_DECORATED = re.compile(rf"^@(?:gadgetopt\.)?(?:{'|'.join(DECORATORS)})\(", re.MULTILINE)


def parts_of(package: str) -> dict[str, tuple[Part, ...]]:
    """Return the parts that the files of a package declare, by the fields of a problem.

    Raises
    ------
    InputError
        If a declaration cannot be read; the line names the file and the line.
    """
    found: dict[str, list[Part]] = {kind: [] for kind in PARTS}
    top = source(package)
    if top is None:
        raise InputError(f"package {package!r}: has no source that can be read")
    for file in _files(top):
        room = file.module.removeprefix(f"{package}.").rpartition(".")[0].replace(".", "/")
        for part in _declared(file):
            found[f"{type(part).__name__.lower()}s"].append(replace(part, room=room))
    found["generators"].sort(key=_preset_place)
    return {kind: tuple(parts) for kind, parts in found.items()}


def _files(folder: Source) -> Iterator[Source]:
    """Yield the files below a folder that declare parts, in order."""
    inside = {module.name: module for module in iter_modules(folder.folders)}
    for name in sorted(inside, key=_place(folder)):
        file = source(f"{folder.module}.{name}")
        if file is None:
            continue
        if inside[name].ispkg:
            yield from _files(file)
        elif _DECORATED.search(file.text):
            yield file


def _place(folder: Source) -> Any:
    """Return the key by which the files and rooms of a folder are sorted."""
    said = folder.find("ORDER") if "\nORDER = " in folder.text else None
    order = folder.value(said[1].value) if said and isinstance(said[1], ast.Assign) else ROOMS
    return lambda name: (order.index(name) if name in order else len(order), name)


def _preset_place(preset: Any) -> int:
    """Return the key by which presets are sorted; their own order stays otherwise."""
    named = preset.name in FIRST_PRESETS
    return FIRST_PRESETS.index(preset.name) if named else len(FIRST_PRESETS)


def _declared(file: Source) -> Iterator[Part]:
    """Yield the parts that a file declares, from top to bottom."""
    for function in file.tree.body:
        if not isinstance(function, ast.FunctionDef):
            continue
        for decorator in function.decorator_list:
            if isinstance(decorator, ast.Call):
                kind = ast.unparse(decorator.func).removeprefix("gadgetopt.")
                if kind in DECORATORS:
                    yield _part(file, function, kind, decorator)


def _part(file: Source, function: ast.FunctionDef, kind: str, call: ast.Call) -> Part:
    given = {k.arg: file.value(k.value) for k in call.keywords if k.arg and k.arg != "options"}
    options = [k.value for k in call.keywords if k.arg == "options"]
    try:
        if options:
            given["options"] = file.fields(options[0])
        declared = DECORATORS[kind](*map(file.value, call.args), **given)
        part: Part = declared.part(_described(file, function))
    except TypeError as error:
        raise file.refuse(call, str(error)) from None
    except InputError as error:
        raise error if str(error).startswith(file.path) else file.refuse(call, str(error)) from None
    return part


def _described(file: Source, function: ast.FunctionDef) -> Described:
    """Return what a part takes from a function, without importing it."""
    a = function.args
    plain = [*a.posonlyargs, *a.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(a.defaults))
    defaults = [*missing, *a.defaults, *a.kw_defaults]
    return Described(
        function.name,
        file.module.rpartition(".")[2],
        summary_of(ast.get_docstring(function)),
        [
            _argument(file, argument, default, argument in a.kwonlyargs)
            for argument, default in zip([*plain, *a.kwonlyargs], defaults, strict=True)
        ],
        file.reference(function.name),
        file.reference,
    )


def _argument(
    file: Source, argument: ast.arg, default: ast.expr | None, only_keyword: bool
) -> Argument:
    if default is None:
        return Argument(argument.arg, only_keyword=only_keyword)
    value = file.value(default)
    listed = file.choices(argument.annotation) if isinstance(value, str) else ()
    return Argument(argument.arg, value, listed, only_keyword)
