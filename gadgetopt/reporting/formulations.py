"""The formulations of an instance side by side: size, bounds at the root, nodes, time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.search.alarm import TimeUp, ended_after
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaration import Formulation, Problem
from gadgetopt.system.files import Document, read_instance
from gadgetopt.system.methods import MethodCall, find_formulation, formulation_method
from gadgetopt.system.reading.suffixes import imported_object
from gadgetopt.system.result import Limits, Result

if TYPE_CHECKING:
    import pandas as pd

#: The keys of a row about a model.
MODEL_KEYS = (
    "formulation",
    "strength",
    "model_class",
    "continuous",
    "integer",
    "binary",
    "rows",
    "nonzeros",
    "nonlinear_rows",
    "lp_bound",
)

#: Further keys of a row about a solve.
SOLVE_KEYS = (
    "backend",
    "status",
    "limit_hit",
    "objective",
    "bound",
    "root_bound",
    "nodes",
    "branches",
    "conflicts",
    "time_s",
)


def formulations(
    instance: Any,
    names: Sequence[str] = (),
    *,
    solve: bool = False,
    time_limit: float | None = 60.0,
    threads: int = 1,
    seed: int = 0,
) -> pd.DataFrame:
    """Compare the formulations of an instance.

    Models are built and solved in this process, and Ctrl-C ends all of it; the command of the same
    name uses processes of their own, which end within their limits whatever happens.

    Parameters
    ----------
    instance : Document, path, Pyomo model, or mapping
        A mapping has several models of one's own by name, whose rows stand together.
    names : sequence of str
        Formulations; default all of the system.
    solve : bool
        Solve each formulation by each of its declared backends: a row per pair.
    time_limit : float or None
        Seconds of each linear relaxation, and of each solve.
    threads : int
        Solver threads.
    seed : int
        Seed of the solvers.

    Returns
    -------
    pandas.DataFrame
        One row per formulation, or per formulation and backend. Columns: `formulation`;
        `strength`, how its optimum compares with the problem's; `model_class`; free variables by
        kind, `continuous`, `integer` and `binary`; `rows`, `nonzeros` (pairs of a row and a
        variable in it) and `nonlinear_rows`; `lp_bound`, the optimum of the linear relaxation by
        HiGHS, missing for a model that is not linear. With `solve` also `backend`; `status`,
        `limit_hit`, `objective` and `bound`; `root_bound`, the dual bound when the search left the
        root; `nodes` as HiGHS or SCIP counts them; `branches` and `conflicts` of CP-SAT, which has
        no tree; `time_s`. `note` says why a row is incomplete. What a solver does not tell is
        missing.

    Raises
    ------
    InputError
        If the instance cannot be read or has no such formulation.
    KeyboardInterrupt
        At Ctrl-C.
    """
    import pandas as pd

    from gadgetopt.trust.run import solve as run

    limits = Limits(time_limit, threads)
    rows = []
    for own, document in _documents(instance):
        for formulation in chosen(document.problem, names):
            row = model_row(document, formulation, limits)
            row["formulation"] = own or row["formulation"]
            if not solve:
                rows.append(row)
                continue
            for call in calls(document.problem, formulation):
                result = run(document, call, limits, seed)
                if result.limit_hit == "interrupted":
                    raise KeyboardInterrupt
                rows.append(solved_row(row, result))
    return pd.DataFrame(rows, columns=columns(solve))


def _documents(given: Any) -> list[tuple[str, Document[Any]]]:
    """Return the instances that are given, those of a mapping with their names."""
    if isinstance(given, Mapping):
        return [(name, _document(one, name)) for name, one in given.items()]
    return [("", _document(given, "model"))]


def _document(given: Any, name: str) -> Document[Any]:
    if isinstance(given, Document):
        return given
    found = None if isinstance(given, Path | str) else imported_object(given, name)
    if found is None:
        return read_instance(given)
    return Document(found.problem, "instance", name, found.data, found.origin)


def chosen(problem: Problem, names: Sequence[str]) -> list[Formulation]:
    """Return the formulations of these names, or all of a problem.

    Raises
    ------
    InputError
        If a name is unknown, or the problem has no formulation.
    """
    found = [find_formulation(problem, name) for name in names] or list(problem.formulations)
    if not found:
        raise InputError(f"{problem.name} has no formulation that is a Pyomo model")
    return found


def calls(problem: Problem, formulation: Formulation) -> list[MethodCall]:
    """Return the methods that solve a formulation by its declared backends."""
    return [MethodCall(formulation_method(problem, formulation, b)) for b in formulation.backends]


def columns(solved: bool) -> list[str]:
    """Return the columns of the table."""
    return [*MODEL_KEYS, *(SOLVE_KEYS if solved else ()), "note"]


def model_row(document: Document[Any], formulation: Formulation, limits: Limits) -> dict[str, Any]:
    """Return the row of a formulation's model: its size and its LP bound."""
    from gadgetopt.solvers.formulations.building import built
    from gadgetopt.solvers.formulations.measures import (
        compiled,
        lp_bound,
        size_of_form,
        size_of_model,
    )
    from gadgetopt.solvers.outcome import plain_number

    clock = Clock(limits)
    row: dict[str, Any] = {
        "formulation": formulation.name,
        "strength": formulation.strength,
        "model_class": formulation.model_class,
    }
    try:
        with ended_after(clock.left_s):
            if formulation.form is not None:
                form = formulation.form(document.data)
                size = size_of_form(form)
            else:
                model = built(formulation, document.data)
                form = compiled(model)
                size = size_of_model(model) if form is None else size_of_form(form)
    except TimeUp:
        return {**row, "note": f"building it took more than {limits.time_s:g} s"}
    except (ModelRefused, InputError) as error:
        return {**row, "note": str(error)}
    row |= asdict(size)
    if form is None:
        return {**row, "note": "not linear: no LP bound" if size.nonlinear_rows else None}
    row["lp_bound"] = plain_number(lp_bound(form, clock.limits()))
    if row["lp_bound"] is None:
        row["note"] = "the solver did not finish the linear relaxation"
    return row


def solved_row(row: Mapping[str, Any], result: Result) -> dict[str, Any]:
    """Return the row of a model completed by a solve."""
    from gadgetopt.solvers.outcome import plain_number

    told = result.notes.get("model", {})
    return {
        **row,
        "backend": result.backend,
        "status": result.state,
        "limit_hit": result.limit_hit,
        "objective": plain_number(result.objective),
        "bound": plain_number(result.bound),
        **{key: told.get(key) for key in ("root_bound", "nodes", "branches", "conflicts")},
        "time_s": result.time_s,
        "note": result.reason or row.get("note"),
    }
