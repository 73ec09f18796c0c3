"""What a function's code is: its digest, with all that it uses from the same session or files.

The digest is of the code that is loaded, not of a file that may have changed since. Functions and
modules of distributions count by name, as dependencies do elsewhere.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from gadgetopt.runs.code.source_code import LIBRARY

#: Hexadecimal digits kept of a digest.
_DIGITS = 16

#: Attributes of a class that say nothing of what it does.
_NO_CODE = frozenset({"__dict__", "__weakref__", "__module__", "__firstlineno__", "__doc__"})


@functools.cache
def is_loose(module: str) -> bool:
    """Return True for the session's own module and for files that no distribution has installed."""
    if module == "__main__":
        return True
    top = module.partition(".")[0]
    if top in (LIBRARY, "builtins") or top in sys.stdlib_module_names:
        return False
    places = (getattr(sys.modules.get(name), "__file__", None) for name in (module, top))
    place = next((p for p in places if p is not None), None)
    if place is None:  # made at run time
        return True
    installed = {sysconfig.get_path(kind) for kind in ("purelib", "platlib")}
    if any(Path(place).is_relative_to(folder) for folder in installed):
        return False
    # What is installed so that it can be edited lies elsewhere, but is listed. A distribution that
    # lists files of this name has put them in those folders: some bring a package `tests` along.
    return not any(
        (
            top in (found.read_text("top_level.txt") or "").split()
            and not any(file.parts[0] == top for file in found.files or ())
        )
        or any(e.module.partition(".")[0] == top for e in found.entry_points)
        for found in distributions()
    )


@dataclass(frozen=True)
class Found:
    """The digest of a function, and the loose modules that it uses."""

    digest: str
    modules: tuple[str, ...]


class FunctionCode:
    """Walks from a function through all that it names."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._seen: dict[int, tuple[int, Any]] = {}  # the objects, too, so that ids stay taken
        self._modules: set[str] = set()
        self._loose: dict[str, bool] = {}

    def of(self, function: Callable[..., Any], *declared: str | bool) -> Found:
        """Return the digest of a function, and of what is declared of it."""
        self._say(*declared)
        self._add(function)
        return Found(self._hash.hexdigest()[:_DIGITS], tuple(sorted(self._modules)))

    def _say(self, *words: object) -> None:
        self._hash.update(repr(words).encode(errors="backslashreplace"))

    def _is_loose(self, module: str | None) -> bool:
        if module is None:
            return False
        if module not in self._loose:
            self._loose[module] = is_loose(module)
            if self._loose[module] and module != "__main__":
                self._modules.add(module)
        return self._loose[module]

    def _add(self, value: Any) -> None:
        plain = isinstance(value, str | bytes | int | float | complex | bool | type(None))
        if plain:
            self._say(type(value).__name__, value)
            return
        if id(value) in self._seen:
            self._say("again", self._seen[id(value)][0])
            return
        self._seen[id(value)] = len(self._seen), value
        if isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, functools.partial):
            self._say("partial")
            self._add((value.func, value.args, value.keywords))
        elif isinstance(value, MethodType):
            self._say("bound")
            self._add(value.__self__)
            self._add(value.__func__)
        elif isinstance(value, staticmethod | classmethod):
            self._add(value.__func__)
        elif isinstance(value, property):
            self._add((value.fget, value.fset))
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, ModuleType):
            self._module(value)
        elif isinstance(value, BuiltinFunctionType):
            self._say("builtin", value.__module__, value.__qualname__)
        elif isinstance(value, list | tuple):
            self._say(type(value).__name__, len(value))
            for entry in value:
                self._add(entry)
        elif isinstance(value, Mapping):
            self._say("mapping", len(value))
            for key, entry in value.items():
                self._add(key)
                self._add(entry)
        elif isinstance(value, set | frozenset):
            self._say("set", sorted(map(repr, value)))
        elif self._is_loose(type(value).__module__) and hasattr(value, "__dict__"):
            self._add(type(value))
            self._add(vars(value))
        else:
            self._data(value)

    def _function(self, function: FunctionType) -> None:
        if not self._is_loose(function.__module__):
            self._say("function", function.__module__, function.__qualname__)
            return
        self._say("function", function.__name__)
        self._code(function.__code__)
        self._add(function.__defaults__)
        self._add(function.__kwdefaults__)
        for cell in function.__closure__ or ():
            try:
                self._add(cell.cell_contents)
            except ValueError:  # not yet assigned
                self._say("empty cell")
        for name in sorted(set(_names(function.__code__))):
            if name in function.__globals__:
                self._say("global", name)
                self._add(function.__globals__[name])

    def _code(self, code: CodeType) -> None:
        self._say(code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        self._say(code.co_argcount, code.co_kwonlyargcount, code.co_posonlyargcount, code.co_flags)
        self._say(getattr(code, "co_exceptiontable", b""))
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._code(constant)
            else:
                self._add(constant)

    def _class(self, kind: type) -> None:
        self._say("class", kind.__module__ if kind.__module__ != "__main__" else "", kind.__name__)
        if not self._is_loose(kind.__module__):
            return
        for base in kind.__bases__:
            self._add(base)
        for name, member in sorted(vars(kind).items()):
            if name not in _NO_CODE and not name.startswith(("__pydantic", "_abc_")):
                self._say("member", name)
                self._add(member)

    def _module(self, module: ModuleType) -> None:
        self._say("module", module.__name__)
        place = getattr(module, "__file__", None)
        if place is not None and self._is_loose(module.__name__):
            try:
                self._say(Path(place).read_bytes())
            except OSError:
                self._say("not there")

    def _data(self, value: Any) -> None:
        import cloudpickle

        try:
            self._say("data", cloudpickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
        except Exception:  # sending it will fail with a message of its own
            self._say("unknown", type(value).__qualname__)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that code and the code inside it may look up."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
