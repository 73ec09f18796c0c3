"""Pyomo models written to files for other solvers, and as readable text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gadgetopt.errors import ModelRefused
from gadgetopt.system.output import whole_file

#: Format to file suffix.
FORMATS = {"mps": "mps", "lp": "lp", "nl": "nl", "cpsat": "pbtxt"}


def write_model(model: Any, form: str, path: Path) -> None:
    """Write a Pyomo model as MPS, LP, NL, or as a CP-SAT model in text form.

    Raises
    ------
    ModelRefused
        If the model cannot be written in that format exactly.
    InputError
        If the file cannot be written.
    """
    from pyomo.opt import ProblemFormat

    with whole_file(path) as part:
        try:
            if form == "cpsat":
                part.write_text(_cpsat_text(model), encoding="utf-8")
            else:
                pyomo_format = ProblemFormat.cpxlp if form == "lp" else ProblemFormat(form)
                labels = {"symbolic_solver_labels": True}
                model.write(str(part), format=pyomo_format, io_options=labels)
        except (ValueError, RuntimeError) as error:
            if isinstance(error, ModelRefused):
                raise
            raise ModelRefused(f"--format {form}: {str(error).splitlines()[0]}") from None


def _cpsat_text(model: Any) -> str:
    from gadgetopt.solvers.compiler import TriviallyInfeasibleError
    from gadgetopt.solvers.cpsat_translation import translate
    from gadgetopt.solvers.integer_bounds import find_bounds
    from gadgetopt.solvers.integer_form import integer_form
    from gadgetopt.solvers.standard_form import compile_model

    try:
        integers = integer_form(compile_model(model))
        unbounded = find_bounds(integers)
        if unbounded:
            raise ModelRefused(
                f"--format cpsat: {integers.names[unbounded[0]]} has no finite bounds"
            )
        return str(translate(integers).model)
    except TriviallyInfeasibleError as error:
        raise ModelRefused(f"--format cpsat: {error}") from None


def written_out(model: Any, rows: int) -> str:
    """Return a Pyomo model as text: its size, then each constraint with its first rows.

    Parameters
    ----------
    model : pyomo.ConcreteModel
    rows : int
        Rows written out per constraint.
    """
    from pyomo.environ import Constraint, Objective, Var

    variables = list(model.component_objects(Var, active=True, descend_into=True))
    constraints = list(model.component_objects(Constraint, active=True, descend_into=True))
    lines = [
        f"{sum(map(len, variables))} variables, {sum(map(len, constraints))} constraints",
        "",
    ]
    for variable in variables:
        some = next(iter(variable.values()), None)
        domain = "" if some is None else f" in {some.domain}"
        lines.append(f"var {variable.name}: {len(variable)}{domain}{_doc(variable)}")
    for objective in model.component_data_objects(Objective, active=True):
        lines += ["", f"{'min' if objective.sense == 1 else 'max'} {objective.expr}"]
    for constraint in constraints:
        lines += ["", f"{constraint.name}: {len(constraint)} rows{_doc(constraint)}"]
        shown = list(constraint.values())[:rows]
        lines += [f"    {data.expr}" for data in shown]
        if 0 < rows < len(constraint):
            lines.append(f"    ... {len(constraint) - rows} more")
    return "\n".join(lines)


def _doc(component: Any) -> str:
    return f"  -- {component.doc}" if component.doc else ""
