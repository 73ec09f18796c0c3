"""Fractions as coefficients of Pyomo models.

What is exact in the data reaches Pyomo as it is: an integer, or a `fractions.Fraction`. Pyomo keeps
fractions in its expressions, and `gadgetopt.solvers.compiler` reads them; solvers that get a model
from Pyomo itself get doubles (`gadgetopt.solvers.through_pyomo.doubles`).
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Sequence
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


def spare_statistics() -> None:
    """Keep Pyomo from importing all of `scipy.stats` as soon as anyone imports a part of scipy.

    That is half the time in which a formulation is loaded, and nobody here needs it. Pyomo still
    imports it where it reads it itself. Pyomo itself is not imported for it: most methods do
    without.
    """
    if _DEPENDENCIES in sys.modules:
        _forget_statistics(sys.modules[_DEPENDENCIES])
    elif not any(isinstance(finder, _Sparing) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Sparing())


#: The module of Pyomo that says what is imported along with what.
_DEPENDENCIES = "pyomo.common.dependencies"


class _Sparing(MetaPathFinder):
    """Has Pyomo forget about statistics as soon as its module has been executed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find that module as usual, and no other."""
        if name != _DEPENDENCIES:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_forget(module: ModuleType) -> None:
                # Where it sees scipy, it imports the statistics at once.
                scipy = sys.modules.pop("scipy", None)
                try:
                    execute(module)
                finally:
                    if scipy is not None:
                        sys.modules["scipy"] = scipy
                _forget_statistics(module)

            spec.loader.exec_module = execute_and_forget  # type: ignore[method-assign]
        return spec


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
