"""The command `errata`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from gadgetopt.cli.options import Json


def errata(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Statements as SYSTEM/NAME, or systems for all of theirs; default all.",
        ),
    ] = None,
    as_json: Json = False,
) -> int:
    """Check again which statements of the literature hold.

    The exit code is 1 if a check does not find what its entry says.
    """
    from gadgetopt.cli.comparing import print_rows
    from gadgetopt.trust import statements

    rows = []
    for system, statement in statements.chosen(names or ()):
        found = statements.check(statement)
        rows.append(
            {
                "name": f"{system.name}/{statement.name}",
                "source": statement.source,
                "statement": statement.statement,
                "verdict": found.verdict,
                "expected": statement.verdict,
                "grade": statement.grade,
                "shown": found.shown,
                "repair": statement.repair,
                "witness": statement.witness,
                "reconstructed": statement.reconstructed,
            }
        )
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
    elif len(rows) == 1:
        _print_one(rows[0])
    else:
        columns = ("name", "source", "verdict", "shown")
        print_rows([{column: row[column] for column in columns} for row in rows])
        refuted = sum(row["verdict"] == "refuted" for row in rows)
        typer.echo(f"{len(rows)} statements checked, {refuted} refuted; one by its name tells all")
    return int(any(row["verdict"] != row["expected"] for row in rows))


def _print_one(row: dict[str, Any]) -> None:
    """Print everything about one statement."""
    of = "our reconstruction of the paper" if row["reconstructed"] else "the paper's text"
    typer.echo(f"{row['name']}: {row['verdict']}")
    typer.echo(f"  {row['source']}, {of}")
    typer.echo(f"  says: {row['statement']}")
    typer.echo(f"  shown: {row['shown']}")
    for label in ("witness", "repair"):
        if row[label]:
            typer.echo(f"  {label}: {row[label]}")
    if row["verdict"] != row["expected"]:
        typer.echo(f"  expected: {row['expected']}")
