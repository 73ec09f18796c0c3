"""Plug-ins: files of Python that add parts to systems, for as long as they are in use.

A plug-in travels as its source, with the modules beside it that it imports. Every process that runs
its methods, on this machine or another, executes that very text, whatever happens to the file.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Protocol

from gadgetopt.errors import InputError
from gadgetopt.system import registry
from gadgetopt.system.declaration import Origin
from gadgetopt.system.extension import Extension, extensions_in
from gadgetopt.system.reading import read_bytes

#: Hexadecimal digits kept of a digest.
_DIGITS = 16


class Source(Protocol):
    """What a plug-in is made from, here and in other processes: pickled, sent and loaded there."""

    @property
    def digest(self) -> str:
        """Identifies the content."""

    def load(self) -> tuple[Extension, ...]:
        """Return what it adds; raise an InputError if it cannot be loaded."""


#: The plug-ins that a run needs.
Shipment = tuple[Source, ...]


def digest_of(shipment: Shipment) -> str:
    """Return what identifies the plug-ins of a run; empty for none."""
    if not shipment:
        return ""
    return hashlib.sha256(" ".join(s.digest for s in shipment).encode()).hexdigest()[:_DIGITS]


# -- plug-ins in use -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plugged:
    """A plug-in in use: its source, and what it adds."""

    source: Source
    extensions: tuple[Extension, ...]


_in_use: tuple[Plugged, ...] = ()


def in_use() -> Shipment:
    """Return the sources of the plug-ins in use."""
    return tuple(p.source for p in _in_use)


def load_plugin(path: Path | str) -> None:
    """Add what a file declares to its systems, for the rest of this process.

    A file that is loaded again replaces what it has added before. Instances that were read before
    do not know what is added.

    Parameters
    ----------
    path : path
        A file of Python with functions after `gadgetopt.method`, or an `EXTENSION`.

    Raises
    ------
    InputError
        If the file cannot be used; the line names it, and its line.
    """
    source = read_plugin(path)
    kept = tuple(
        p
        for p in _in_use
        if not (isinstance(p.source, PluginFile) and p.source.path == source.path)
    )
    same = next((p for p in _in_use if p.source == source), None)
    try:
        made = same or Plugged(source, source.load())
    except InputError:
        _find_modules(_in_use)
        raise
    _use((*kept, made), source)


def plug_in(shipment: Shipment) -> None:
    """Use exactly these plug-ins, in a process that was sent them."""
    _use(tuple(Plugged(source, source.load()) for source in shipment))


@contextmanager
def plugged(paths: Iterable[Path | str] = (), more: Sequence[Plugged] = ()) -> Iterator[None]:
    """Use plug-ins, beside those in use, within a block."""
    before = _in_use
    try:
        for path in paths:
            load_plugin(path)
        if more:
            _use((*_in_use, *more))
        yield
    finally:
        if _in_use is not before:
            _use(before)


def _use(wanted: tuple[Plugged, ...], new: PluginFile | None = None) -> None:
    """Make these the plug-ins in use, unless `new` among them does not fit to the rest."""
    global _in_use  # noqa: PLW0603
    there = registry.plugged()
    registry.plug(tuple(e for p in wanted for e in p.extensions))
    if new is not None:
        try:
            for extension in wanted[-1].extensions:
                registry.problem(extension.problem)
        except InputError as error:
            registry.plug(there)
            raise InputError(f"{new.place(str(error))}: {_beyond(new.label, error)}") from None
    _in_use = wanted
    _find_modules(wanted)


def _beyond(label: str, error: InputError) -> str:
    return str(error).removeprefix(f"{label}: ")


# -- files -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PluginFile:
    """A file of Python, with the modules beside it that it imports.

    Attributes
    ----------
    given : str
        The path as the user gave it, for messages.
    path : str
        Its absolute path.
    sources : tuple of (str, bytes)
        Content by name relative to the folder; the file itself comes first.
    """

    given: str
    path: str
    sources: tuple[tuple[str, bytes], ...]

    @property
    def label(self) -> str:
        """The file's name, as part of a method's label."""
        return re.sub(r"[^\w.+-]+", "_", Path(self.path).name)

    @cached_property
    def digest(self) -> str:
        """Identifies the content of all its files."""
        digest = hashlib.sha256()
        for name, content in self.sources:
            digest.update(f"{name}\n{len(content)}\n".encode(errors="surrogateescape"))
            digest.update(content)
        return digest.hexdigest()[:_DIGITS]

    def load(self) -> tuple[Extension, ...]:
        """Execute the file; return what it declares.

        Raises
        ------
        InputError
            If it fails, or declares nothing.
        """
        _let_import(self)  # until the plug-ins in use change
        name = f"gadgetopt_plugin_{re.sub(r'[^0-9A-Za-z_]', '_', Path(self.path).stem)}"
        module = ModuleType(name)
        module.__file__ = self.path
        sys.modules[name] = module
        try:
            exec(compile(self.sources[0][1], self.path, "exec"), module.__dict__)
            found = extensions_in(module)
        except SyntaxError as error:
            place = self._file(error.filename)
            raise InputError(f"{place}:{error.lineno}: not Python: {error.msg}") from None
        except (Exception, SystemExit) as error:
            kind = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            said = " ".join(str(error).split())
            raise InputError(f"{self._line_of(error)}: {kind}{said}") from None
        origin = Origin(self.label, f"{self.label} {self.digest}")
        return tuple(extension.placed(origin) for extension in found)

    def place(self, text: str) -> str:
        """Return the file, and the line in which the first quoted name of a text is declared."""
        named = re.search(r"'([^']+)'", text)
        tree = ast.parse(self.sources[0][1])
        lines = [
            node.lineno
            for node in ast.walk(tree)
            if named is not None
            and (
                (isinstance(node, ast.FunctionDef) and node.name == named[1])
                or (isinstance(node, ast.Constant) and node.value == named[1])
            )
        ]
        return f"{self.given}:{min(lines)}" if lines else self.given

    def _file(self, name: str | None) -> str:
        return self.given if name in (None, self.path) else str(name)

    def _line_of(self, error: BaseException) -> str:
        """Return the file and the line that an exception came through last, of this plug-in."""
        folder, near = Path(self.path).parent, Path(self.given).parent
        own = {str(folder / name): str(near / name) for name, _ in self.sources}
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in own]
        return f"{own[frames[-1].filename]}:{frames[-1].lineno}" if frames else self.given


def read_plugin(path: Path | str) -> PluginFile:
    """Read a plug-in and the modules beside it that it imports, without executing them.

    Raises
    ------
    InputError
        If it is not a file of Python that can be read.
    """
    given = Path(path)
    if given.suffix != ".py":
        raise InputError(f"{given}: {given.suffix or 'no suffix'}, expected a plug-in, FILE.py")
    content = read_bytes(given)
    file = given.resolve()
    beside: dict[str, bytes] = {}
    waiting = [content]
    while waiting:
        for name in _imported(waiting.pop()):
            for found in _modules_beside(file.parent, name):
                relative = found.relative_to(file.parent).as_posix()
                if relative not in beside and found != file:
                    beside[relative] = read_bytes(found)
                    waiting.append(beside[relative])
    return PluginFile(str(given), str(file), ((file.name, content), *sorted(beside.items())))


def _imported(content: bytes) -> list[str]:
    """Return the top-level names that a module imports; none if it is not Python."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError):
        return []
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(dict.fromkeys(alias.name.partition(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found[node.module.partition(".")[0]] = None
    return [n for n in found if n != "gadgetopt" and n not in sys.stdlib_module_names]


def _modules_beside(folder: Path, name: str) -> list[Path]:
    """Return the files of a module or package of a name in a folder."""
    if (folder / name / "__init__.py").is_file():
        return sorted((folder / name).rglob("*.py"))
    file = folder / f"{name}.py"
    return [file] if file.is_file() else []


# -- modules beside a plug-in ----------------------------------------------------------------------


def _find_modules(used: Sequence[Plugged]) -> None:
    """Let Python find the modules beside these plug-ins, and of no others."""
    sys.meta_path[:] = [f for f in sys.meta_path if not isinstance(f, _Beside)]
    finders = [_Beside(p.source) for p in used if isinstance(p.source, PluginFile)]
    sys.meta_path[:0] = [finder for finder in finders if finder.modules]
    known = {name: found for finder in finders for name, found in finder.modules.items()}
    for name, module in list(sys.modules.items()):
        loader = getattr(getattr(module, "__spec__", None), "loader", None)
        if isinstance(loader, _Beside) and loader.modules[name] != known.get(name):
            del sys.modules[name]


def _let_import(plugin: PluginFile) -> None:
    """Let a plug-in that is about to be executed import the modules beside it, and no namesakes.

    Raises
    ------
    InputError
        If another plug-in in use has a module of the same name beside it.
    """
    finder = _Beside(plugin)
    for other in sys.meta_path:
        if isinstance(other, _Beside) and other.plugin.path != plugin.path:
            for name in {*finder.modules} & {*other.modules}:
                if finder.modules[name] != other.modules[name]:
                    raise InputError(
                        f"{plugin.given}: imports {name!r}, and {other.plugin.given} imports "
                        "another module of that name"
                    )
    sys.meta_path.insert(0, finder)
    for name in finder.modules:
        sys.modules.pop(name, None)


class _Beside(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds the modules that travel with a plug-in."""

    def __init__(self, plugin: PluginFile):
        self.plugin = plugin
        self.folder = Path(plugin.path).parent
        self.modules: dict[str, tuple[Path, bytes]] = {}
        for relative, content in plugin.sources[1:]:
            path = Path(relative).with_suffix("")
            parts = path.parts[:-1] if path.name == "__init__" else path.parts
            self.modules[".".join(parts)] = self.folder / relative, content

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to import a module that travels with the plug-in."""
        if fullname not in self.modules:
            return None
        file = self.modules[fullname][0]
        spec = importlib.util.spec_from_loader(
            fullname, self, origin=str(file), is_package=self.is_package(fullname)
        )
        if spec is not None:
            spec.has_location = True
        return spec

    def is_package(self, fullname: str) -> bool:
        """Return True for a package."""
        return self.modules[fullname][0].name == "__init__.py"

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of a module."""
        file, content = self.modules[fullname]
        return compile(content, str(file), "exec", dont_inherit=True)

    def get_source(self, fullname: str) -> str:
        """Return the text of a module."""
        return importlib.util.decode_source(self.modules[fullname][1])
