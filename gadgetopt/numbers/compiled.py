"""Inner loops compiled to machine code by numba; plain Python where numba is absent.

A compiled loop is kept beside its source, so the seconds of compiling are spent once, and they are
no method's time (`gadgetopt.numbers.compiling`). Code under `compiled` uses only numbers, tuples of
numbers and arrays, gives the same answer either way, and takes its randomness from a seed or an
array of numbers passed in.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from gadgetopt.numbers.compiling import follow_numba

try:
    import numba
except ImportError:  # a version of Python that numba does not support yet
    numba = None

P = ParamSpec("P")
R = TypeVar("R")

COMPILED = numba is not None and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
"""Whether loops are compiled. `NUMBA_DISABLE_JIT=1` in the environment turns compiling off."""

if COMPILED:
    follow_numba()


def compiled(loop: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of numbers and arrays at its first call.

    Parameters
    ----------
    loop : callable
        Uses what numba supports in its nopython mode.

    Returns
    -------
    callable
        The compiled function; `loop` itself where numba is absent.
    """
    if numba is None:
        return loop
    options: dict[str, Any] = {"nogil": True}
    try:
        function: Callable[P, R] = numba.njit(cache=True, **options)(loop)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        function = numba.njit(**options)(loop)
    if COMPILED:
        _widen_constants(function)
    return function


def _widen_constants(function: Any) -> None:
    """Have calls with constants use the machine code for any numbers of their type.

    Within loops numba takes each constant for a type of its own: `add(x, 0)` and `add(x, 1)` would
    be compiled one by one, with all that is called from there.
    """
    typed: Callable[..., Any] = function.get_call_template

    def typed_by_kind(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        wide = numba.core.types.unliteral
        return typed(tuple(map(wide, arguments)), {k: wide(x) for k, x in named.items()})

    function.get_call_template = typed_by_kind


def part_of_loops(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled loops call a function; plain Python calls it as plain Python.

    Parameters
    ----------
    function : callable
        As `compiled` takes it.
    """
    if numba is None:
        return function
    part: Callable[P, R] = numba.extending.register_jitable(function)
    return part


def slow_note() -> dict[str, str]:
    """Return the note of a run whose loops were not compiled, an empty dictionary otherwise."""
    if COMPILED:
        return {}
    return {"slow": "numba is absent or turned off: inner loops ran as plain Python"}
