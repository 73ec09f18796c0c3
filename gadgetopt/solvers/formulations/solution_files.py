"""Solutions of exported models from other solvers: files of names and values, decoded.

Names are those that `gadgetopt export` writes, or those of the model itself.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Sequence, Set
from itertools import zip_longest
from pathlib import Path
from typing import Any

from pyomo.core.base import ConcreteModel, Var
from pyomo.core.base.label import cpxlp_label_from_name

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.solvers.domains import read_domains
from gadgetopt.solvers.formulations.building import built, compiled, decision
from gadgetopt.solvers.linear_terms import TermReader
from gadgetopt.solvers.standard_form import INTEGRALITY_TOLERANCE
from gadgetopt.solvers.through_pyomo.incumbent import violated
from gadgetopt.system.data import Instance, Solution
from gadgetopt.system.declaration import Formulation
from gadgetopt.system.reading.points import read_values

#: Allowed distance of a value from a bound of its variable, relative to the bound's size.
#: Tuned: `benchmarks/constants.py`.
BOUND_TOLERANCE = 1e-6
#: The column by which LP and MPS files carry a constant in the objective.
CONSTANT = "ONE_VAR_CONSTANT"


def decoded(
    instance: Instance,
    formulation: Formulation,
    path: Path,
    in_files: Callable[[Sequence[str]], Sequence[Set[str]]] | None = None,
) -> tuple[Solution, Number]:
    """Return the decision that a solver's solution file states, and the model's objective for it.

    Parameters
    ----------
    instance : Instance
    formulation : Formulation
        The one that was exported.
    path : Path
        Variables that the file leaves out are 0, as usual.
    in_files : callable, optional
        Returns the names that exported files have for columns of a formulation's own names.

    Raises
    ------
    InputError
        If the file is no solution, names unknown variables, or its point violates the model; or if
        the formulation has no `decode`.
    """
    if formulation.decode is None:
        raise InputError(
            f"formulation {formulation.name!r}: the values of this {formulation.strength} are no "
            "decision, so they cannot be decoded"
        )
    values = read_values(path, float)
    model = built(formulation, instance)
    own: list[str] = []
    if formulation.form is not None:
        own = [column.name for column in compiled(formulation, instance).columns]
    load_named(model, values, path, [{name} for name in own] if in_files is None else in_files(own))
    wrong = violated(model)
    if wrong is not None:
        raise InputError(f"{path}: the point violates the row {wrong} of {formulation.name}")
    from pyomo.core.base import Objective, value

    objective = next(model.component_data_objects(Objective, active=True), None)
    try:
        solution: Solution = decision(formulation, model, instance)
    except (ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise InputError(f"{path}: cannot be decoded: {error}") from error
    return solution, 0 if objective is None else float(value(objective.expr))


def load_named(
    model: ConcreteModel, values: dict[str, float], path: Path, own: Sequence[Set[str]] = ()
) -> None:
    """Write values by name into a model's variables; integers are rounded, the rest is 0.

    `own` has further names of the variables, in their order.

    Raises
    ------
    InputError
        If a name is unknown, or a value is not an integer or outside the bounds of its variable.
    """
    variables = [v for v in model.component_data_objects(Var) if not v.fixed]
    by_name = _by_name(variables, own, path)
    unknown = [name for name in values if name not in by_name and name != CONSTANT]
    if unknown:
        near = difflib.get_close_matches(unknown[0], by_name, n=1)
        hint = (
            f", did you mean {near[0]}?" if near else f" (its first is {next(iter(by_name), '')})"
        )
        more = f" and {len(unknown) - 1} others" if len(unknown) > 1 else ""
        raise InputError(f"{path}: {unknown[0]}{more}: no variable of the model{hint}")
    given = {id(by_name[name]): x for name, x in values.items() if name != CONSTANT}
    domains = read_domains(variables, TermReader())
    for k, v in enumerate(variables):
        low, high = float(domains.lower[k]), float(domains.upper[k])
        known = id(v) in given
        x = _valued(v.name, given.get(id(v), 0.0), known, bool(domains.integer[k]), path)
        slack = (BOUND_TOLERANCE * max(1.0, abs(b)) if math.isfinite(b) else 0 for b in (low, high))
        below, above = slack
        if not low - below <= x <= high + above:
            said = f"{x:g}" if known else "left out, which means 0"
            raise InputError(f"{path}: {v.name}: {said}, expected a value in [{low:g}, {high:g}]")
        v.set_value(min(max(x, low), high), skip_validation=True)


def _valued(name: str, x: float, known: bool, integer: bool, path: Path) -> float:
    if not math.isfinite(x):
        raise InputError(f"{path}: {name}: {x} is not a finite number")
    if not integer:
        return x
    if known and abs(x - round(x)) > INTEGRALITY_TOLERANCE:
        raise InputError(f"{path}: {name}: {x:g}, expected an integer within 1e-5")
    return round(x)


def _by_name(variables: list[Any], own: Sequence[Set[str]], path: Path) -> dict[str, Any]:
    """Return the variables by their own names and by the names in LP and MPS files."""
    out: dict[str, Any] = {}
    shared: set[str] = set()
    for v, further in zip_longest(variables, own):
        for name in {v.name, cpxlp_label_from_name(v.name), *(further or ())}:
            if out.setdefault(name, v) is not v:
                shared.add(name)
    if shared:
        raise InputError(f"{path}: {min(shared)} is the name of two variables of the model")
    return out
