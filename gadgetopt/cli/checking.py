"""The commands `check`, for proofs, and `errata`, for statements of the literature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.cli.options import Json
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from gadgetopt.system.declaration import Problem, Statement


def check(
    proof: Annotated[
        Path,
        typer.Argument(
            metavar="PROOF",
            help="VIPR file, tree proof, certificate, or VeriPB log, .gz and .bz2, too; or an "
            "MSCCL program (.xml).",
        ),
    ],
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL",
            help="What it is about: .mps, .lp, .nl, exact text, .opb. A VIPR file has its own.",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check a proof of a bound, or execute an MSCCL program.

    The check is in exact arithmetic. The exit code is 0 if the proof proves what it claims, 1 if it
    does not, and 2 if a file cannot be read.
    """
    if proof.suffix == ".xml":
        return _check_program(proof, as_json)
    from gadgetopt.proofs.checker.verdict import check as checked
    from gadgetopt.proofs.pseudo_boolean import encoding
    from gadgetopt.proofs.pseudo_boolean.veripb import check_veripb, is_opb
    from gadgetopt.proofs.vipr_files.completion import factors

    try:
        if model is not None and is_opb(model):
            verdict = check_veripb(proof, model)
        else:
            verdict = checked(proof, model, {"pseudo_boolean": encoding.proved}, factors)
    except OSError as error:
        raise InputError(
            f"{error.filename}: {error.strerror}" if error.filename else str(error)
        ) from None
    except ValueError as error:
        raise InputError(str(error)) from None
    if not as_json:
        echo("\n".join(verdict.sentences))
    else:
        row = {
            "proof": str(proof),
            "model": None if model is None else str(model),
            "status": verdict.status,
            "sense": verdict.sense,
            "bound": None if verdict.bound is None else str(verdict.bound),
            "sentences": verdict.sentences,
        }
        echo(json.dumps(row, indent=1))
    return 0 if verdict.proves else 1


def _check_program(path: Path, as_json: bool) -> int:
    """Check an MSCCL program; return 0 if it does what its collective says, else 1."""
    from gadgetopt.pieces.formats.msccl.checking import check_program
    from gadgetopt.pieces.formats.msccl.program import read_program

    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not text in UTF-8") from None
    checked = check_program(read_program(text, str(path)))
    if as_json:
        row = {
            "program": str(path),
            "status": "right" if checked.is_right else "wrong",
            "faults": checked.faults,
            "thread_blocks": checked.thread_blocks,
            "steps": checked.steps,
            "sentences": checked.sentences,
        }
        echo(json.dumps(row, indent=1))
    else:
        echo("\n".join(checked.sentences))
    return 0 if checked.is_right else 1


def errata(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help=(
                "Statements as SYSTEM/NAME, or systems, which stand for all their "
                "statements; default all."
            ),
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check again which statements of the literature hold.

    The exit code is 1 if a check does not find what its entry says.
    """
    from gadgetopt.cli.comparing import print_rows
    from gadgetopt.trust.statements import chosen

    rows = [row_of(system, statement) for system, statement in chosen(names or ())]
    if as_json:
        echo(json.dumps(rows, indent=1))
    elif len(rows) == 1:
        _print_one(rows[0])
    else:
        columns = ("name", "source", "verdict", "shown")
        print_rows([{column: row[column] for column in columns} for row in rows])
        refuted = sum(row["verdict"] == "refuted" for row in rows)
        echo(
            f"{len(rows)} statements checked, {refuted} refuted; "
            "`gadgetopt errata NAME` shows one in full"
        )
    return int(any(row["verdict"] != row["expected"] for row in rows))


def row_of(system: Problem, statement: Statement) -> dict[str, Any]:
    """Check a statement; return what is said of it."""
    from gadgetopt.trust.statements import check, counterexample_path

    found, path = check(system, statement), counterexample_path(system, statement)
    path = f"instances/{path}" if path else ""
    name = f"{system.name}/{statement.name}"
    commands = [f"gadgetopt errata {name}"]
    if statement.command:
        commands.append(f"gadgetopt {statement.command.replace('{}', path)}")
    return {
        "name": name,
        "source": statement.source,
        "statement": statement.statement,
        "verdict": found.verdict,
        "expected": statement.verdict,
        "grade": statement.grade,
        "shown": found.shown,
        "repair": statement.repair,
        "proof": statement.proof,
        "counterexample": path,
        "commands": commands,
        "reconstructed": statement.reconstructed,
    }


def _print_one(row: dict[str, Any]) -> None:
    """Print everything about one statement."""
    of = "our reconstruction of the paper" if row["reconstructed"] else "the paper's text"
    verdict = row["verdict"] if row["grade"] in ("holds", "refuted") else _graded(row)
    echo(f"{row['name']}: {verdict}")
    echo(f"  {row['source']}, {of}")
    echo(f"  says: {row['statement']}")
    echo(f"  shown: {row['shown']}")
    echo(f"  counterexample: {row['counterexample'] or 'none, arithmetic decides'}")
    for label in ("repair", "proof"):
        if row[label]:
            echo(f"  {label}: {row[label]}")
    for command in row["commands"][1:]:
        echo(f"  see also: {command}")
    if row["verdict"] != row["expected"]:
        echo(f"  expected: {row['expected']}")


def _graded(row: dict[str, Any]) -> str:
    return f"{row['verdict']} ({row['grade']})"
