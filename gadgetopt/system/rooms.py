"""A system's functions, types and parts, read from the files of its folder without importing them.

The functions that every system has lie in files of known names, and the types of its instances,
solutions and certificates are those of their arguments (`contract_of`).

A part is a function at the top of a file, below one of the decorators of
`gadgetopt.system.declaring`; only files that mention one are parsed. The order of parts is that of
the rooms, the paper's first, then of the files as the docstring of their folder names them in
backticks, those that it does not name last and by name, then of the lines. Of presets, `quickstart`
and `paper` come first.

What was read is kept beside the bytecode until a file changes (`gadgetopt.numbers.kept`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.kept import kept
from gadgetopt.system.declaration import PARTS, Importer, Part
from gadgetopt.system.declaring import (
    DECORATORS,
    Argument,
    Described,
    summary_of,
)
from gadgetopt.system.references import Reference
from gadgetopt.system.sources import Source, noted, source

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
    "exporters",
    "pictures",
)

#: Presets that every system has come before the others.
FIRST_PRESETS = ("quickstart", "paper")

_DECORATED = re.compile(rf"^@(?:gadgetopt\.)?(?:{'|'.join(DECORATORS)})\(", re.MULTILINE)

#: The docstring of a file, and the names in it: folders are many, and parsing them is slow.
_DOCSTRING = re.compile(r'\A\s*[rR]?"""(.*?)"""', re.DOTALL)
_QUOTED = re.compile(r"`(\w+)`")

#: What importers say that claim files or objects.
_CLAIMS = re.compile(r"\b(suffixes|objects)=")


def parts_of(package: str) -> dict[str, tuple[Part, ...]]:
    """Return the parts that the files of a package declare, by the fields of a problem.

    Raises
    ------
    InputError
        If a declaration cannot be read; the line names the file and the line.
    """
    found: dict[str, tuple[Part, ...]] = _kept(package, "parts", _parts_of)
    return found


def _parts_of(package: str) -> dict[str, tuple[Part, ...]]:
    found: dict[str, list[Part]] = {kind: [] for kind in PARTS}
    for file in _files(_top(package)):
        inside = "" if file.module == package else file.package.removeprefix(package)
        room = inside.removeprefix(".").replace(".", "/")
        for part in _declared(file):
            found[f"{type(part).__name__.lower()}s"].append(replace(part, room=room))
    found["generators"].sort(key=_preset_place)
    return {kind: tuple(parts) for kind, parts in found.items()}


def claimants_of(package: str) -> list[Importer]:
    """Return the importers of a package that claim suffixes of files, or objects.

    Only files of `data/importers`, or of a package that is one file, which mention them are parsed.
    """
    top = _top(package)
    rooms = (source(f"{package}.{room}") for room in ("data.importers", "importers"))
    files = [f for room in (*rooms, None if top.folders else top) if room for f in _files(room)]
    parts = [part for f in files if _CLAIMS.search(f.text) for part in _declared(f)]
    return [part for part in parts if isinstance(part, Importer)]


def contract_of(package: str) -> dict[str, Any]:
    """Return the functions and types that every system has, by the fields of a problem.

    `evaluate(instance, solution)` lies in `evaluate.py`, `size` in `instance.py`, `features` in
    `features.py`, `check_bound(instance, certificate)` in `proving/certificate.py` or
    `proving/certificate/check.py`; a system of one file has them there. A system may have no
    features and no certificates. `fields_of(graph)` of one whose instances are graphs lies in
    `data/from_graph.py`.

    Raises
    ------
    InputError
        If `evaluate` or `size` is missing, or an argument has no type that can be read.
    """
    found: dict[str, Any] = _kept(package, "contract", _contract_of)
    return found


def _contract_of(package: str) -> dict[str, Any]:
    top = _top(package)
    evaluate = _needed(top, "evaluate", "evaluate.py")
    check = _find(top, "check_bound", "proving.certificate.check", "proving.certificate")
    features = _find(top, "features", "features")
    from_graph = _find(top, "fields_of", "data.from_graph")
    return {
        "instance_type": _type_of(evaluate, 0),
        "solution_type": _type_of(evaluate, 1),
        "evaluate": _reference(evaluate),
        "size": _reference(_needed(top, "size", "instance.py")),
        "features": features and _reference(features),
        "certificate_type": check and _type_of(check, 1),
        "check_bound": check and _reference(check),
        "from_graph": from_graph and _reference(from_graph),
    }


def _kept(package: str, name: str, read: Callable[[str], Any]) -> Any:
    """Return what is read from a package, from where it is kept if its files are as they were."""
    top = _top(package)

    def read_and_noted() -> tuple[Any, set[str]]:
        with noted() as files:
            return read(package), files

    if not top.folders:
        return read(package)
    return kept(top.path, name, (*top.folders, str(Path(__file__).parent)), read_and_noted)


def _top(package: str) -> Source:
    top = source(package)
    if top is None:
        raise InputError(f"package {package!r}: has no source that can be read")
    return top


#: A function and the file that defines it.
Found = tuple[Source, ast.FunctionDef]


def _find(top: Source, name: str, *modules: str) -> Found | None:
    """Return a function of the first module that has it, else of the package's own file."""
    for place in (*(source(f"{top.module}.{module}") for module in modules), top):
        match place and place.find(name):
            case (where, ast.FunctionDef() as function):
                return where, function
    return None


def _needed(top: Source, name: str, file: str) -> Found:
    found = _find(top, name, file.removesuffix(".py"))
    if found is None:
        raise InputError(f"{top.path}: has no function {name!r}, expected it in {file} beside it")
    return found


def _reference(found: Found) -> Reference:
    where, function = found
    return where.reference(function.name)


def _type_of(found: Found, k: int) -> Reference:
    """Return the type of the k-th argument of a function."""
    where, function = found
    arguments = [*function.args.posonlyargs, *function.args.args]
    if len(arguments) <= k:
        raise where.refuse(function, f"{function.name}: expected {k + 1} arguments")
    return where.named_type(arguments[k].annotation)


def _files(folder: Source) -> Iterator[Source]:
    """Yield a package's own file and those below it that declare parts, in order."""
    if _DECORATED.search(folder.text):
        yield folder
    inside = {module.name: module for module in iter_modules(folder.folders)}
    for name in sorted(inside, key=_place(folder)):
        file = source(f"{folder.module}.{name}")
        if file is not None:
            yield from _files(file)


def _place(folder: Source) -> Any:
    """Return the key by which the files and rooms of a folder are sorted."""
    docstring = _DOCSTRING.match(folder.text)
    order = (*ROOMS, *(_QUOTED.findall(docstring[1]) if docstring else ()))
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
