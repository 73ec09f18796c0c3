"""The commands `export` and `decode`."""

from __future__ import annotations

import json
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from gadgetopt.cli.completion import export_formats, formulation_names
from gadgetopt.cli.options import (
    Json,
    Memory,
    ModelTime,
    Out,
    Plugins,
    Settings,
    TimeLimit,
    check_outputs,
)
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.system.result import Limits

#: Notes of a model that are printed. By definition.
MOST_NOTES = 5


def export(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Instance file.")] = None,
    solution: Annotated[
        Path | None,
        typer.Argument(metavar="[SOLUTION]", help="Solution file, for what executes it."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="mps, lp, nl, cpsat or exact (for checkers of proofs); vipr for a proof; of a "
            "solution one that `list SYSTEM` has among its exporters.",
            autocompletion=export_formats,
        ),
    ] = None,
    formulation: Annotated[
        str | None,
        typer.Option(
            help="Formulation of the system, see `list`.", autocompletion=formulation_names
        ),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", help="Certificate with a tree proof: written as VIPR, its model as MPS."
        ),
    ] = None,
    settings: Settings = None,
    out: Annotated[Path | None, typer.Option("--out", help="Default: the instance's name.")] = None,
    checker: Annotated[
        Path | None,
        typer.Option(
            "--checker",
            help="Write the checker of proofs to this file; it needs nothing but Python.",
        ),
    ] = None,
    time_limit: ModelTime = 600.0,
    memory_mb: Memory = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Write a model, a plan for what executes it, or a proof.

    Also the checker of proofs, in one file. A process of its own builds a model; it ends within its
    limits of time and memory. A solution is read back from what was written, and evaluated again.
    """
    from gadgetopt.reporting.export import FORMATS, model_beside
    from gadgetopt.system.files import read_instance

    if checker is not None:
        if any(given is not None for given in (file, solution, form, formulation, proof, out)):
            raise InputError(
                "--checker: cannot be combined with a model; it writes the checker only"
            )
        return _write_checker(checker)
    if file is None or form is None:
        raise InputError(f"{'FILE' if file is None else '--format'}: is missing")
    if solution is not None:
        if formulation is not None or proof is not None:
            other = "--formulation" if proof is None else "--proof"
            raise InputError(
                f"{other}: cannot be combined with a solution, expected one of the two"
            )
        return _write_solution(file, solution, form, settings or [], out, as_json)
    for option, given in (("--set", settings), ("--json", as_json)):
        if given:
            raise InputError(f"{option}: is for the export of a solution, expected SOLUTION")
    limits = Limits(time_limit, 1, memory_mb)
    if form == "vipr" or proof is not None:
        if proof is None or form != "vipr" or formulation is not None:
            raise InputError(
                "--format: vipr needs --proof, and takes no --formulation: the proof names it"
            )
        path = out or Path(f"{_safe(read_instance(file).name)}.vipr")
        if path.exists() and not path.is_file():
            raise InputError(
                f"--out: {path} is not a regular file, expected one: the model is "
                "written beside the proof"
            )
        beside = model_beside(path, file)
        check_outputs(path, beside, read=(file, proof))
        return _written(
            path, "write_proof_here", (file, proof, beside.name), limits, (path, beside)
        )
    if form not in FORMATS:
        declared = read_instance(file).problem
        own = [exporter.format for exporter in declared.exporters]
        if form in own:
            raise InputError(f"SOLUTION: is missing, expected the file of one: {form} writes it")
        of_solutions = f"; of a solution {', '.join(own)}" if own else ""
        raise InputError(f"--format: {form!r}, expected one of {', '.join(FORMATS)}{of_solutions}")
    if formulation is None:
        raise InputError("--formulation: is missing, expected one of the system's, see `list`")
    path = out or Path(f"{_safe(read_instance(file).name)}.{formulation}.{FORMATS[form]}")
    check_outputs(path, read=file)
    return _written(path, "write_model_here", (file, formulation, form), limits, (path,))


def _write_solution(
    file: Path, solution: Path, form: str, settings: list[str], out: Path | None, as_json: bool
) -> int:
    """Write a solution in a format of its system, and say what it is worth as written."""
    from gadgetopt.api.exporting import export_solution
    from gadgetopt.runs.comparison import plain
    from gadgetopt.system.files import read_instance, read_solution

    check_outputs(out, read=(file, solution))
    instance = read_instance(file)
    done = export_solution(instance, read_solution(solution, instance), form, out, settings)
    if as_json:
        row = {
            "files": [str(path) for path in done.paths],
            "objective": plain(done.objective),
            "objective_as_written": plain(done.kept),
            "without": done.drops,
            "notes": list(done.notes),
        }
        echo(json.dumps(row, indent=1))
        return 0
    for line in [*done.lines(), *map(str, done.paths)]:
        echo(line)
    return 0


def _write_checker(path: Path) -> int:
    from gadgetopt import __version__
    from gadgetopt.proofs.checker.writing import checker_in_one_file
    from gadgetopt.system.output import whole_file

    with whole_file(path) as part:
        part.write_text(checker_in_one_file(__version__), encoding="utf-8")
    echo(str(path))
    return 0


def _written(
    path: Path, function: str, asked: tuple[Any, ...], limits: Limits, files: tuple[Path, ...]
) -> int:
    """Have a process write to a path, and say which files it wrote; return the exit code.

    The process writes beside, and its files appear when it has ended: it may be stopped meanwhile.
    What it prints is no file's name and goes to standard error.
    """
    from gadgetopt.runs.engine.once import run_command
    from gadgetopt.system.output import whole_file

    here = f"gadgetopt.cli.exporting:{function}"
    with whole_file(path, regular=True) as part:
        try:
            with redirect_stdout(sys.stderr):
                code = run_command(here, (*asked, part), limits, "writing the model", "not written")
        except InputError as error:
            raise InputError(str(error).replace(str(part), str(path))) from None
        if code != 0:
            raise typer.Exit(code)
    for file in files:
        echo(str(file))
    return 0


def write_model_here(file: Path, formulation: str, form: str, path: Path) -> int:
    """Write the model of a formulation, in the process that this is called in."""
    from gadgetopt.reporting.export import write_formulation
    from gadgetopt.system.files import read_instance
    from gadgetopt.system.methods import find_formulation

    instance = read_instance(file)
    chosen = find_formulation(instance.problem, formulation)
    notes = write_formulation(chosen, instance.data, form, path)
    for note in notes[:MOST_NOTES]:
        print(f"gadgetopt: {note}")
    if len(notes) > MOST_NOTES:
        print(f"gadgetopt: {len(notes) - MOST_NOTES} more such lines, all at the file's head")
    return 0


def write_proof_here(file: Path, proof: Path, beside: str, path: Path) -> int:
    """Write a proof as VIPR and its model to the file `beside` it, in the process at work."""
    from gadgetopt.reporting.export import write_proof
    from gadgetopt.system.files import read_certificate, read_instance

    instance, certificate = read_instance(file), read_certificate(proof)
    write_proof(instance, certificate, path, path.with_name(beside))
    return 0


def _safe(name: str) -> str:
    """Return a name as part of a file's; it may contain slashes."""
    return re.sub(r"[^\w.=+-]+", "_", name)


def decode(
    instance: Annotated[Path, typer.Argument(metavar="INSTANCE")],
    file: Annotated[
        Path, typer.Argument(metavar="FILE.sol", help="Solution as HiGHS, SCIP or Gurobi write it.")
    ],
    formulation: Annotated[
        str,
        typer.Option(
            help="The formulation that was exported.",
            autocompletion=formulation_names,
        ),
    ],
    bound: Annotated[
        Path | None,
        typer.Option(
            metavar="CERTIFICATE", help="Certificate of a dual bound, for the solution's gap."
        ),
    ] = None,
    out: Out = None,
    time_limit: TimeLimit = 600.0,
    memory_mb: Memory = None,
    as_json: Json = False,
) -> int:
    """Check the solution of an exported model by another solver.

    The values are rounded, checked against the model, decoded into a decision and evaluated. The
    exit code is 1 if the decision is infeasible, or refutes the bound.
    """
    from gadgetopt.runs.engine.once import run_command

    check_outputs(out, read=(instance, file))
    asked = (instance, file, formulation, bound, out, as_json)
    limits = Limits(time_limit, 1, memory_mb)
    here = "gadgetopt.cli.exporting:decode_here"
    return run_command(here, asked, limits, "decoding", "not decoded")


def decode_here(
    instance: Path, file: Path, name: str, bound: Path | None, out: Path | None, as_json: bool
) -> int:
    """Do the work of `decode`, in the process that this is called in."""
    from gadgetopt.cli import solving
    from gadgetopt.numbers.text import show
    from gadgetopt.proofs.reading.writing.names import names_in_files
    from gadgetopt.reporting.views.values import aligned, evaluation_lines, proof_lines
    from gadgetopt.reporting.words import quantity
    from gadgetopt.runs.comparison import plain
    from gadgetopt.solvers.formulations.solution_files import decoded
    from gadgetopt.system.files import Document, read_certificate, read_instance, write
    from gadgetopt.system.methods import find_formulation
    from gadgetopt.trust.judgement import relative_gap
    from gadgetopt.trust.verification import refutation, verify_bound

    document = read_instance(instance)
    formulation = find_formulation(document.problem, name)
    solution, claimed = decoded(document.data, formulation, file, names_in_files)
    evaluation = document.problem.evaluate(document.data, solution)
    proved = None if bound is None else verify_bound(document, read_certificate(bound))
    contradiction = None if proved is None else refutation(document, evaluation, proved)
    objective = evaluation.objective if evaluation.feasible else None
    gap = None if contradiction is not None else relative_gap(objective, proved)
    if out is not None:
        origin = {"formulation": name, "instance": document.fingerprint, "file": file.name}
        write(Document(document.problem, "solution", document.name, solution, origin), out)
    if as_json:
        row: dict[str, Any] = solving._verified(document, evaluation, proved, gap)
        row |= {"formulation": name, "model_objective": plain(claimed)}
        if proved is not None:
            row["bound_refuted"] = contradiction is not None
        row["solution"] = solution.model_dump(mode="json", exclude_none=True)
        echo(json.dumps(row, indent=1))
    else:
        lines = evaluation_lines(quantity(document.problem.objective), evaluation)
        lines.insert(1, (f"objective of {name}", show(claimed)))
        lines += proof_lines(proved, gap, contradiction, document.sense)
        echo(aligned(lines))
    return 1 if not evaluation.feasible or contradiction is not None else 0
