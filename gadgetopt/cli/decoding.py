"""The command `decode`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from gadgetopt.cli.completion import formulation_names
from gadgetopt.cli.options import Json, Memory, Out, TimeLimit, check_outputs
from gadgetopt.cli.printing import echo
from gadgetopt.system.result import Limits


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
    here = "gadgetopt.cli.decoding:decode_here"
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
