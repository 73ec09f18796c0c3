"""The page of benchmarks: what every script and study measures and how it is run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from docstrings import plain
from sources import ROOT

_HEAD = """Benchmarks
==========

Every figure on this site names the study or the script that printed it. A speed figure is a ratio
to another program in the same run, on the same machine. Both are in the folder ``benchmarks`` of
the repository. A :doc:`study <studies>` runs by ``gadgetopt compare`` and ends with its table; a
script measures what a study cannot, and prints its tables when it is called as its text says. What
was measured stands on the systems' "Measurements" pages.

"""


def generated() -> Iterator[tuple[str, str]]:
    """Return the page."""
    parts = [_HEAD]
    parts += ["Studies", "-------", ""]
    for path in sorted((ROOT / "benchmarks").glob("*.toml")):
        if title := _title(path.read_text(encoding="utf-8")):
            parts += [f"``{path.name}``", *(f"    {line}" for line in plain([title])), ""]
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        title = f"``{path.name}``"
        doc = re.sub(r"\A(\"\"\")?", "", ast.get_docstring(ast.parse(path.read_text())) or "")
        parts += [title, "-" * len(title), "", "\n".join(plain(doc.splitlines())), ""]
    yield "benchmarks.rst", "\n".join(parts) + "\n"


def _title(study: str) -> str | None:
    """Return the first line of a study's comment; None of a file that is no study."""
    return study.splitlines()[0].removeprefix("# ") if "methods = [" in study else None
