"""The commands `solve`, `verify` and `plot`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.options import (
    FIGURE_FILE,
    Gap,
    Json,
    Memory,
    Out,
    Seed,
    Threads,
    TimeLimit,
    check_outputs,
    count,
    limits,
)
from gadgetopt.cli.words import lines_of, quantity, spaced
from gadgetopt.errors import InputError
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.numbers.tolerance import Number
    from gadgetopt.system.declaration import Picture, Problem
    from gadgetopt.system.files import Document
    from gadgetopt.system.methods import MethodCall
    from gadgetopt.system.result import Evaluation, Result


def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Instance file.")],
    method: Annotated[
        str | None, typer.Option(help="Name, or name:parameter=value; see `list`.")
    ] = None,
    time_limit: TimeLimit = None,
    threads: Threads = 1,
    memory_mb: Memory = None,
    gap: Gap = 0.0,
    seed: Seed = 0,
    out: Out = None,
    plot: Annotated[
        Path | None, typer.Option(help=f"Write a picture of the solution: {FIGURE_FILE}.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(help="Write the proof of the dual bound; `verify --bound` checks it again."),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Print the solver's log.")] = False,
    as_json: Json = False,
) -> int:
    """Solve an instance; print the solution's objective and the proved bound."""
    from gadgetopt.reporting.figures import drawn
    from gadgetopt.reporting.images import check_figure_file, write_figure
    from gadgetopt.runs.comparison import Entry
    from gadgetopt.runs.engine.once import Once
    from gadgetopt.system.files import (
        Document,
        find_instances,
        read_instance,
        write,
    )
    from gadgetopt.trust.ratio import ratios

    once = Once(threads, log=log)  # the process starts while the instance is read
    paths = find_instances([file])
    if len(paths) != 1:
        raise InputError(f"{file}: {len(paths)} instances, expected one (see `gadgetopt compare`)")
    instance = read_instance(paths[0])
    system = instance.problem
    call = _call(instance, method)
    picture = None if plot is None else _picture(system, None)
    check_figure_file("--plot", plot)
    check_outputs(out, plot, certificate, read=paths[0])
    made = once.solve(instance, call, limits(time_limit, threads, memory_mb, gap), seed)
    result = made.result
    if as_json:
        import json

        ratio = ratios([result], lambda _: system.sense)[0]
        row = Entry(result, ratio, made.promises).row()
        row["solution"] = (
            None
            if result.solution is None
            else result.solution.model_dump(mode="json", exclude_none=True)
        )
        typer.echo(json.dumps(row, indent=1, allow_nan=False))
    else:
        _report(system.objective, result)
    origin = {"method": result.method, "seed": seed, "instance": result.fingerprint}
    if result.solution is not None and result.status != "error":
        solution = Document(system, "solution", instance.name, result.solution, origin)
        if out is not None:
            write(solution, out)
        if plot is not None and picture is not None:
            write_figure(drawn(system, picture, instance.data, result.solution), plot)
    elif out is not None or plot is not None:
        print("gadgetopt: no solution to write", file=sys.stderr)
    if certificate is not None:
        if result.certificate is None:
            print("gadgetopt: no certificate to write", file=sys.stderr)
        else:
            proof = Document(system, "certificate", instance.name, result.certificate, origin)
            write(proof, certificate)
    proved = result.status in ("infeasible", "unbounded")
    found = result.objective is not None or result.bound is not None
    return 0 if proved or found else 1


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
    time_limit: TimeLimit = 600.0,
    memory_mb: Memory = None,
    as_json: Json = False,
) -> int:
    """Evaluate a solution, and check a certificate of a dual bound, whoever made them.

    The exit code is 1 if the solution is infeasible, or refutes the bound.
    """
    from gadgetopt.runs.engine.once import run_command

    asked = (instance, solution, bound, as_json)
    return run_command("gadgetopt.cli.solving:verify_here", asked, Limits(time_limit, 1, memory_mb))


def verify_here(instance: Path, solution: Path | None, bound: Path | None, as_json: bool) -> int:
    """Do the work of `verify`, in the process that this is called in."""
    from gadgetopt.system.files import read_certificate, read_instance, read_solution
    from gadgetopt.trust.run import (
        refutation,
        relative_gap,
        show_gap,
        verify_bound,
    )
    from gadgetopt.trust.run import verify as check

    if solution is None and bound is None:
        raise InputError("verify: neither a SOLUTION nor --bound CERTIFICATE is given")
    document = read_instance(instance)
    evaluation = None if solution is None else check(document, read_solution(solution))
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
        typer.echo(json.dumps(row, indent=1))
    else:
        lines = [] if evaluation is None else _lines(document.problem.objective, evaluation)
        if proved is not None:
            said = "verified" if contradiction is None else "refuted"
            lines.append(("dual bound", f"{_exactly(proved)} ({said})"))
        if gap is not None:
            lines.append(("relative gap", show_gap(gap, 2)))
        if contradiction is not None:
            lines.append(("error", contradiction))
        _print_pairs(lines)
    infeasible = evaluation is not None and not evaluation.feasible
    return 1 if infeasible or contradiction is not None else 0


def plot(
    instance: Annotated[
        Path, typer.Argument(metavar="INSTANCE", help="Instance file, or with --run a store.")
    ],
    solution: Annotated[Path | None, typer.Argument(metavar="[SOLUTION]")] = None,
    run: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Draw the solution of this run of a store."),
    ] = None,
    picture: Annotated[
        str | None, typer.Option(help="Which picture; default the system's first, see `list`.")
    ] = None,
    out: Annotated[Path, typer.Option(help=f"{FIGURE_FILE}.")] = Path("plot.html"),
    width: Annotated[
        int | None,
        typer.Option(
            help=".png, .svg, .pdf: pixels of 1/96 inch; default 1000. The narrower, the larger "
            "the text on paper.",
            parser=count,
            metavar="PX",
        ),
    ] = None,
    transparent: Annotated[
        bool, typer.Option("--transparent", help="Leave out the white background.")
    ] = False,
) -> None:
    """Draw a picture of an instance, of a solution, or of the solution of a stored run."""
    from gadgetopt.reporting.images import check_figure_file, write_figure

    check_figure_file("--out", out)
    check_outputs(out, read=instance)
    if solution is not None:
        check_outputs(out, read=solution)
    if run is None:
        figure = _figure_of_files(instance, solution, picture)
    elif solution is None:
        figure = _figure_of_run(instance, run, picture)
    else:
        raise InputError(f"--run: {run!r} and the solution {solution}: expected one of the two")
    write_figure(figure, out, width_px=width, transparent=transparent)


def _figure_of_files(instance: Path, solution: Path | None, picture: str | None) -> Any:
    from gadgetopt.reporting.figures import drawn
    from gadgetopt.system.files import read_instance, read_solution
    from gadgetopt.trust.run import same_problem

    document = read_instance(instance)
    chosen = _picture(document.problem, picture)
    if chosen.of == "instance":
        return drawn(document.problem, chosen, document.data)
    if solution is None:
        raise InputError(f"plot: the picture {chosen.name!r} is of a solution, expected SOLUTION")
    decision = read_solution(solution)
    same_problem(document, decision)
    return drawn(document.problem, chosen, document.data, decision.data, str(solution))


def _figure_of_run(store: Path, start: str, picture: str | None) -> Any:
    from gadgetopt.reporting.figures import drawn
    from gadgetopt.reporting.html_report.reading import find_key, solved
    from gadgetopt.runs.store import Store

    with Store(store, create=False) as runs:
        document, solution = solved(runs, find_key(runs, start))
    chosen = _picture(document.problem, picture)
    return drawn(document.problem, chosen, document.data, solution)


def _verified(
    document: Document, evaluation: Evaluation | None, proved: Number | None, gap: float | None
) -> dict[str, Any]:
    from gadgetopt.runs.comparison import plain

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
        row["bound"] = plain(proved)
        row["gap"] = gap
    return row


def _exactly(x: Number) -> str:
    """Return a number as text, followed by its fraction if that is more exact and short."""
    from gadgetopt.trust.run import show

    text = str(x)
    return f"{show(x)} = {text}" if "/" in text and len(text) <= 24 else show(x)


def _call(instance: Document, method: str | None) -> MethodCall:
    from gadgetopt.system.methods import find_method

    return find_method(instance.problem, method or instance.problem.default_method)


def _picture(system: Problem, name: str | None) -> Picture:
    """Return a system's picture by name; by default the first that shows a solution."""
    if name is None:
        chosen = next((p for p in system.pictures if p.of == "solution"), None)
        if chosen is None:
            raise InputError(f"picture: {system.name} has no picture of a solution")
        return chosen
    for picture in system.pictures:
        if picture.name == name:
            return picture
    known = ", ".join(p.name for p in system.pictures) or "none"
    raise InputError(f"picture {name!r}: {system.name} has no such picture (it has: {known})")


def _report(objective: str, result: Result) -> None:
    from gadgetopt.trust.run import show, show_gap

    lines = [
        ("instance", f"{result.instance} ({result.problem})"),
        ("method", f"{result.method} ({result.kind})"),
        (
            "status",
            result.state + (f", stopped by {result.limit_hit}" if result.limit_hit else ""),
        ),
    ]
    if result.reason is not None:
        lines.append(("reason", result.reason))
    if result.objective is not None:
        lines.append((quantity(objective), _exactly(result.objective)))
    if result.claimed_objective is not None:
        lines.append(("claimed by the method", show(result.claimed_objective)))
    if result.bound is not None:
        lines.append(("dual bound", f"{_exactly(result.bound)} ({result.bound_voucher})"))
    if result.gap is not None:
        lines.append(("relative gap", show_gap(result.gap, 2)))
    phases = "".join(f", {name} {s:.3f}" for name, s in result.phases_s.items())
    lines.append(("time", f"{result.time_s:.3f} s{phases}"))
    for key, value in result.notes.items():
        lines += [(key if k == 0 else "", line) for k, line in enumerate(lines_of(value))]
    if result.evaluation is not None:
        lines += [(k, show(v)) for k, v in result.evaluation.components.items()]
    _print_pairs(lines)


def _lines(objective: str, evaluation: Evaluation) -> list[tuple[str, str]]:
    from gadgetopt.trust.run import show

    lines = [("feasible", "yes" if evaluation.feasible else "no")]
    if evaluation.objective is not None:
        lines.append((quantity(objective), _exactly(evaluation.objective)))
    lines += [("violation", str(v)) for v in evaluation.violations]
    return lines + [(k, show(v)) for k, v in evaluation.components.items()]


def _print_pairs(lines: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        typer.echo(f"{spaced(name):<{width}}  {value}")
