"""The command line's own help, command by command."""

from __future__ import annotations

import os
from collections.abc import Iterator

from typer.main import get_command
from typer.testing import CliRunner

_HEAD = """# Command line

`gadgetopt --help` and `gadgetopt COMMAND --help` print what stands here.

"""


def generated() -> Iterator[tuple[str, str]]:
    """Return the page."""
    os.environ["COLUMNS"] = os.environ["TERMINAL_WIDTH"] = "88"
    from gadgetopt.cli.commands import app

    def text(*words: str) -> str:
        return CliRunner().invoke(app, [*words, "--help"], prog_name="gadgetopt").output.strip("\n")

    parts = [_HEAD, f"```\n{text()}\n```\n"]
    for first, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        parts.append(f"## {first}\n\n```\n{text(first)}\n```\n")
        for name in getattr(command, "commands", ()):
            words = (first, str(name))
            parts.append(f"## {' '.join(words)}\n\n```\n{text(*words)}\n```\n")
    yield "command_line.md", "\n".join(parts)
