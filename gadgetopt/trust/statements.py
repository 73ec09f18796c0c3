"""Statements of the literature, checked again.

A system declares the statements of its paper that were checked (`Statement`). `check` recomputes
one, on its witness if it has one. For a ratio it compares a run with a better solution and with a
bound, `tested_ratio`: what refutes a theorem is a feasible solution, judged by the evaluator alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number, exceeds
from gadgetopt.system.declaration import Problem, Statement
from gadgetopt.system.files import Document, library, read_instance
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


def witness_path(system: Problem, statement: Statement) -> str:
    """Return the path of a statement's witness in the library; empty if it has none."""
    return f"errata/{system.name}/{statement.name}.json" if statement.witness else ""


def check(system: Problem, statement: Statement) -> Finding:
    """Check a statement again."""
    path = witness_path(system, statement)
    found = statement.check(read_instance(library() / Path(path))) if path else statement.check()
    if not isinstance(found, Finding):
        raise TypeError(f"{system.name}/{statement.name}: its check returns no Finding: {found!r}")
    return found


def changed(document: Document, **fields: Any) -> Document:
    """Return an instance with other values of some fields, validated again."""
    data = document.data.model_dump() | fields
    return replace(document, data=type(document.data).model_validate(data))


def run(document: Document, method: str) -> Result:
    """Run a method on a witness; its solution is judged by the evaluator."""
    return solve(document, method, LIMITS, 0)


def objective(document: Document, method: str) -> float:
    """Return the evaluated objective of a run that finds a solution.

    Raises
    ------
    RuntimeError
        If it finds none: then the check cannot be made.
    """
    result = run(document, method)
    if result.objective is None:
        raise RuntimeError(f"{document.name}, {method}: {result.state}, no solution to compare")
    return float(result.objective)


def no_better(document: Document, method: str, rival: str) -> Finding:
    """Check that no solution of a rival is better than that of a method."""
    ours, other = objective(document, method), objective(document, rival)
    better = exceeds(ours, other) if document.problem.sense == "min" else exceeds(other, ours)
    return Finding(not better, f"{method} has {ours:.6g}, {rival} finds {other:.6g}")


def tested_ratio(document: Document, theorem: str, method: str, rival: str) -> Finding:
    """Compare the ratio of a run with what a theorem promises for it.

    Parameters
    ----------
    document : Document
        The witness.
    theorem, method : str
        The theorem, and the method that it is about.
    rival : str
        The method whose solution and bound take the place of the optimum.
    """
    ours, other = run(document, method), run(document, rival)
    promised = next(
        p.ratio
        for p in promises(document.problem, document.data, find_method(document.problem, method))
        if p.theorem == theorem
    )
    if promised is None or ours.objective is None or other.objective is None:
        return Finding(None, f"{method}: {ours.state}, {rival}: {other.state}")
    minimise = document.problem.sense == "min"
    least = _ratio(ours.objective, other.objective, minimise)
    most = None if other.bound is None else _ratio(ours.objective, other.bound, minimise)
    shown = (
        f"{method} has {float(ours.objective):.6g}, a feasible solution has "
        f"{float(other.objective):.6g}: ratio {float(least):.6g}, promised {float(promised):.6g}"
    )
    if exceeds(least, promised):
        return Finding(False, shown)
    return Finding(True if most is not None and not exceeds(most, promised) else None, shown)


def _ratio(ours: Number, other: Number, minimise: bool) -> Number:
    """Return the ratio of a run to another value, exactly where both are exact."""
    above, below = (ours, other) if minimise else (other, ours)
    exact = isinstance(above, int | Fraction) and isinstance(below, int | Fraction)
    return Fraction(above) / Fraction(below) if exact else float(above) / float(below)
