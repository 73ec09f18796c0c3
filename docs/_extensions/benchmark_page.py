"""The page of benchmarks: what every script measures and how it is run, in its own words."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from docstrings import plain
from sources import ROOT

_HEAD = """Benchmarks
==========

Every figure on this site names the script that printed it. A speed figure is a ratio to another
program in the same run, on the same machine. The scripts are in the folder ``benchmarks`` of the
repository, and each prints its tables when it is called as its text says. What was measured
stands on the systems' pages under "What we measured".

"""


def generated() -> Iterator[tuple[str, str]]:
    """Return the page."""
    parts = [_HEAD]
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        title = f"``{path.name}``"
        doc = re.sub(r"\A(\"\"\")?", "", ast.get_docstring(ast.parse(path.read_text())) or "")
        parts += [title, "-" * len(title), "", "\n".join(plain(doc.splitlines())), ""]
    yield "benchmarks.rst", "\n".join(parts) + "\n"
