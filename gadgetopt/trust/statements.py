"""Statements of the literature, checked again on a witness.

A system declares the statements of its paper that were checked (`Statement`). `check` recomputes
one. For a ratio it compares a run with a better solution and with a bound, `tested_ratio`: what
refutes a theorem is a feasible solution, judged by the evaluator alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number, exceeds
from gadgetopt.system.data import Instance
from gadgetopt.system.declaration import Problem, Statement
from gadgetopt.system.files import library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem, problems
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve
from gadgetopt.trust.theorems import promises

#: Seconds that a run of a check may take.
LIMITS = Limits(time_s=20.0)


@dataclass(frozen=True)
class Finding:
    """What a check found.

    Attributes
    ----------
    holds : bool or None
        None if the check cannot tell.
    shown : str
        The numbers that show it, in one sentence.
    """

    holds: bool | None
    shown: str

    @property
    def verdict(self) -> str:
        """`holds`, `refuted` or `open`."""
        return "open" if self.holds is None else "holds" if self.holds else "refuted"


def statements() -> Iterator[tuple[Problem, Statement]]:
    """Yield every statement of every system with its system."""
    for system in problems():
        for statement in system.statements:
            yield system, statement


def chosen(names: Iterable[str]) -> list[tuple[Problem, Statement]]:
    """Return the statements that names select: `system/name`, or a system for all of its own.

    Raises
    ------
    InputError
        If there is no such system or statement.
    """
    every = list(statements())
    out = []
    for name in names:
        system = problem(name.partition("/")[0])
        own = [(p, s) for p, s in every if p.name == system.name]
        found = [(p, s) for p, s in own if name in (p.name, f"{p.name}/{s.name}")]
        if not found:
            known = ", ".join(f"{p.name}/{s.name}" for p, s in own) or "none"
            raise InputError(f"{name}: no such statement, expected one of {known}")
        out += found
    return out if names else every


def check(statement: Statement) -> Finding:
    """Check a statement again."""
    found = statement.check()
    assert isinstance(found, Finding)
    return found


def witness(path: str) -> Any:
    """Return the data of an instance of the library, given as `system/folder/name.json`."""
    data = read_instance(library() / path).data
    assert isinstance(data, Instance)
    return data


def best_value(path: str, method: str) -> float | None:
    """Return the evaluated objective of a run on a witness; None if it has no solution."""
    result = solve(read_instance(library() / path), method, LIMITS, 0)
    return None if result.objective is None else float(result.objective)


def tested_ratio(path: str, theorem: str, method: str, rival: str) -> Finding:
    """Compare the ratio of a run with what a theorem promises for it.

    Parameters
    ----------
    path : str
        The witness, as `witness` reads it.
    theorem, method : str
        The theorem, and the method that it is about.
    rival : str
        The method whose solution and bound take the place of the optimum.
    """
    document = read_instance(library() / path)
    run, other = (solve(document, name, LIMITS, 0) for name in (method, rival))
    promised = next(
        p.ratio
        for p in promises(document.problem, document.data, find_method(document.problem, method))
        if p.theorem == theorem
    )
    if promised is None or run.objective is None or other.objective is None:
        return Finding(None, f"{method}: {run.state}, {rival}: {other.state}")
    least = _ratio(document.problem, run.objective, other.objective)
    most = None if other.bound is None else _ratio(document.problem, run.objective, other.bound)
    shown = (
        f"{method} has {_told(run)}, a feasible solution has {_told(other)}: ratio "
        f"{float(least):.6g}, promised {float(promised):.6g}"
    )
    if exceeds(least, promised):
        return Finding(False, shown)
    return Finding(True if most is not None and not exceeds(most, promised) else None, shown)


def _ratio(system: Problem, objective: Number, other: Number) -> Number:
    value = objective / other if system.sense == "min" else other / objective
    assert isinstance(value, float | int) or hasattr(value, "numerator")
    return value


def _told(result: Result) -> str:
    assert result.objective is not None
    return f"{float(result.objective):.6g}"
