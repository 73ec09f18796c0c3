"""Solutions of exported models from other solvers: files of names and values, decoded.

Read are MIPLIB's and SCIP's .sol, Gurobi's .sol, and what HiGHS writes as raw, sparse or pretty
solution. Names are those that `gadgetopt export` writes, or those of the model itself.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyomo.core.base import ConcreteModel, Var
from pyomo.core.base.label import cpxlp_label_from_name

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.solvers.domains import read_domains
from gadgetopt.solvers.formulations.building import built
from gadgetopt.solvers.linear_terms import TermReader
from gadgetopt.solvers.standard_form import INTEGRALITY_TOLERANCE
from gadgetopt.solvers.through_pyomo.incumbent import violated
from gadgetopt.system.data import Instance, Solution
from gadgetopt.system.declaration import Formulation
from gadgetopt.system.reading import read_text

#: Allowed distance of a value from a bound of its variable, relative to the bound's size.
BOUND_TOLERANCE = 1e-6
#: The column by which LP and MPS files carry a constant in the objective.
CONSTANT = "ONE_VAR_CONSTANT"

_NOTHING = ("no solution available", "=infeas=", "=unbd=", "infeasible", "unbounded")


def decoded(instance: Instance, formulation: Formulation, path: Path) -> tuple[Solution, Number]:
    """Return the decision that a solver's solution file states, and the model's objective for it.

    Parameters
    ----------
    instance : Instance
    formulation : Formulation
        The one that was exported.
    path : Path
        Variables that the file leaves out are 0, as usual.

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
    values = read_values(path)
    model = built(formulation, instance)
    load_named(model, values, path)
    wrong = violated(model)
    if wrong is not None:
        raise InputError(f"{path}: the point violates the row {wrong} of {formulation.name}")
    from pyomo.core.base import Objective, value

    objective = next(model.component_data_objects(Objective, active=True), None)
    try:
        solution: Solution = formulation.decode(model, instance)
    except (ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise InputError(f"{path}: cannot be decoded: {error}") from error
    return solution, 0 if objective is None else float(value(objective.expr))


def load_named(model: ConcreteModel, values: dict[str, float], path: Path) -> None:
    """Write values by name into a model's variables; integers are rounded, the rest is 0.

    Raises
    ------
    InputError
        If a name is unknown, or a value is not an integer or outside the bounds of its variable.
    """
    variables = [v for v in model.component_data_objects(Var) if not v.fixed]
    by_name = _by_name(variables, path)
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


def _by_name(variables: list[Any], path: Path) -> dict[str, Any]:
    """Return the variables by their own names and by the names in LP and MPS files."""
    out: dict[str, Any] = {}
    shared: set[str] = set()
    for v in variables:
        for name in {v.name, cpxlp_label_from_name(v.name)}:
            if out.setdefault(name, v) is not v:
                shared.add(name)
    if shared:
        raise InputError(f"{path}: {min(shared)} is the name of two variables of the model")
    return out


# -- formats ---------------------------------------------------------------------------------------


def read_values(path: Path) -> dict[str, float]:
    """Return the values by name that a solution file states.

    Raises
    ------
    InputError
        If it cannot be read, states no solution, or a line is not a name and a number.
    """
    lines = read_text(path).splitlines()
    first = next((line.strip() for line in lines if line.strip()), "")
    if not first:
        raise InputError(f"{path}: is empty")
    if first.startswith(("<", "{")):
        raise InputError(f"{path}: expected lines of a name and a value, as in a .sol file")
    if first == "Columns":
        found = _pretty(lines, path)
    elif first.startswith(("Model status", "# Primal solution")):
        found = _raw(lines, path)
    else:
        found = _plain(lines, path)
    out: dict[str, float] = {}
    for name, x in found:
        if name in out:
            raise InputError(f"{path}: {name}: stated twice")
        out[name] = x
    if not out and not any("=obj=" in line or "bjective" in line for line in lines):
        raise InputError(f"{path}: states no values")
    return out


def _number(path: Path, place: int, name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{path}: line {place}: {name}: {text!r} is not a number") from None


def _plain(lines: list[str], path: Path) -> Iterator[tuple[str, float]]:
    """Read lines `name value`, those of MIPLIB, SCIP and Gurobi; SCIP adds the objective's part."""
    for place, line in enumerate(lines, 1):
        text = line.split("#", 1)[0].strip()
        low = text.lower()
        if not text or low.startswith(("=obj=", "objective value", "solution status")):
            if any(low.endswith(word) for word in _NOTHING):
                raise InputError(f"{path}: states no solution: {text}")
            continue
        if low.startswith(_NOTHING):
            raise InputError(f"{path}: states no solution: {text}")
        name, *rest = text.split()
        if not rest or (len(rest) > 1 and not rest[1].startswith("(")):
            raise InputError(f"{path}: line {place}: {text[:60]!r} is not a name and a value")
        yield name, _number(path, place, name, rest[0])


def _raw(lines: list[str], path: Path) -> Iterator[tuple[str, float]]:
    """Read the primal columns of HiGHS's raw solution; the sparse one adds an index."""
    inside = found = False
    for place, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("# Columns") and not found:
            inside = found = True
        elif text.startswith("#"):
            inside = False
        elif inside and text:
            name, *rest = text.split()
            if not rest:
                raise InputError(f"{path}: line {place}: {text[:60]!r} is not a name and a value")
            yield name, _number(path, place, name, rest[0])
    if not found:
        raise InputError(f"{path}: states no solution: HiGHS writes `# Columns` before its values")


def _pretty(lines: list[str], path: Path) -> Iterator[tuple[str, float]]:
    """Read the columns of HiGHS's pretty solution, whose numbers end below their heads."""
    start = next(k for k, line in enumerate(lines) if line.strip() == "Columns")
    head = lines[start + 1] if start + 1 < len(lines) else ""
    if "Primal" not in head:
        raise InputError(f"{path}: states no solution: no column Primal in HiGHS's table")
    left, right = head.index("Upper") + len("Upper"), head.index("Primal") + len("Primal")
    for place, line in enumerate(lines[start + 2 :], start + 3):
        if line.strip() == "Rows":
            return
        if line.strip():
            name = line.split()[-1]
            yield name, _number(path, place, name, line[left:right].strip())
