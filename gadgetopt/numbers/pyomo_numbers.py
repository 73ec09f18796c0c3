"""Fractions as coefficients of Pyomo models.

What is exact in the data reaches Pyomo as it is: an integer, or a `fractions.Fraction`. Pyomo keeps
fractions in its expressions, and `gadgetopt.solvers.compiler` reads them; solvers that get a model
from Pyomo itself get doubles (`gadgetopt.solvers.through_pyomo.doubles`).
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from gadgetopt.numbers.tolerance import Number, decimal_rational


def know_fractions() -> None:
    """Tell Pyomo that fractions are numbers, where it is imported; else it warns of the first."""
    if "pyomo" in sys.modules:
        from pyomo.common.numeric_types import RegisterNumericType, native_numeric_types

        if Fraction not in native_numeric_types:
            RegisterNumericType(Fraction)


def spare_imports() -> None:
    """Keep Pyomo and scipy from importing on their own what nobody here needs.

    Pyomo imports all of `scipy.stats` as soon as anyone imports a part of scipy, and scipy copies
    all names of numpy, for which numpy imports its converter of Fortran, its masked arrays and
    others. Together that is half the time in which a formulation is loaded. Who asks for them by
    name gets them as ever. Neither Pyomo nor scipy is imported for it: most methods do without.
    """
    if _DEPENDENCIES in sys.modules:
        _forget_statistics(sys.modules[_DEPENDENCIES])
    for name, within in ((_DEPENDENCIES, _without_scipy), (_NAMES, _fewer_names)):
        if name not in sys.modules and name not in _awaited:
            _awaited.add(name)
            sys.meta_path.insert(0, _Within(name, within))


#: The module of Pyomo that says what is imported along with what.
_DEPENDENCIES = "pyomo.common.dependencies"

#: The module of scipy that has all names of numpy.
_NAMES = "scipy._lib.array_api_compat.numpy"

#: Of them, modules that numpy imports when they are looked at; scipy uses none of them by it.
_UNUSED = ("char", "ctypeslib", "f2py", "ma", "polynomial", "rec", "strings")

#: Modules that are executed in a way of ours if they are imported.
_awaited: set[str] = set()


class _Within(MetaPathFinder):
    """Has a module executed within a context.

    Parameters
    ----------
    name : str
    context : callable
        Returns the context; it is given the module.
    """

    def __init__(self, name: str, context: Callable[[ModuleType], AbstractContextManager[None]]):
        self.name, self.context = name, context

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find that module as usual, and no other."""
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_within(module: ModuleType) -> None:
                with self.context(module):
                    execute(module)

            spec.loader.exec_module = execute_within  # type: ignore[method-assign]
        return spec


@contextlib.contextmanager
def _without_scipy(dependencies: ModuleType) -> Iterator[None]:
    """Hide scipy: where Pyomo sees it, it imports the statistics at once."""
    scipy = sys.modules.pop("scipy", None)
    try:
        yield
    finally:
        if scipy is not None:
            sys.modules["scipy"] = scipy
    _forget_statistics(dependencies)


@contextlib.contextmanager
def _fewer_names(_: ModuleType) -> Iterator[None]:
    """Have numpy list fewer names, but those of modules that are there."""
    numpy: Any = importlib.import_module("numpy")
    left_out = {name for name in _UNUSED if name not in vars(numpy)}
    listed, told = numpy.__all__, numpy.__dir__
    numpy.__all__ = [name for name in listed if name not in left_out]
    numpy.__dir__ = lambda: [name for name in told() if name not in left_out]
    try:
        yield
    finally:
        numpy.__all__, numpy.__dir__ = listed, told


def _forget_statistics(dependencies: Any) -> None:
    with contextlib.suppress(AttributeError):  # a Pyomo that does not do it
        dependencies.DeferredImportCallbackFinder._callbacks.pop("scipy", None)


def coefficient(x: Number) -> int | Fraction:
    """Return the number that the decimals of an instance denote, as an integer where it is one.

    Examples
    --------
    >>> coefficient(0.1), coefficient(3.0)
    (Fraction(1, 10), 3)
    """
    exact = decimal_rational(x)
    return exact.numerator if exact.denominator == 1 else exact


def coefficients(numbers: Iterable[Number]) -> list[int | Fraction]:
    """Return the numbers that the decimals of an instance denote."""
    return [coefficient(x) for x in numbers]
