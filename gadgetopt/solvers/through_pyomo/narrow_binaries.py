"""Binary variables with other bounds than 0 and 1, as integers for LP files.

Pyomo lists them under Binaries with their bounds. What solvers make of bounds and Binaries together
is not the same for all bounds, and our own reader refuses such files.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyomo.core.base import ConcreteModel, Integers, Var


@contextmanager
def narrow_binaries_as_integers(model: ConcreteModel) -> Iterator[None]:
    """Let binary variables with other bounds than 0 and 1 be integers within a block."""
    undo = []
    try:
        for v in model.component_data_objects(Var):
            if v.is_binary() and v.bounds != (0, 1):
                undo.append((v, v.domain, v.lower, v.upper))
                low, high = v.bounds  # those of the domain, too
                v.domain, v.lower, v.upper = Integers, low, high
        yield
    finally:
        for v, domain, low, high in undo:
            v.domain, v.lower, v.upper = domain, low, high
