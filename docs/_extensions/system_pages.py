"""The list of systems, and the links that every system's page gets below its title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from systems import folders

_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
_HEAD = """# Systems

A page for every paper: the decision, the symbols, the formulations, the algorithm, the theorem, a
worked instance, what we measured, and where every part comes from.

"""


def generated() -> Iterator[tuple[str, str]]:
    """Return the list."""
    rows = ["| page | systems | paper |", "|---|---|---|"]
    for folder in folders():
        names = ", ".join(f"`{p.name}`" for p in folder.problems)
        cited = folder.problems[0].citation
        rows.append(
            f"| [{folder.title}]({folder.name}.md) | {names} | {cited.venue} {cited.year} |"
        )
    entries = "\n".join(f"{f.short} <{f.name}>" for f in folders())
    tree = f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"
    yield "systems/index.md", _HEAD + "\n".join(rows) + tree


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
