"""`export`: a formulation for another solver, or a solution for what executes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from gadgetopt.api.running import as_instance, as_solution
from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show_apart
from gadgetopt.numbers.tolerance import Number, agrees
from gadgetopt.system.data import Solution
from gadgetopt.system.files import Document
from gadgetopt.system.result import Result


@dataclass(frozen=True)
class ExportedPlan:
    """A solution that was written in a format that something else executes.

    Attributes
    ----------
    paths : tuple of Path
        The files, the main one first.
    objective : Number
        The evaluator's of the solution.
    kept : Number
        The evaluator's of the solution as the files have it, which was read back from them.
    drops : str
        What of the solution the files do not say; empty if nothing.
    notes : tuple of str
        What whoever runs it has to know.
    """

    paths: tuple[Path, ...]
    objective: Number
    kept: Number
    drops: str = ""
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the objective, that of the files where it differs and why, and the notes."""
        if not self.drops:
            return [f"objective {show_apart(self.objective, self.kept)[0]}", *self.notes]
        own, kept = show_apart(self.objective, self.kept)
        if agrees(self.objective, self.kept):
            kept = own
        return [f"objective {own}, as written {kept}", f"without {self.drops}", *self.notes]


@overload
def export(
    instance: Document[Any] | Path | str,
    what: str,
    path: Path | str | None = None,
    *,
    format: str | None = None,
) -> Path: ...


@overload
def export(
    instance: Document[Any] | Path | str,
    what: Document[Any] | Result | Solution | Path,
    path: Path | str | None = None,
    *,
    format: str,
    **parameters: Any,
) -> ExportedPlan: ...


def export(
    instance: Document[Any] | Path | str,
    what: Document[Any] | Result | Solution | Path | str,
    path: Path | str | None = None,
    *,
    format: str | None = None,  # noqa: A002
    **parameters: Any,
) -> Path | ExportedPlan:
    """Write a formulation of an instance for another solver, or a solution for what executes it.

    Comments at the head of the file of a model say where it had to say something else: names or
    rows that the format does not hold. The model is built in this process, without limits until
    Ctrl-C, which leaves no file; the command of the same name enforces them.

    A solution is written only if it is feasible; what was written is read back, and the evaluator
    gives it the objective that is said.

    Parameters
    ----------
    instance : Document or path
    what : str, or a solution
        The name of a formulation. Or a solution: what `solve` or `read` returned, the `solution` of
        a result, or the `Path` of a file.
    path : path, optional
        Default: the instance's name, with the formulation if there is one, and the format's suffix.
    format : str
        Of a model "mps", "lp", "nl", "cpsat" or "exact", by default what the suffix of the path
        says. Of a solution one of those of its system, `problem(system).exporters`.
    **parameters
        Parameters of the exporter of a solution that differ from their defaults.

    Returns
    -------
    Path or ExportedPlan
        The file of a model; or the files of a solution, and its objective as it was and as written.

    Raises
    ------
    InputError
        If there is no such formulation or format, the format cannot say the solution, or a file
        cannot be written.
    ModelRefused
        If the model cannot be written in that format exactly.

    Examples
    --------
    >>> import gadgetopt, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "knapsack.mps")
    ...     _ = gadgetopt.export("instances/quickstart/knapsack.json", "direct", file)
    ...     "ROWS" in file.read_text()
    True
    """
    document = as_instance(instance)
    exporters = {e.format for e in document.problem.exporters}
    if isinstance(what, str) and format not in exporters:
        if parameters:
            raise InputError(f"{next(iter(parameters))}: a formulation has no parameters")
        return _model(document, what, path, format)
    if format is None:
        known = ", ".join(sorted(exporters)) or "none"
        raise InputError(f"format: is missing, expected one of {document.problem.name}: {known}")
    from gadgetopt.system.methods import written

    assignments = [f"{name}={written(value)}" for name, value in parameters.items()]
    return export_solution(document, as_solution(document, what), format, path, assignments)


def export_solution(
    instance: Document[Any],
    solution: Document[Any],
    form: str,
    path: Path | str | None,
    assignments: list[str],
) -> ExportedPlan:
    """Write a solution in a format of its system; `assignments` are parameters, name=value.

    Raises
    ------
    InputError
        As `export`.
    """
    from gadgetopt.pieces.exporting import find_exporter, save, written
    from gadgetopt.system.methods import parse_assignments

    exporter = find_exporter(instance.problem, form)
    changed = parse_assignments(assignments, exporter.parameters, f"export {form}")
    parameters = {**exporter.parameters, **changed}
    judged = written(instance.problem, exporter, instance.data, solution.data, parameters)
    end = exporter.suffixes[0].replace("*", "").replace("..", ".")
    out = Path(f"{safe_name(instance)}{end}") if path is None else Path(path)
    if out.is_dir():
        raise InputError(f"{out}: is a directory, expected a file")
    paths = save(exporter, judged.exported, out)
    return ExportedPlan(
        tuple(paths), judged.objective, judged.kept, exporter.drops, judged.exported.notes
    )


def safe_name(document: Document[Any]) -> str:
    """Return a document's name as part of a file's; it may contain slashes."""
    return re.sub(r"[^\w.=+-]+", "_", document.name)


def _model(
    document: Document[Any], formulation: str, path: Path | str | None, form: str | None
) -> Path:
    """Write a formulation of an instance to a file."""
    from gadgetopt.reporting.export import FORMATS, write_formulation
    from gadgetopt.system.methods import find_formulation

    chosen = find_formulation(document.problem, formulation)
    if form is None and path is not None:
        suffix = Path(path).suffix.removeprefix(".")
        form = next((f for f, s in FORMATS.items() if s == suffix), suffix)
    if form not in FORMATS:
        raise InputError(f"format: {form!r}, expected one of {', '.join(FORMATS)}")
    default = f"{safe_name(document)}.{formulation}.{FORMATS[form]}"
    out = Path(default) if path is None else Path(path)
    if out.is_dir():
        raise InputError(f"{out}: is a directory, expected a file")
    write_formulation(chosen, document.data, form, out)
    return out
