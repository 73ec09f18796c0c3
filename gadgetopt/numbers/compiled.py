"""Inner loops: plain Python where little is asked of them, machine code of numba where much is.

A loop is small as long as it has taken less time, as plain Python in this process, than its machine
code would take to get (`READ_S`, `COMPILE_S`); so an instance of a lesson compiles nothing, and no
instance loses more than twice what is needed. A call that does not end in that time is given up,
its arrays get back what they held, and the machine code does it.

Machine code is kept beside the source of the loop, so the seconds of compiling are spent once, and
they are no method's time (`gadgetopt.numbers.compiling`). Code under `compiled` uses only numbers,
tuples of numbers and arrays, and takes its randomness from a seed or an array of numbers passed in.
It gives the same answer either way, to the last bit: exponentials are those of `math`, and sorting
is stable.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from gadgetopt.numbers.alarm import ended_after
from gadgetopt.numbers.compiling import follow_numba, preparing
from gadgetopt.numbers.garbage import cycle_collector_paused

P = ParamSpec("P")
R = TypeVar("R")

#: Seconds of a loop as plain Python after which its machine code is looked for, and after which it
#: is compiled if there is none; they are the processor's, so that a busy machine compiles no more
#: than an idle one. A call as plain Python takes no longer by the clock either, so a method looks
#: at its clock and heeds Ctrl-C as it does between compiled calls. Tuned: `benchmarks/start.py`.
READ_S, COMPILE_S = 0.1, 0.5

COMPILED: bool = (
    importlib.util.find_spec("numba") is not None
    and os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
)
"""Whether loops are compiled. `NUMBA_DISABLE_JIT=1` in the environment turns compiling off."""

_here = threading.local()


class Loop(Generic[P, R]):
    """A function of numbers and arrays that is plain Python at first, then machine code.

    Parameters
    ----------
    plain : callable
        The loop.

    Attributes
    ----------
    plain : callable
        The loop as plain Python, for whoever has numbers that no machine word holds.
    plain_s : float
        Seconds of the processor that it has taken so in this process.
    """

    def __init__(self, plain: Callable[P, R]):
        functools.update_wrapper(self, plain)
        self.plain: Callable[P, R] = plain
        self.plain_s: float = 0.0
        self._machine: Callable[P, R] | None = None  # once it has been got

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """Call the loop."""
        if self._machine is not None:
            return self._machine(*arguments, **named)
        if getattr(_here, "in_plain_loop", False):
            return self.plain(*arguments, **named)
        value: R = self._called(arguments, named)
        return value

    def __reduce__(self) -> str:
        """Travel to other processes as functions do, by name."""
        return self.plain.__qualname__

    @property
    def _numba_type_(self) -> Any:
        """The type by which numba knows the function in other loops."""
        return self._within_loops._numba_type_

    @functools.cached_property
    def _within_loops(self) -> Any:
        # What Python needs to call it would take as long to compile as the loop itself. It is kept
        # with the loops that call it, as the cache would not tell it from the other.
        return _machine_code(self.plain, cache=False, no_cpython_wrapper=True)

    @functools.cached_property
    def machine_code(self) -> Any:
        """The loop as numba has it, which compiles it or reads it from its cache when called."""
        try:
            return _machine_code(self.plain, cache=True)
        except RuntimeError:  # neither the package's folder nor the user's cache can be written
            return _machine_code(self.plain, cache=False)

    @property
    def signatures(self) -> int:
        """For how many types of arguments the loop was compiled or read in this process."""
        made = (self.__dict__.get(name) for name in ("machine_code", "_within_loops"))
        return sum(len(function.signatures) for function in made if function is not None)

    def _called(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call the loop while it is plain Python; have its machine code do it if that is dearer."""
        if not _compiles():
            return self._plainly(arguments, named, math.inf)[1]
        if threading.current_thread() is threading.main_thread():  # only there a call can be ended
            for price_s in (READ_S, COMPILE_S):
                if self.plain_s < price_s:
                    done, value = self._plainly(arguments, named, price_s - self.plain_s)
                    if done:
                        return value
                if price_s == READ_S and self._is_kept():
                    break
        if _compiles():
            self._machine = self.machine_code
            return self.machine_code(*arguments, **named)
        return self._called(arguments, named)

    def _plainly(
        self, arguments: tuple[Any, ...], named: dict[str, Any], most_s: float
    ) -> tuple[bool, Any]:
        """Call the loop as plain Python for so long; return whether it ended, and its value.

        If it did not, also where it was interrupted, its arrays hold what they held before: as with
        machine code, nobody ever sees a call that is half done. To keep that takes time, too: large
        arrays make a loop dear.
        """
        began_s, used_s = time.perf_counter(), time.thread_time()
        kept = _contents((arguments, named))
        alarm = ended_after(most_s)
        try:
            with alarm, np.errstate(all="ignore"):
                _here.in_plain_loop = True
                value = _as_machine_code_returns(self.plain(*arguments, **named))
            self.plain_s += time.thread_time() - used_s
            return True, value
        except BaseException:
            for array, content in kept:
                array[...] = content
            if not alarm.rang:
                raise
        finally:
            _here.in_plain_loop = False
        with preparing(began_s):  # nobody's result
            self.plain_s += time.perf_counter() - began_s  # it has had its time
        return False, None

    def _is_kept(self) -> bool:
        """Return True if the loop's machine code seems to be in numba's cache."""
        if not _compiles():
            return False
        folder = self.machine_code.stats.cache_path
        line = self.plain.__code__.co_firstlineno
        name = f"*.{self.plain.__qualname__}-{line}.py*.nbi"
        return folder is not None and any(Path(folder).glob(name))


def compiled(loop: Callable[P, R]) -> Loop[P, R]:
    """Have a function of numbers and arrays compiled once it has much to do.

    Parameters
    ----------
    loop : callable
        Uses what numba supports in its nopython mode.
    """
    made = Loop(loop)
    _loops.append(made)
    return made


def part_of_loops(function: Callable[P, R]) -> Callable[P, R]:
    """Let compiled loops call a function; plain Python calls it as plain Python.

    Parameters
    ----------
    function : callable
        As `compiled` takes it.
    """
    _parts.append(function)
    if _numba.cache_info().currsize and _compiles():
        _numba().extending.register_jitable(function)
    return function


def taken_in(loop: Callable[P, R]) -> Loop[P, R]:
    """Have other loops take a loop in, as if its lines stood where it is called.

    A loop of its own is compiled, and then made fast again with every loop that calls it, and with
    those that call these. What is called from one place is compiled sooner as a part of that.

    Parameters
    ----------
    loop : callable
        As `compiled` takes it.
    """
    made = compiled(loop)
    vars(made).update(targetoptions={"inline": "always"}, py_func=loop)  # what numba looks at
    return made


def all_loops() -> tuple[Loop[..., Any], ...]:
    """Return the loops of the modules that are loaded."""
    return tuple(_loops)


def slow_note() -> dict[str, str]:
    """Return the note of a run whose loops were not compiled, an empty dictionary otherwise."""
    if _compiles():
        return {}
    return {"slow": "numba is absent or turned off: inner loops ran as plain Python"}


_loops: list[Loop[..., Any]] = []
_parts: list[Callable[..., Any]] = []


@functools.cache
def _numba() -> Any:
    """Return numba, or None where it cannot be imported; it is, once a loop has much to do."""
    with preparing(time.perf_counter()), cycle_collector_paused():
        try:
            import numba
        except ImportError:  # a version of Python or NumPy that numba does not support yet
            return None
        follow_numba()
        for part in _parts:
            numba.extending.register_jitable(part)
    return numba


def _compiles() -> bool:
    """Return True if loops are compiled, as far as is known before the first of them is."""
    return COMPILED and (_numba.cache_info().currsize == 0 or _numba() is not None)


def _machine_code(loop: Callable[..., Any], **options: bool) -> Any:
    """Return a function of numba, which is compiled or read from its cache when it is called."""
    function = _numba().njit(nogil=True, no_cfunc_wrapper=True, **options)(loop)
    _widen_constants(function)
    return function


def _widen_constants(function: Any) -> None:
    """Have calls with constants use the machine code for any numbers of their type.

    Within loops numba takes each constant for a type of its own: `add(x, 0)` and `add(x, 1)` would
    be compiled one by one, with all that is called from there.
    """
    typed: Callable[..., Any] = function.get_call_template
    wide = _numba().core.types.unliteral

    def typed_by_kind(arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return typed(tuple(map(wide, arguments)), {k: wide(x) for k, x in named.items()})

    function.get_call_template = typed_by_kind


def _contents(value: Any) -> list[tuple[Any, Any]]:
    """Return the arrays of arguments, each with a copy of what it holds."""
    if isinstance(value, np.ndarray):
        return [(value, value.copy())] if value.flags.writeable else []
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        return [pair for each in value for pair in _contents(each)]
    return []


def _as_machine_code_returns(value: Any) -> Any:
    """Return a plain loop's value with the types that machine code returns: numbers of Python."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        made = map(_as_machine_code_returns, value)
        return type(value)._make(made) if hasattr(value, "_make") else tuple(made)
    return value
