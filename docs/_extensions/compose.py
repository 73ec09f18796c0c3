"""Composes the sources of the site from the repository and the installed library.

pages        copied, with their links turned (`sources`)
systems      the list, and pages that lead to their formulations and their API
formulations a page for every module of formulations, its docstring beside its code
pictures     all pictures of the library
api          a page for every package, from the docstrings
benchmarks   the scripts' docstrings
commands     the command line's own help

The page that checks proofs in a browser is written beside Sphinx's (`browser_checker`).
"""

from __future__ import annotations

from pathlib import Path

import api_pages
import benchmark_page
import browser_checker
import command_page
import formulation_pages
import notebook_files
import picture_page
import system_pages
from sources import DOCS, ROOT, Sources, copied, pages

GENERATED = (formulation_pages, picture_page, api_pages, benchmark_page, command_page)

#: The part of the first page's table of contents that there is if there are notebooks.
NOTEBOOKS = """
```{toctree}
:hidden:
:caption: Notebooks
:glob:

notebooks/*
```
"""


def compose(folder: Path) -> None:
    """Write the sources; what has not changed keeps its time."""
    sources = Sources(folder)
    known = pages()
    for path, name in known.items():
        if path == ROOT / "README.md":
            continue
        text = copied(path, name, known, sources)
        if name == "index" and any(page.startswith("notebooks/") for page in known.values()):
            before = "```{toctree}\n:hidden:\n:caption: The library"
            text = text.replace(before, NOTEBOOKS + before)
        if name == "systems/index":
            text = system_pages.list_of_systems(text)
        elif name.startswith("systems/"):
            text = system_pages.with_links(text, path, name)
        elif name == "check":
            text = browser_checker.link_to(text)
        elif name == "features":
            text = system_pages.list_of_features(text)
        elif name == "exporters":
            text = system_pages.list_of_formats(text)
        elif name.startswith("notebooks/"):
            text = notebook_files.link_to(text, name)
        sources.write(f"{name}.md", text)
    for path in sorted((DOCS / "notebooks").glob("*")):
        if path.is_file() and path.suffix != ".md":
            sources.copy(path, f"notebooks/{path.name}")
    for part in GENERATED:
        for name, text in part.generated():
            sources.write(name, text)
    for path in sorted((DOCS / "img").glob("*")):
        sources.copy(path, f"img/docs_img_{path.name}")
    sources.finish()
