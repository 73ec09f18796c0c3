"""Methods by name: declared methods, `formulation@backend`, and how specifications select them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError
from gadgetopt.system.data import Instance
from gadgetopt.system.declaration import (
    GROUPS,
    Formulation,
    Kind,
    Method,
    Problem,
    Reference,
)
from gadgetopt.system.result import Limits, MethodOutcome

if TYPE_CHECKING:  # not loaded by whoever only names methods
    import numpy as np


@dataclass(frozen=True)
class MethodCall:
    """A method with the parameters of a run."""

    method: Method
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name, and `key=value` after a colon for parameters that differ from their defaults.

        For a method that the system does not declare itself, the origin follows: `lpt (mine.py)`.
        """
        changed = [f"{k}={written(v)}" for k, v in sorted(self.parameters.items())]
        origin = self.method.origin
        return ":".join([self.method.name, *changed]) + (f" ({origin.label})" if origin else "")

    @property
    def all_parameters(self) -> dict[str, Any]:
        """The parameters with their defaults filled in."""
        return {**self.method.parameters, **self.parameters}


def written(value: Any) -> str:
    """Return a parameter's value as text that `parse_assignments` reads back."""
    if isinstance(value, tuple):
        return ",".join(map(written, value))
    return value if isinstance(value, str) else json.dumps(value)


def methods(problem: Problem) -> list[Method]:
    """Return every method of a problem: declared ones, then formulation@backend."""
    made = [formulation_method(problem, f, b) for f in problem.formulations for b in f.backends]
    return [*problem.methods, *made]


def formulation_method(problem: Problem, formulation: Formulation, backend: str) -> Method:
    """Return the method `formulation@backend`: build, solve, decode."""
    kinds: dict[str, Kind] = {
        "exact": "exact",
        "relaxation": "relaxation",
        "restriction": "heuristic",
    }
    return Method(
        name=f"{formulation.name}@{backend}",
        kind=kinds[formulation.strength],
        summary=f"{formulation.summary} ({formulation.model_class} by {backend})",
        reference=formulation.equations,
        run=_solve_formulation(problem, formulation, backend),
        formulation=formulation.name,
        backend=backend,
        stochastic=formulation.form is not None,  # a seed is an order of its rows and columns
        read_options=Reference("gadgetopt.solvers", "formulations.options:read_options"),
        origin=formulation.origin,
    )


def _solve_formulation(
    problem: Problem, formulation: Formulation, backend: str
) -> Callable[..., MethodOutcome]:
    solve = Reference("gadgetopt.solvers", "formulations.method:solve_formulation")

    def run(
        instance: Instance, limits: Limits, rng: np.random.Generator, /, **options: Any
    ) -> MethodOutcome:
        outcome: MethodOutcome = solve(
            problem, formulation, backend, instance, limits, rng, options
        )
        return outcome

    return run


def find_formulation(problem: Problem, name: str) -> Formulation:
    """Return a problem's formulation by name.

    Raises
    ------
    InputError
        If there is none of that name.
    """
    for formulation in problem.formulations:
        if formulation.name == name:
            return formulation
    known = ", ".join(f.name for f in problem.formulations) or "none"
    raise InputError(
        f"formulation {name!r}: {problem.name} has no such formulation (it has: {known})"
    )


# -- selecting methods -----------------------------------------------------------------------------


def find_method(problem: Problem, spec: str) -> MethodCall:
    """Return the method that `name`, `name:key=value:...` or a label specifies.

    Raises
    ------
    InputError
        If the problem does not have the method, or the method does not have the parameter, or a
        policy that it names cannot be read. The line names what the method is called now, if it was
        renamed.
    """
    by_name = {m.name: m for m in methods(problem)}
    name, *assignments = _without_origin(problem, spec).split(":")
    renamed = new_name(problem, spec)
    if renamed is not None:
        raise InputError(renamed)
    method = by_name.get(name) or _by_other_backend(problem, name) or _only(problem, name)
    if method is None:
        close = difflib.get_close_matches(name, by_name, 1)
        hint = f"; did you mean {close[0]}?" if close else ""
        has = ", ".join(by_name)
        raise InputError(
            f"method {name!r}: {problem.name} has no such method (it has: {has}){hint}"
        )
    if method.read_options is not None:
        options = method.read_options(method.backend, assignments, f"method {name!r}")
        return MethodCall(method, options)
    for assignment in assignments:
        key, _, value = assignment.partition("=")
        allowed = method.choices.get(key)
        if allowed is not None and value not in allowed:
            what = f"method {name!r}: {key}"
            raise InputError(f"{what}: {value!r}, expected one of {', '.join(allowed)}")
    parameters = parse_assignments(assignments, method.parameters, f"method {name!r}")
    for file in method.files:
        if parameters.get(file):
            from gadgetopt.system.training import read_arrays  # loads numpy, for policies only

            read_arrays(Path(parameters[file]), problem.name)
    return MethodCall(method, {k: v for k, v in parameters.items() if v != method.parameters[k]})


def new_name(problem: Problem, spec: str) -> str | None:
    """Return the line on what to take for a former specification, None if it is none."""
    name, *assignments = spec.split(":")
    if name in problem.removed:
        return f"method {name!r}: is no longer there, take {problem.removed[name]!r}"
    if name in problem.renamed:
        return f"method {name!r}: is now the method {problem.renamed[name]!r}"
    known = {key for m in problem.methods if m.name == name for key in m.parameters}
    for assignment in assignments:
        key = assignment.partition("=")[0]
        now = problem.renamed.get(f"{name}:{assignment}", problem.renamed.get(f"{name}:{key}"))
        if now is not None and key not in known:
            return f"method {name!r}: {assignment} is now the method {now!r}"
    return None


def _by_other_backend(problem: Problem, name: str) -> Method | None:
    """Return `formulation@backend` for a backend that is not declared; None if it is no such name.

    Raises
    ------
    InputError
        If the backend cannot solve the formulation, or is not installed.
    """
    start, at, backend = name.partition("@")
    for formulation in problem.formulations if at else ():
        if formulation.name == start:
            check = Reference("gadgetopt.solvers", "formulations.backends:check_backend")
            check(problem.name, formulation, backend)
            return formulation_method(problem, formulation, backend)
    return None


def by_backend(problem: Problem, backend: str) -> list[str]:
    """Return the methods `formulation@backend` that the name of a backend alone stands for.

    These are all formulations that it can solve; none if a method has that name.
    """
    if any(m.name == backend for m in problem.methods):
        return []
    capable = Reference("gadgetopt.solvers", "formulations.backends:capable")
    return [f"{f.name}@{backend}" for f in problem.formulations if backend in capable(f)]


def _only(problem: Problem, backend: str) -> Method | None:
    """Return the one method that a backend's name stands for; None if it is no backend's name.

    Raises
    ------
    InputError
        If it stands for several.
    """
    names = by_backend(problem, backend)
    if len(names) > 1:
        raise InputError(f"method {backend!r}: expected one of {', '.join(names)}")
    return find_method(problem, names[0]).method if names else None


def select(problem: Problem, wanted: Iterable[str]) -> list[MethodCall]:
    """Return the methods that names and groups select, each once, in the given order.

    The groups are the kinds, `all`, `default`, the system's main comparison, and the names of
    backends, for every formulation that they can solve.

    Callers filter out names that only other problems have: see `knows`.
    """
    chosen: dict[str, MethodCall] = {}
    for spec in wanted:
        if spec == "default":
            calls = [find_method(problem, main) for main in problem.default_methods]
        elif spec in GROUPS:
            calls = [MethodCall(m) for m in methods(problem) if spec in ("all", m.kind)]
        else:
            name, *options = spec.split(":")
            specs = [":".join([found, *options]) for found in by_backend(problem, name)]
            calls = [find_method(problem, each) for each in specs or [spec]]
        chosen.update({call.label: call for call in calls})
    return list(chosen.values())


def knows(problem: Problem, spec: str) -> bool:
    """Return True if a method specification selects something for this problem."""
    name = _without_origin(problem, spec).split(":", maxsplit=1)[0]
    formulation, at, _ = name.partition("@")
    if at and any(f.name == formulation for f in problem.formulations):
        return True  # whether the backend can solve it, `find_method` says
    # Of a former name, `find_method` says what to take now.
    if name in GROUPS or name in problem.renamed or name in problem.removed:
        return True
    return any(m.name == name for m in methods(problem)) or bool(by_backend(problem, name))


def _without_origin(problem: Problem, spec: str) -> str:
    """Return a specification without the origin that a label ends with."""
    head, bracket, rest = spec.rpartition(" (")
    if not bracket:
        return spec
    name = head.split(":", maxsplit=1)[0]
    origins = [m.origin for m in problem.methods if m.name == name]
    origins += [f.origin for f in problem.formulations if f.name == name.partition("@")[0]]
    told = any(origin is not None and rest == f"{origin.label})" for origin in origins)
    return head if told else spec


def parse_assignments(
    assignments: Iterable[str], defaults: Mapping[str, Any], what: str
) -> dict[str, Any]:
    """Parse `key=value` strings into parameters of the defaults' types.

    Values are read as JSON if possible, else as strings. A default of None allows any type.
    """
    out: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"{what}: {assignment!r} is not of the form name=value")
        if key not in defaults:
            known = ", ".join(defaults) or "none"
            raise InputError(f"{what}: no parameter {key!r} (it has: {known})")
        out[key] = _typed(text, defaults[key], f"{what}: {key}")
    return out


def _typed(text: str, default: Any, what: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if default is None:
        return value
    if isinstance(default, tuple) and isinstance(value, int | float | str):
        value = tuple(_plain(part) for part in text.split(","))
    if isinstance(default, tuple) and isinstance(value, list):
        value = tuple(value)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(default, str) and isinstance(value, list):
        value = text.strip()[1:-1].replace(" ", "")  # [4,4,8] is the list 4,4,8
    elif isinstance(default, str) and not isinstance(value, str):
        value = text
    if type(value) is not type(default):
        raise InputError(f"{what}: {text!r} is not of the type of its default, {default!r}")
    # A positive integer as default is a count, a positive float is a measure.
    counts = isinstance(default, int) and not isinstance(default, bool) and default > 0
    if counts and value <= 0:
        raise InputError(f"{what}: {text} is not a positive number")
    if isinstance(default, float) and default > 0 and not 0 <= value < float("inf"):
        raise InputError(f"{what}: {text} is not a non-negative number")
    return value


def _plain(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
