"""Models and proofs written to files for other solvers and checkers, and as readable text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.system.data import ModelProof
from gadgetopt.system.declaration import Formulation
from gadgetopt.system.files import Document
from gadgetopt.system.output import whole_file

if TYPE_CHECKING:
    from gadgetopt.proofs.reading.draft import NamedModel

#: Format to file suffix.
FORMATS = {"mps": "mps", "lp": "lp", "nl": "nl", "cpsat": "pbtxt", "exact": "exact"}


def write_formulation(formulation: Formulation, instance: Any, form: str, path: Path) -> list[str]:
    """Write the model of a formulation on an instance's data; return what the file says otherwise.

    Where the formulation states its exact numbers itself (`form`), MPS, LP and NL files hold all of
    their digits, and its own names. Else Pyomo writes them, as `write_model`.

    Raises
    ------
    ModelRefused, InputError
        As `write_model`.
    """
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.model import lines
    from gadgetopt.proofs.named_form import named_model
    from gadgetopt.solvers.formulations.building import built, compiled

    if formulation.form is None or form == "cpsat":
        write_model(built(formulation, instance), form, path)
        return []
    exact = compiled(formulation, instance)
    with whole_file(path) as part:
        if form == "exact":
            _write_lines(lines(exact_model(exact)), part)
            return []
        try:
            return _write_exactly(named_model(exact), form, part)
        except ModelRefused as error:
            raise ModelRefused(f"--format {form}: {error}") from None


def _write_exactly(named: NamedModel, form: str, path: Path) -> list[str]:
    """Write a model as MPS, LP or NL with all digits; return what differs from it."""
    from gadgetopt.proofs.reading.writing.adapting import adapted
    from gadgetopt.proofs.reading.writing.lp import LP, lp
    from gadgetopt.proofs.reading.writing.mps import MPS, mps
    from gadgetopt.proofs.reading.writing.nl import NL, nl

    layout = {"mps": MPS, "lp": LP, "nl": NL}[form]
    held = adapted(named, layout)
    if form == "nl":
        files = nl(held)
        _write_lines(files.lines, path)
        _write_lines(files.columns, path.with_suffix(".col"))
        _write_lines(files.rows, path.with_suffix(".row"))
    else:
        _write_lines(mps(held) if form == "mps" else lp(held), path)
    return held.notes


def _write_lines(lines: Iterable[str], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def write_model(model: Any, form: str, path: Path) -> None:
    """Write a Pyomo model as MPS, LP, NL, as a CP-SAT model in text form, or in exact numbers.

    The last is the text that checkers of proofs read, `gadgetopt.proofs.model`.

    Raises
    ------
    ModelRefused
        If the model cannot be written in that format exactly.
    InputError
        If the file cannot be written.
    """
    import pyomo.environ  # noqa: F401  # registers the writers
    from pyomo.opt import ProblemFormat

    from gadgetopt.solvers.through_pyomo.doubles import in_doubles
    from gadgetopt.solvers.through_pyomo.narrow_binaries import narrow_binaries_as_integers

    with whole_file(path) as part:
        try:
            if form == "cpsat":
                part.write_text(_cpsat_text(model), encoding="utf-8")
            elif form == "exact":
                part.write_text(_exact_text(model), encoding="ascii")
            else:
                pyomo_format = ProblemFormat.cpxlp if form == "lp" else ProblemFormat(form)
                labels = {"symbolic_solver_labels": True}
                with in_doubles(model), narrow_binaries_as_integers(model):
                    model.write(str(part), format=pyomo_format, io_options=labels)
        except (ValueError, RuntimeError) as error:
            if isinstance(error, ModelRefused):
                raise
            raise ModelRefused(f"--format {form}: {str(error).splitlines()[0]}") from None


def model_beside(path: Path, instance: Path) -> Path:
    """Return where the model of a VIPR file is written: never over the instance's own file."""
    beside = path.with_suffix(".mps")
    return path.with_suffix(".exact.mps") if beside.resolve() == instance.resolve() else beside


def write_proof(instance: Document, certificate: Document, path: Path, beside: Path) -> None:
    """Write a tree proof of an instance as a VIPR file, and its exact model as an MPS file beside.

    Raises
    ------
    InputError
        If the certificate is no tree proof, proves nothing here, or a file cannot be written.
    """
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.files import unpacked
    from gadgetopt.proofs.reading.writing.mps import rational_mps
    from gadgetopt.proofs.vipr_files.writer import vipr
    from gadgetopt.solvers.formulations.building import compiled
    from gadgetopt.system.methods import find_formulation
    from gadgetopt.trust.certificate import certified_bound

    problem, proof = instance.problem, certificate.data
    if not isinstance(proof, ModelProof) or proof.kind != "tree":
        raise InputError(f"{certificate.path}: has no VIPR form, expected the proof of a tree")
    try:
        certified_bound(problem, instance.data, proof)  # says what is wrong with it
        formulation = find_formulation(problem, proof.formulation)
        model = exact_model(compiled(formulation, instance.data))
        lines = list(vipr(model, unpacked(proof.proof)))
    except ValueError as error:
        raise InputError(f"{certificate.path}: data.{error}") from None
    for file, text in ((path, lines), (beside, rational_mps(model))):
        with whole_file(file) as part, part.open("w", encoding="ascii") as out:
            out.writelines(f"{line}\n" for line in text)


def _exact_text(model: Any) -> str:
    from gadgetopt.proofs.exact_model import exact_model
    from gadgetopt.proofs.model import lines
    from gadgetopt.solvers.standard_form import compile_model

    return "".join(f"{line}\n" for line in lines(exact_model(compile_model(model))))


def _cpsat_text(model: Any) -> str:
    from gadgetopt.solvers.compiler import TriviallyInfeasibleError
    from gadgetopt.solvers.standard_form import compile_model
    from gadgetopt.solvers.to_cpsat.integer_bounds import find_bounds
    from gadgetopt.solvers.to_cpsat.integer_form import integer_form
    from gadgetopt.solvers.to_cpsat.translation import translate

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
