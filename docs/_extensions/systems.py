"""The systems as the site orders them: one page for every folder of models/ with a README."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from sources import ROOT

from gadgetopt.system.declaration import Problem
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


def module_of(problem: Problem) -> str:
    """Return the folder of a problem below models/, as in `bgl.cache`."""
    return type_module(problem.instance_type).split("gadgetopt.models.")[1].rpartition(".")[0]


def type_module(reference: object) -> str:
    """Return the module of a type, or of a lazy reference to one."""
    target = getattr(reference, "target", None)
    if target is None:
        return str(getattr(reference, "__module__", ""))
    return f"{reference.package}.{target.partition(':')[0]}"  # type: ignore[attr-defined]


@cache
def folders() -> tuple[Folder, ...]:
    """Return the folders in the order of the alphabet."""
    ours = [p for p in problems() if type_module(p.instance_type).startswith("gadgetopt.models.")]
    found = []
    for page in sorted((ROOT / "models").glob("*/README.md")):
        title = page.read_text().splitlines()[0].removeprefix("# ")
        mine = tuple(p for p in ours if module_of(p).split(".")[0] == page.parent.name)
        found.append(Folder(page.parent, title, mine))
    return tuple(found)
