"""Functions that parts name without importing them, and functions called as methods."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gadgetopt.numbers.pyomo_numbers import know_fractions, spare_imports


@dataclass(frozen=True, repr=False)
class Reference:
    """A function or class named by module and attribute, imported when it is first used.

    Declaring a problem this way keeps `gadgetopt list` from importing a solver. A test resolves
    every reference of every problem.
    """

    package: str
    target: str

    def resolve(self) -> Any:
        """Import the module and return its attribute."""
        if self.package != "gadgetopt.system":  # where nothing knows Pyomo
            spare_imports()
        module, _, attribute = self.target.partition(":")
        found = getattr(importlib.import_module(f".{module}", self.package), attribute)
        know_fractions()
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Import the object and call it."""
        return self.resolve()(*args, **kwargs)

    def __repr__(self) -> str:
        return f"{self.package}.{self.target}"


@dataclass(frozen=True)
class Beside:
    """A function by its name in the file of another one, looked up when it is first used."""

    function: Callable[..., Any]
    name: str

    def resolve(self) -> Any:
        """Return the function of that name."""
        return self.function.__globals__[self.name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Look the function up and call it."""
        return self.resolve()(*args, **kwargs)


@dataclass(frozen=True)
class Adapted:
    """A function called with the arguments of a method; it is given those that it takes.

    Attributes
    ----------
    function : callable
        The function, or a reference to it.
    takes : mapping
        Of `limits` and `rng`, those it takes, with its own names for them.
    """

    function: Callable[..., Any]
    takes: Mapping[str, str]

    def resolve(self) -> Any:
        """Return the function itself, imported if need be."""
        return resolved(self.function)

    def __call__(self, instance: Any, limits: Any, rng: Any, **parameters: Any) -> Any:
        """Call the function."""
        given = {"limits": limits, "rng": rng}
        taken = {own: given[bare] for bare, own in self.takes.items()}
        return self.function(instance, **taken, **parameters)


def resolved(part: Any) -> Any:
    """Return the object that a lazy reference stands for; return anything else unchanged."""
    return part.resolve() if isinstance(part, Reference | Beside | Adapted) else part


def module_of(part: Any) -> str:
    """Return the name of the module of a function or class, or of a reference to one."""
    while isinstance(part, functools.partial | Adapted | Beside):
        part = part.func if isinstance(part, functools.partial) else part.function
    if isinstance(part, Reference):
        module = part.target.partition(":")[0]
        return importlib.util.resolve_name(f".{module}", part.package)
    return str(getattr(part, "__module__", None) or type(part).__module__)
