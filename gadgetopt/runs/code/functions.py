"""Functions given to a comparison as methods: sent to other processes, and known by their code.

A function travels pickled by value, together with the functions and values of the same session or
loose file that it uses, so that a notebook's runs in processes of their own like any other method.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ClassVar

from gadgetopt.errors import InputError
from gadgetopt.runs.code.function_code import FunctionCode, is_loose
from gadgetopt.runs.code.source_code import distribution_of
from gadgetopt.system.declaration import Origin
from gadgetopt.system.extension import Extension, extension_of
from gadgetopt.system.plugins import Plugged
from gadgetopt.system.references import Adapted

#: What a method is labelled with that has no file: one of a notebook or an interactive session.
NO_FILE = "function"


@dataclass(frozen=True)
class Pickled:
    """A function as it is sent to other processes."""

    name: str
    code: str
    content: bytes

    @property
    def digest(self) -> str:
        """Identifies the function."""
        return self.code

    def load(self) -> tuple[Extension, ...]:
        """Return the extension that adds the function.

        Raises
        ------
        InputError
            If it cannot be rebuilt here.
        """
        import cloudpickle

        try:
            extension: Extension = cloudpickle.loads(self.content)
        except Exception as error:  # what it needs may be missing here
            said = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(f"method {self.name!r}: cannot be rebuilt: {said}") from None
        return (extension,)


def named(methods: Sequence[str | Callable[..., Any]]) -> tuple[list[str], list[Plugged]]:
    """Return the names of methods, and the functions among them as plug-ins.

    Raises
    ------
    InputError
        If a function cannot be a method, or cannot be sent to another process.
    """
    names: list[str] = []
    plugins: dict[int, Plugged] = {}
    for given in methods:
        if isinstance(given, str):
            names.append(given)
            continue
        plugins.setdefault(id(given), _plugin(given))
        names.append(plugins[id(given)].extensions[0].methods[0].name)
    return names, list(plugins.values())


def _plugin(function: Callable[..., Any]) -> Plugged:
    extension = extension_of(function)
    (method,) = extension.methods
    run = method.run.function if isinstance(method.run, Adapted) else method.run
    module = getattr(run, "__module__", None) or type(run).__module__
    if not is_loose(module):
        own = distribution_of(module) or module.partition(".")[0]
        placed = extension.placed(Origin(own))
        code = f"{own} {module}.{getattr(run, '__qualname__', method.name)}"
        return Plugged(Pickled(method.name, code, _pickled(method.name, placed, ())), (placed,))
    found = FunctionCode().of(run, method.kind, method.reference, method.stochastic)
    label = _file_of(module)
    placed = extension.placed(Origin(label, f"{label} {method.name} {found.digest}"))
    content = _pickled(method.name, placed, found.modules)
    code = f"{method.name} {found.digest}"
    return Plugged(Pickled(method.name, code, content), (placed,))


def _file_of(module: str) -> str:
    """Return the name of the file of a module, or what stands for none."""
    place = getattr(sys.modules.get(module), "__file__", None)
    return NO_FILE if place is None else re.sub(r"[^\w.+-]+", "_", Path(place).name)


def _pickled(name: str, extension: Extension, modules: Sequence[str]) -> bytes:
    import cloudpickle

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        dispatch_table: ClassVar[Any] = ChainMap(
            {CodeType: _code}, cloudpickle.CloudPickler.dispatch_table
        )

    content = io.BytesIO()
    try:
        with _by_value([sys.modules[m] for m in modules if m in sys.modules]):
            Pickler(content).dump(extension)
    except Exception as error:  # it may hold anything
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"method {name!r}: cannot be sent to a process of its own: {said}"
        ) from None
    return content.getvalue()


def _code(code: CodeType) -> tuple[Any, ...]:
    """Pickle code with the name of its file, which cloudpickle 3.1.3 leaves out, for its errors."""
    import cloudpickle

    make, values = cloudpickle.CloudPickler.dispatch_table[CodeType](code)
    return make, tuple(code.co_filename if v == "<dynamic-code>" else v for v in values)


@contextlib.contextmanager
def _by_value(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Have the functions of modules pickled by value, which other machines do not have."""
    import cloudpickle

    with contextlib.ExitStack() as registered:
        for module in modules:
            if module.__name__ not in cloudpickle.list_registry_pickle_by_value():
                cloudpickle.register_pickle_by_value(module)
                registered.callback(cloudpickle.unregister_pickle_by_value, module)
        yield
