"""`solve` and `verify`: one instance, one method, one evaluator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gadgetopt.cli.options import Gap, Json, Memory, Out, Seed, Threads, TimeLimit, limits
from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from gadgetopt.files import Document
    from gadgetopt.methods import MethodCall
    from gadgetopt.result import Evaluation, Result


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
        Path | None, typer.Option(help="Write a picture of the solution, FILE.html or FILE.json.")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Print the solver's log.")] = False,
    as_json: Json = False,
) -> int:
    """Solve an instance; print what was found and what is proved."""
    from gadgetopt.comparison import Entry
    from gadgetopt.files import Document, find_instances, read_instance, write
    from gadgetopt.ratio import ratios
    from gadgetopt.run import solve as run
    from gadgetopt.theorems import promises

    paths = find_instances([file])
    if len(paths) != 1:
        raise InputError(f"{file}: {len(paths)} instances, expected one (see `gadgetopt compare`)")
    instance = read_instance(paths[0])
    system = instance.problem
    call = _call(instance, method)
    if plot is not None:
        _check_picture(instance, plot)
    for path in (out, plot):
        if path is not None and path.is_dir():
            raise InputError(f"{path}: is a directory, expected a file")
    if log:
        _print_solver_log()
    result = run(instance, call, limits(time_limit, threads, memory_mb, gap), seed)
    if as_json:
        import json

        ratio = ratios([result], lambda _: system.sense)[0]
        row = Entry(result, ratio, promises(system, instance.data, call, result)).row()
        row["solution"] = (
            None
            if result.solution is None
            else result.solution.model_dump(mode="json", exclude_none=True)
        )
        typer.echo(json.dumps(row, indent=1, allow_nan=False))
    else:
        _report(system.objective, result)
    if result.solution is not None and result.status != "error":
        origin = {"method": result.method, "seed": seed, "instance": result.fingerprint}
        solution = Document(system, "solution", instance.name, result.solution, origin)
        if out is not None:
            write(solution, out)
        if plot is not None:
            _draw(instance, result, plot)
    elif out is not None or plot is not None:
        print("gadgetopt: no solution to write", file=sys.stderr)
    proved = result.status in ("infeasible", "unbounded")
    found = result.objective is not None or result.bound is not None
    return 0 if proved or found else 1


def verify(
    instance: Annotated[Path, typer.Argument(metavar="INSTANCE")],
    solution: Annotated[Path, typer.Argument(metavar="SOLUTION")],
    as_json: Json = False,
) -> int:
    """Evaluate anyone's solution: its objective and everything wrong with it."""
    from gadgetopt.comparison import plain
    from gadgetopt.files import read_instance, read_solution
    from gadgetopt.run import verify as check

    problem_instance, decision = read_instance(instance), read_solution(solution)
    evaluation = check(problem_instance, decision)
    if as_json:
        import json

        typer.echo(
            json.dumps(
                {
                    "instance": problem_instance.name,
                    "problem": problem_instance.problem.name,
                    "feasible": evaluation.feasible,
                    "objective": plain(evaluation.objective),
                    "violations": [
                        {"constraint": v.constraint, "where": v.where, "amount": plain(v.amount)}
                        for v in evaluation.violations
                    ],
                    "components": {k: plain(v) for k, v in evaluation.components.items()},
                },
                indent=1,
            )
        )
    else:
        _report_evaluation(problem_instance.problem.objective, evaluation)
    return 0 if evaluation.feasible else 1


def _call(instance: Document, method: str | None) -> MethodCall:
    from gadgetopt.methods import find_method

    return find_method(instance.problem, method or instance.problem.default_method)


def _print_solver_log() -> None:
    import logging

    from gadgetopt.result import solver_log

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(message)s"))
    solver_log.addHandler(handler)
    solver_log.setLevel(logging.INFO)


def _check_picture(instance: Document, path: Path) -> None:
    if instance.problem.plot is None:
        raise InputError(f"--plot: {instance.problem.name} has no picture")
    if path.suffix not in (".html", ".json"):
        raise InputError(f"--plot: {path}: {path.suffix or 'no suffix'}, expected .html or .json")


def _draw(instance: Document, result: Result, path: Path) -> None:
    if instance.problem.plot is None:
        return
    figure = instance.problem.plot(instance.data, result.solution)
    try:
        if path.suffix == ".html":
            figure.write_html(path, include_plotlyjs=True)
        else:
            figure.write_json(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def _report(objective: str, result: Result) -> None:
    from gadgetopt.run import show

    lines = [
        ("instance", f"{result.instance} ({result.problem})"),
        ("method", f"{result.method} ({result.kind})"),
        (
            "status",
            str(result.status) + (f", stopped by {result.limit_hit}" if result.limit_hit else ""),
        ),
    ]
    if result.reason is not None:
        lines.append(("reason", result.reason))
    if result.objective is not None:
        lines.append((objective, show(result.objective)))
    if result.claimed_objective is not None:
        lines.append(("claimed by the method", show(result.claimed_objective)))
    if result.bound is not None:
        lines.append(("dual bound", f"{show(result.bound)} ({result.bound_voucher})"))
    if result.gap is not None:
        lines.append(("relative gap", f"{100 * result.gap:.2f} %"))
    phases = "".join(f", {name} {s:.3f}" for name, s in result.phases_s.items())
    lines.append(("time", f"{result.time_s:.3f} s{phases}"))
    lines += [(key, str(value)) for key, value in result.notes.items()]
    if result.evaluation is not None:
        lines += [(k, show(v)) for k, v in result.evaluation.components.items()]
    _print_pairs(lines)


def _report_evaluation(objective: str, evaluation: Evaluation) -> None:
    from gadgetopt.run import show

    lines = [("feasible", "yes" if evaluation.feasible else "no")]
    if evaluation.objective is not None:
        lines.append((objective, show(evaluation.objective)))
    lines += [("violation", str(v)) for v in evaluation.violations]
    lines += [(k, show(v)) for k, v in evaluation.components.items()]
    _print_pairs(lines)


def _print_pairs(lines: list[tuple[str, str]]) -> None:
    width = max(len(name) for name, _ in lines)
    for name, value in lines:
        typer.echo(f"{name.replace('_', ' '):<{width}}  {value}")
