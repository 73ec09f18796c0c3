"""Statements of the literature, checked again.

A system declares the statements of its paper that were checked (`Statement`). `check` recomputes
one, on its counterexample if it has one. For a ratio it compares a run with a better solution and
with a bound, `tested_ratio`: what refutes a theorem is a feasible solution, judged by the evaluator
alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number, as_double, exceeds
from gadgetopt.system.declaration import Problem, Statement
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem, problems
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.ratio import quotient
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


def counterexample_path(system: Problem, statement: Statement) -> str:
    """Return the path of a statement's counterexample in the library; empty if it has none."""
    return f"errata/{system.name}/{statement.name}.json" if statement.counterexample else ""


def check(system: Problem, statement: Statement) -> Finding:
    """Check a statement again."""
    path = counterexample_path(system, statement)
    found = statement.check(read_instance(library() / Path(path))) if path else statement.check()
    if not isinstance(found, Finding):
        raise TypeError(f"{system.name}/{statement.name}: its check returns no Finding: {found!r}")
    return found


def changed(document: Document, **fields: Any) -> Document:
    """Return an instance with other values of some fields, validated again."""
    data = document.data.model_dump() | fields
    return replace(document, data=type(document.data).model_validate(data))


def run(document: Document, method: str) -> Result:
    """Run a method on a counterexample; its solution is judged by the evaluator."""
    return solve(document, method, LIMITS, 0)


def objective(document: Document, method: str) -> float:
    """Return the evaluated objective of a run that finds a solution, as a double.

    Raises
    ------
    RuntimeError
        If it finds none: then the check cannot be made.
    """
    return float(_objective(document, method))


def _objective(document: Document, method: str) -> Number:
    result = run(document, method)
    if result.objective is None:
        raise RuntimeError(f"{document.name}, {method}: {result.state}, no solution to compare")
    return result.objective


def no_better(document: Document, method: str, rival: str) -> Finding:
    """Check that no solution of a rival is better than that of a method."""
    ours, other = _objective(document, method), _objective(document, rival)
    better = exceeds(ours, other) if document.problem.sense == "min" else exceeds(other, ours)
    return Finding(
        not better, f"{method} has {as_double(ours):.6g}, {rival} finds {as_double(other):.6g}"
    )


def tested_ratio(document: Document, theorem: str, method: str, rival: str) -> Finding:
    """Compare the ratio of a run with what a theorem promises for it.

    The check is open where the theorem does not apply: an assumption fails, or a limit cut the run
    short. It is open, too, where no ratio is known, as with a bound below 0.

    Parameters
    ----------
    document : Document
        The counterexample.
    theorem, method : str
        The theorem, and the method that it is about.
    rival : str
        The method whose solution and bound take the place of the optimum.
    """
    ours, other = run(document, method), run(document, rival)
    call = find_method(document.problem, method)
    made = promises(document.problem, document.data, call, ours)
    promise = next(p for p in made if p.theorem == theorem)
    if ours.objective is None or other.objective is None:
        return Finding(None, f"{method}: {ours.state}, {rival}: {other.state}")
    if not promise.applies or promise.ratio is None:
        why = "; ".join(promise.failing) or "no finite ratio"
        return Finding(None, f"{theorem} gives no ratio on this instance: {why}")
    minimise = document.problem.sense == "min"
    least = _ratio(ours.objective, other.objective, minimise)
    most = None if other.bound is None else _ratio(ours.objective, other.bound, minimise)
    shown = (
        f"{method} has {as_double(ours.objective):.6g}, a feasible solution has "
        f"{as_double(other.objective):.6g}: "
    )
    if least is None:
        return Finding(None, f"{shown}no ratio")
    shown += f"ratio {as_double(least):.6g}, promised {as_double(promise.ratio):.6g}"
    if exceeds(least, promise.ratio):
        return Finding(False, shown)
    holds = most is not None and not exceeds(most, promise.ratio)
    return Finding(True if holds else None, shown)


def _ratio(ours: Number, other: Number, minimise: bool) -> Number | None:
    """Return the ratio of a run to another value; None if there is none."""
    return quotient(ours, other) if minimise else quotient(other, ours)
