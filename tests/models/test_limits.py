"""No limit is lost between a method and the solvers it calls."""

import importlib
import pkgutil
import sys
import time
from dataclasses import dataclass, fields, replace
from functools import cache
from types import SimpleNamespace

import pytest

from gadgetopt import models, pieces, solvers
from gadgetopt.search import clock
from gadgetopt.solvers import cpsat, highs, import_backend
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.declaration import resolved
from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.methods import MethodCall, methods
from gadgetopt.system.registry import problems
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import attempt

LIMITS = Limits(time_s=20.0, threads=2, memory_mb=4000.0, rel_gap=1e-4)

#: Seconds by which every call of a solver sets the clock of the run forward.
COST_S = 1.0

#: Functions of solvers, all with their limits as the second argument.
ENTRIES = [
    (highs, "solve_form"),
    (cpsat, "solve_form"),
    (cpsat, "solve_cp"),
    (import_backend("scip"), "solve_form"),
    (import_backend("scip"), "solve_plain"),
    (PersistentLp, "solve"),
    (PersistentLp, "solve_in_integers"),
]

#: Seconds that a solver really has.
TRUE_S = 0.3

#: What reads a formulation's solution knows nothing of the run.
DECODERS = {
    resolved(f.decode).__name__ for p in problems() for f in p.formulations if f.decode is not None
}

# A module that a method loads later would hold the function of the test that loaded it.
for _package in (models, solvers, pieces):
    for _module in pkgutil.walk_packages(_package.__path__, f"{_package.__name__}."):
        importlib.import_module(_module.name)

#: Every name of these functions in a module that is loaded, as it holds the function itself.
NAMES = [
    (module, attribute, getattr(owner, name), owner.__name__, name)
    for owner, name in ENTRIES
    for loaded, module in list(sys.modules.items())
    if loaded.startswith("gadgetopt")
    for attribute, value in vars(module).items()
    if value is getattr(owner, name)
] + [
    (owner, name, getattr(owner, name), owner.__name__, name)
    for owner, name in ENTRIES
    if isinstance(owner, type)
]


def tries(method):
    """Instances that a method is tried on, of those it is made for: a formulation is one path."""
    return 1 if "@" in method.name else 2


@dataclass
class Call:
    """A call of a solver: its limits, the seconds of calls before it, and the functions above."""

    entry: str
    limits: Limits
    spent_s: float
    above: set[str]


@pytest.fixture
def calls(monkeypatch):
    """Every call of a solver, which still runs but costs a second of the clock more."""
    made: list[Call] = []
    offset = [0.0]
    shifted = SimpleNamespace(perf_counter=lambda: time.perf_counter() + offset[0])
    monkeypatch.setattr(clock, "time", shifted)

    def recording(entry, original):
        def record(subject, limits, *rest, **named):
            frame, above = sys._getframe(1), set()
            while frame:
                above.add(frame.f_code.co_name)
                frame = frame.f_back
            made.append(Call(entry, limits, COST_S * len(made), above))
            offset[0] += COST_S
            if limits.time_s is not None:
                limits = replace(limits, time_s=min(TRUE_S, limits.time_s))
            return original(subject, limits, *rest, **named)

        return record

    for holder, attribute, original, owner, name in NAMES:
        monkeypatch.setattr(holder, attribute, recording(f"{owner}.{name}", original))
    return made


@cache
def paths(system):
    """Instances of the library, the quickstart first and then from small to large."""
    quick = [p for p in find_instances([library() / "quickstart"]) if p.stem == system]
    others = sorted(
        (library() / system).rglob("*.json"), key=lambda path: (path.stat().st_size, path)
    )
    return [*quick, *others]


read = cache(read_instance)


EVERY = [pytest.param(p, m, id=f"{p.name}-{m.name}") for p in problems() for m in methods(p)]


@pytest.mark.parametrize(("problem", "method"), EVERY)
def test_every_limit_reaches_every_solver(problem, method, calls):
    tried = 0
    for document in map(read, paths(problem.name)):
        del calls[:]
        run = attempt(document, MethodCall(method), LIMITS, seed=0)
        if run.refused or (run.reason is not None and not calls):
            continue  # not made for this instance
        assert run.reason is None
        tried += 1
        if "@" in method.name:
            assert calls
        for call in calls:
            if call.above & DECODERS:
                continue
            assert call.limits.time_s is not None, call
            assert call.limits.time_s <= max(0.0, LIMITS.time_s - call.spent_s) + 1e-6, call
            kept = {f.name for f in fields(Limits)} - {"time_s", "rel_gap"}
            for name in kept:
                assert getattr(call.limits, name) == getattr(LIMITS, name), call
        if tried == tries(method):
            break
    if not tried:
        pytest.skip("made for no instance of the library")
