"""The list of systems, and the links that every system's page gets below its title."""

from __future__ import annotations

import re
from pathlib import Path

from systems import folders

from gadgetopt.system.features import described

_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)


def list_of_systems(text: str) -> str:
    """Return the list of systems with the order in which the site's menu has them."""
    entries = "\n".join(f"{f.short} <{f.name}>" for f in folders())
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def list_of_features(text: str) -> str:
    """Return the page on features with what each one of the library means."""
    parts = [f"{text}\n## What they mean\n"]
    for folder in folders():
        for problem in folder.problems:
            rows = [f"- `{name}`: {meaning}" for name, meaning in described(problem).items()]
            if rows:
                parts += [f"### `{problem.name}`\n", *rows, ""]
    return "\n".join(parts)


def list_of_formats(text: str) -> str:
    """Return the page on exporters with the formats of every system, from its declarations."""
    rows = [
        f"| `{problem.name}` | `{exporter.format}` | {exporter.summary} | {exporter.drops or '-'} |"
        for folder in folders()
        for problem in folder.problems
        for exporter in problem.exporters
    ]
    head = ["| system | format | what it is | what it drops |", "|---|---|---|---|"]
    return "\n".join([text, "## Formats by system\n", *head, *rows, ""])


def with_links(text: str, path: Path, name: str) -> str:
    """Return a system's page with links to its formulations and its API below the title."""
    title, _, rest = text.partition("\n")
    if len(re.findall(r"^# ", _FENCED.sub("", text), re.MULTILINE)) > 1:
        # The page of a family has a chapter for each system; here they are below its title.
        rest = "".join(
            part if k % 2 else re.sub(r"^#", "##", part, flags=re.MULTILINE)
            for k, part in enumerate(_FENCED.split(rest))
        )
    folder = path.parent.name
    links = f"[Formulations beside their code](../formulations/index.md#{anchor(folder)}) · "
    links += f"[API](../api/index.md#{anchor('models-' + folder)})"
    return f"{title}\n\n{{.site-links}}\n{links}\n{rest}"


def anchor(name: str) -> str:
    """Return a name as a heading's anchor has it."""
    return name.replace("_", "-")
