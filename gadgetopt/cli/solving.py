"""The commands `solve` and `verify`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.completion import exporter_names, method_names
from gadgetopt.cli.options import (
    FIGURE_FILE,
    Certify,
    Gap,
    Json,
    Memory,
    NoImprovement,
    Out,
    Plugins,
    Seed,
    Target,
    Threads,
    TimeLimit,
    Within,
    check_outputs,
    limits,
)
from gadgetopt.cli.plotting import find_picture
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.reporting.words import quantity
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.numbers.tolerance import Number
    from gadgetopt.system.files import Document
    from gadgetopt.system.methods import MethodCall
    from gadgetopt.system.result import Evaluation, Result


def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Instance file.")],
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            "-m",
            help="Name, or name:parameter=value; see `list`.",
            autocompletion=method_names,
        ),
    ] = None,
    time_limit: TimeLimit = None,
    threads: Threads = 1,
    memory_mb: Memory = None,
    gap: Gap = 0.0,
    stop_after_no_improvement: NoImprovement = None,
    target: Target = None,
    seed: Seed = 0,
    out: Out = None,
    plot: Annotated[
        Path | None, typer.Option(help=f"Write a picture of the solution: {FIGURE_FILE}.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the proof of the dual bound; `verify --bound` checks it again."),
    ] = None,
    certify: Certify = None,
    within: Within = None,
    log: Annotated[
        bool, typer.Option("--log", help="Print incumbent, bound, gap and time while it solves.")
    ] = False,
    solver_log: Annotated[
        bool, typer.Option("--solver-log", help="Print the solver's own log.")
    ] = False,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Solve an instance by one method."""
    from gadgetopt.reporting.images import check_figure_file, write_figure
    from gadgetopt.runs.engine.once import Once
    from gadgetopt.system.files import (
        Document,
        find_instances,
        read_instance,
        write,
    )
    from gadgetopt.trust.infeasibility import is_verified
    from gadgetopt.trust.proving import failed, why_unproved

    once = Once(
        threads, log=log, solver_log=solver_log
    )  # the process starts while the instance is read
    paths = find_instances([file])
    if len(paths) != 1:
        raise InputError(f"{file}: {len(paths)} instances, expected one (see `gadgetopt compare`)")
    instance = read_instance(paths[0]).within(within or "0")
    system = instance.problem
    call = _call(instance, method)
    picture = None if plot is None else find_picture(system, None)
    check_figure_file("--plot", plot)
    check_outputs(out, plot, certificate, read=paths[0])
    within_limits = limits(time_limit, threads, memory_mb, gap, stop_after_no_improvement, target)
    made = once.solve(instance, call, within_limits, seed, certify or "")
    result = made.result
    if as_json:
        import json

        from gadgetopt.runs.comparison import Entry
        from gadgetopt.system.registry import sense_of
        from gadgetopt.trust.ratio import ratios

        ratio = ratios([result], sense_of)[0]
        row = Entry(result, ratio, made.promises).row()
        row["solution"] = (
            None
            if result.solution is None
            else result.solution.model_dump(mode="json", exclude_none=True)
        )
        echo(json.dumps(row, indent=1, allow_nan=False))
    else:
        echo(str(result))
    origin = {"method": result.method, "seed": seed, "instance": result.fingerprint}
    if result.solution is not None and result.status != "error":
        solution = Document(system, "solution", instance.name, result.solution, origin)
        if out is not None:
            write(solution, out)
        if plot is not None and picture is not None:
            from gadgetopt.reporting.figures import drawn

            write_figure(drawn(system, picture, instance.data, result.solution), plot)
    elif out is not None or plot is not None:
        print("gadgetopt: no solution to write", file=sys.stderr)
    unwritten = certificate is not None and result.certificate is None
    if not is_verified(result) and not unwritten and (certify or certificate or failed(result)):
        print(f"gadgetopt: not proved: {why_unproved(result)}", file=sys.stderr)
    if certificate is not None and result.certificate is not None:
        proof = Document(system, "certificate", instance.name, result.certificate, origin)
        write(proof, certificate)
    if unwritten:
        said = _without(result, certify)
        print(f"gadgetopt: no certificate to write: {said}", file=sys.stderr)
    proved = result.status in ("infeasible", "unbounded")
    found = result.objective is not None or result.bound is not None
    return 0 if (proved or found) and not unwritten else 1


def _without(result: Result, certify: str | None) -> str:
    """Return why a result has no certificate, and what may make one."""
    from gadgetopt.trust.infeasibility import status_voucher
    from gadgetopt.trust.proving import why_unproved

    if result.bound_voucher == "verified":
        return f"{result.method} proves its bound without one"
    searched = certify is not None or (result.bound is None and status_voucher(result) is None)
    return why_unproved(result) + ("" if searched else "; --certify 10x searches for a proof")


def verify(
    instance: Annotated[Path, typer.Argument(metavar="INSTANCE")],
    solution: Annotated[Path | None, typer.Argument(metavar="[SOLUTION]")] = None,
    bound: Annotated[
        Path | None,
        typer.Option(
            metavar="CERTIFICATE",
            help="Certificate whose dual bound is checked again, without a solver.",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="SOLUTION is a file of this format, one of the system's exporters.",
            autocompletion=exporter_names,
        ),
    ] = None,
    within: Within = None,
    time_limit: TimeLimit = 600.0,
    memory_mb: Memory = None,
    plugin: Plugins = None,
    as_json: Json = False,
) -> int:
    """Check a solution, or the certificate of a dual bound.

    The exit code is 1 if the solution is infeasible, or refutes the bound.
    """
    from gadgetopt.runs.engine.once import run_command

    asked = (instance, solution, bound, as_json, within or "0", form)
    return run_command("gadgetopt.cli.solving:verify_here", asked, Limits(time_limit, 1, memory_mb))


def verify_here(
    instance: Path,
    solution: Path | None,
    bound: Path | None,
    as_json: bool,
    within: str = "0",
    form: str | None = None,
) -> int:
    """Do the work of `verify`, in the process that this is called in."""
    from gadgetopt.pieces.exporting import read_exported
    from gadgetopt.reporting.views.values import aligned, evaluation_lines, proof_lines
    from gadgetopt.system.files import read_certificate, read_instance, read_solution
    from gadgetopt.trust.judgement import relative_gap
    from gadgetopt.trust.verification import refutation, verify_bound
    from gadgetopt.trust.verification import verify as check

    if solution is None and bound is None:
        raise InputError("verify: neither a SOLUTION nor --bound CERTIFICATE is given")
    document = read_instance(instance).within(within)
    evaluation = None
    if solution is not None:
        given = (
            read_exported(document, form, solution) if form else read_solution(solution, document)
        )
        evaluation = check(document, given)
    proved = None if bound is None else verify_bound(document, read_certificate(bound))
    objective = None if evaluation is None or not evaluation.feasible else evaluation.objective
    contradiction = (
        None if evaluation is None or proved is None else refutation(document, evaluation, proved)
    )
    gap = None if contradiction is not None else relative_gap(objective, proved)
    if as_json:
        import json

        row = _verified(document, evaluation, proved, gap)
        if evaluation is not None and proved is not None:
            row["bound_refuted"] = contradiction is not None
        echo(json.dumps(row, indent=1))
    else:
        lines = []
        if evaluation is not None:
            lines += evaluation_lines(quantity(document.problem.objective), evaluation)
        lines += proof_lines(proved, gap, contradiction, document.sense)
        echo(aligned(lines))
    infeasible = evaluation is not None and not evaluation.feasible
    return 1 if infeasible or contradiction is not None else 0


def _verified(
    document: Document, evaluation: Evaluation | None, proved: Number | None, gap: float | None
) -> dict[str, Any]:
    from gadgetopt.runs.comparison import plain
    from gadgetopt.trust.infeasibility import status_of

    row: dict[str, Any] = {"instance": document.name, "problem": document.problem.name}
    if evaluation is not None:
        row["feasible"] = evaluation.feasible
        row["objective"] = plain(evaluation.objective)
        row["violations"] = [
            {"constraint": v.constraint, "where": v.where, "amount": plain(v.amount)}
            for v in evaluation.violations
        ]
        row["components"] = {k: plain(v) for k, v in evaluation.components.items()}
    if proved is not None:
        settled = status_of(proved, document.sense)
        row |= {"bound": plain(proved)} if settled is None else {"status": str(settled)}
        row["gap"] = gap
    return row


def _call(instance: Document, method: str | None) -> MethodCall:
    from gadgetopt.system.methods import find_method

    return find_method(instance.problem, method or instance.problem.default_method)
