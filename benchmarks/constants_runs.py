"""Runs of methods in processes of their own, with the value of one constant changed.

This process imports the library once, with its functions rewritten so that they tell which
constants they read, and starts each run as a copy of itself, so a run costs no import and what it
changes ends with it. It solves nothing itself.

Clocks of methods count processor time here, so a busy machine changes nothing but the solvers' own
limits. A run that takes more than `MOST_S` of it is ended and not counted.
"""

from __future__ import annotations

import ast
import builtins
import gc
import importlib
import importlib.machinery
import inspect
import json
import os
import resource
import select
import signal
import sys
import time
import types
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from constants_read import Constant, Marked, Reading, is_loop

#: Seconds of processor time after which a run is ended, one that compiles loops anew too, and
#: seconds by the clock.
MOST_S, MOST_LOOPS_S, MOST_WALL_S = 1, 120, 600.0

#: The time limit that methods are given.
LIMIT_S = 0.3

TELLER = "__reads__"


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    Attributes
    ----------
    status : str
        "ended" where the process was, else the result's.
    value, bound : str or None
        As text, so that exact numbers stay exact.
    seconds : float
        Processor time.
    reads : list of str
        Keys of the constants that it read.
    """

    status: str
    value: str | None = None
    bound: str | None = None
    limit: str | None = None
    voucher: str | None = None
    seconds: float = 0.0
    reads: tuple[str, ...] = ()

    @property
    def closed(self) -> bool:
        """True if nothing is left open."""
        return self.status in ("optimal", "infeasible", "unbounded")


def import_all(reading: Reading, root: Path) -> None:
    """Import the library from a folder, with functions that tell what they read."""
    seen: set[str] = set()
    setattr(builtins, TELLER, lambda *keys: seen.update(keys))
    builtins.__seen__ = seen
    loader = importlib.machinery.SourceFileLoader
    usual = loader.get_code

    def get_code(self: Any, fullname: str) -> Any:
        path = Path(self.path)
        module = reading.modules.get(fullname) if path.is_relative_to(root) else None
        if module is None:
            return usual(self, fullname)
        tree = ast.parse(path.read_text(encoding="utf-8"))
        return compile(Marked(reading, module, TELLER).visit(tree), str(path), "exec")

    loader.get_code = get_code  # type: ignore[method-assign]
    for name, known in reading.modules.items():
        if known.file.endswith("main__.py"):  # a command, which runs
            continue
        try:
            importlib.import_module(name)
        except Exception as error:  # an extra that is not installed
            print(f"not imported: {name}: {error}", file=sys.stderr)
    loader.get_code = usual  # type: ignore[method-assign]
    gc.collect()
    gc.freeze()  # copies of this process share what is loaded


# -- another value ---------------------------------------------------------------------------------


def scaled(value: Any, factor: int, *, half: bool) -> Any:
    """Return half or twice a value: whole numbers stay whole, parts of 1 at most 1."""
    if isinstance(value, tuple | list):
        return type(value)(scaled(x, factor, half=half) for x in value)
    if isinstance(value, int):
        return value * factor if not half else (value // factor or (value > 0))
    other = value / factor if half else value * factor
    return min(other, type(value)(1)) if 0 < value < 1 else other


def vary(reading: Reading, constant: Constant, value: Any) -> str | None:
    """Give a constant another value in this process; return why it could not, or None.

    The value is set wherever a module knows it by a name, what was computed from it when modules
    were loaded is computed again, and loops that hold it are compiled again.
    """
    key = constant.key
    for name, known in reading.names[key]:
        if name in sys.modules:
            setattr(sys.modules[name], known, value)
    for _ in range(3):  # what is computed from what was computed
        for name in reading.takers[key]:
            if name in sys.modules:
                _computed_again(reading, name, key)
    for name, loop in reading.loops.get(key, ()):
        function = getattr(sys.modules[name], loop)
        if hasattr(function, "machine_code"):
            from numba.core.caching import NullCache

            function.machine_code._cache = NullCache()
    in_class = reading.classes.get(key)
    return f"default of a field of {in_class[0][1]}" if in_class else None


def _computed_again(reading: Reading, name: str, key: str) -> None:
    """Compute again what a module took from a constant when it was loaded."""
    module, space = reading.modules[name], vars(sys.modules[name])
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom):
            source = sys.modules.get(reading.source(name, module, node))
            for alias in node.names:
                known = alias.asname or alias.name
                if key in module.stands.get(known, set()) and known not in module.same:
                    space[known] = getattr(source, alias.name, space[known])
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            if key in reading.read(module, node.value):
                exec(compile(ast.Module([node], type_ignores=[]), module.file, "exec"), space)
        elif isinstance(node, ast.FunctionDef) and not is_loop(node):
            defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
            if any(key in reading.read(module, x) for x in defaults):
                _default_again(inspect.unwrap(space[node.name]), node, space)


def _default_again(function: Any, node: ast.FunctionDef, space: dict[str, Any]) -> None:
    def value(x: ast.expr) -> Any:
        return eval(compile(ast.Expression(x), node.name, "eval"), space)

    function.__defaults__ = tuple(value(x) for x in node.args.defaults) or None
    named = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    function.__kwdefaults__ = {a.arg: value(x) for a, x in named if x is not None} or None


# -- a run -----------------------------------------------------------------------------------------


def run(
    path: str, method: str, reading: Reading, constant: Constant | None = None, value: Any = None
) -> Outcome:
    """Solve an instance in a copy of this process; return what came of it."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(out)
            anew = constant is not None and constant.key in reading.loops
            most_s = MOST_LOOPS_S if anew else MOST_S
            resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s + 1))
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            told = _solved(path, method, reading, constant, value)
            with os.fdopen(into, "w") as pipe:
                json.dump(asdict(told), pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(into)
    text = _all_of(out, child)
    os.waitpid(child, 0)
    if not text:
        return Outcome("ended")
    known = json.loads(text)
    return Outcome(**{**known, "reads": tuple(known["reads"])})


def _all_of(out: int, child: int) -> str:
    parts, until = [], time.monotonic() + MOST_WALL_S
    with os.fdopen(out, "rb") as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                os.kill(child, signal.SIGKILL)
                return ""
            part = os.read(pipe.fileno(), 1 << 16)
            if not part:
                return b"".join(parts).decode()
            parts.append(part)


def _solved(
    path: str, method: str, reading: Reading, constant: Constant | None, value: Any
) -> Outcome:
    import gadgetopt.trust.run as trusted
    from gadgetopt.search import clock
    from gadgetopt.system.files import read_instance
    from gadgetopt.system.result import Limits

    shown = {k: v for k, v in vars(time).items() if not k.startswith("__")}
    clock.time = types.SimpleNamespace(**{**shown, "perf_counter": time.process_time})
    trusted.default_grace_s = lambda *_: MOST_WALL_S
    instance = read_instance(Path(path))
    if constant is not None:
        refused = vary(reading, constant, value)
        if refused:
            return Outcome(f"not varied: {refused}")
    seen: set[str] = builtins.__seen__
    seen.clear()
    begin = time.process_time()
    result = trusted.solve(instance, method, Limits(time_s=LIMIT_S), 0)
    seconds = time.process_time() - begin
    text = [None if x is None else str(x) for x in (result.objective, result.bound)]
    voucher = None if result.bound_voucher is None else result.bound_voucher.value
    status = result.status.value
    return Outcome(status, *text, result.limit_hit, voucher, seconds, tuple(sorted(seen)))
