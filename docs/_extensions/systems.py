"""The systems as the site orders them: one page for every folder of models/ with a README."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sources import ROOT

from gadgetopt.system.declaration import Problem
from gadgetopt.system.references import module_of
from gadgetopt.system.registry import problems


@dataclass(frozen=True)
class Folder:
    """A folder of models/ with a page: a system, or a family of them."""

    path: Path
    title: str
    problems: tuple[Problem, ...]

    @property
    def name(self) -> str:
        """Name of the folder."""
        return self.path.name

    @property
    def short(self) -> str:
        """The title up to its colon."""
        return self.title.split(":")[0]


def folder_of(problem: Problem) -> str:
    """Return the folder of a problem below models/, as in `bgl.cache`."""
    return module_of(problem.instance_type).split("gadgetopt.models.")[1].rpartition(".")[0]


@cache
def folders() -> tuple[Folder, ...]:
    """Return the folders in the order of learning, as the list of systems has them."""
    ours = [p for p in problems() if module_of(p.instance_type).startswith("gadgetopt.models.")]
    found = []
    listed = re.findall(r"\]\((\w+)/README\.md\)", (ROOT / "models" / "README.md").read_text())
    pages = sorted((ROOT / "models").glob("*/README.md"))
    if missing := {page.parent.name for page in pages} - set(listed):
        raise SystemExit(f"models/README.md: is without {', '.join(sorted(missing))}")
    for page in sorted(pages, key=lambda page: listed.index(page.parent.name)):
        title = page.read_text().splitlines()[0].removeprefix("# ")
        mine = tuple(p for p in ours if folder_of(p).split(".")[0] == page.parent.name)
        found.append(Folder(page.parent, title, mine))
    return tuple(found)
