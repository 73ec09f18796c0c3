"""The formulation gallery: a page for every module in which a formulation is built or shared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from docstrings import plain
from sources import ROOT
from systems import folders

from gadgetopt.system.declaration import Problem
from gadgetopt.system.references import module_of

_HEAD = """# Formulation gallery

Every formulation of the library twice: the model on paper beside the code that builds it. An
equation's number on paper leads to the lines that state it, a number in the code leads back.

*exact*: its optimum is the problem's. *relaxation*: it bounds the optimum. *restriction*: its
solutions are solutions, but not all of them. "(reconstructed)" marks what a paper leaves open and
we filled in.

"""


@dataclass(frozen=True)
class Row:
    """What the gallery says of a formulation, or of a method that is a CP-SAT model."""

    name: str
    kind: str
    strength: str
    summary: str
    equations: str


def page_of(path: Path) -> str:
    """Return the name of a module's page, without suffix."""
    parts = path.relative_to(ROOT / "models").with_suffix("").parts
    return "/".join(
        ("formulations", "_".join(p for p in parts[:-1] if p != "formulations"), parts[-1])
    )


def built_in(problem: Problem) -> dict[Path, list[Row]]:
    """Return the modules of a problem's formulations, each with what is built there."""
    found: dict[Path, list[Row]] = {}
    for f in problem.formulations:
        row = Row(f.name, f.model_class, f.strength, f.summary, f.equations or "")
        found.setdefault(file_of(module_of(f.build)), []).append(row)
    for m in problem.methods:
        module = module_of(m.run)
        if m.formulation and ".formulations." in module:
            row = Row(m.name, "CP-SAT", m.kind, m.summary, m.reference or "")
            found.setdefault(file_of(module), []).append(row)
    return found


def file_of(module: str) -> Path:
    """Return the file of a module of the model library."""
    return ROOT.joinpath(
        "models", *module.removeprefix("gadgetopt.models.").split(".")
    ).with_suffix(".py")


def shared(folder: Path, known: set[Path]) -> list[Path]:
    """Return the other modules of a folder's formulations."""
    rooms = [p for p in folder.rglob("formulations") if p.is_dir()]
    files = [p for room in rooms for p in sorted(room.glob("*.py"))]
    return [p for p in files if p not in known and not p.name.startswith("_")]


def generated() -> Iterator[tuple[str, str]]:
    """Return the gallery's pages and its table of contents."""
    index = [_HEAD]
    for folder in folders():
        index.append(
            f"## {folder.name}\n\n{folder.title}. "
            f"[The system's page](../systems/{folder.name}.md).\n"
        )
        known: set[Path] = set()
        for problem in folder.problems:
            modules = built_in(problem)
            known |= set(modules)
            index.append(f"`{problem.name}`\n")
            index.append(
                "| formulation | class | strength | what it is | equations |\n|---|---|---|---|---|"
            )
            for path, rows in modules.items():
                name = page_of(path)
                yield f"{name}.rst", page(path, rows, problem)
                index += [
                    f"| [`{r.name}`](../{name}.rst) | {r.kind} | {r.strength} "
                    f"| {_cell(r.summary)} | {_cell(r.equations)} |"
                    for r in rows
                ]
            index.append("")
        rest = shared(folder.path, known)
        for path in rest:
            yield f"{page_of(path)}.rst", page(path, [], None)
        if rest:
            links = ", ".join(f"[`{p.stem}`](../{page_of(p)}.rst)" for p in rest)
            index.append(f"What they share: {links}.\n")
    yield "formulations/index.md", "\n".join(index)


def page(path: Path, rows: list[Row], problem: Problem | None) -> str:
    """Return the page of a module."""
    folder = path.relative_to(ROOT / "models").parts[0]
    title = f"{folder}: {', '.join(row.name for row in rows) or path.stem}"
    lines = [
        ":orphan:", ":hide-toc:", "", title, "=" * len(title), "",
        ":doc:`Formulation gallery </formulations/index>` · "
        f":doc:`The system's page </systems/{folder}>`", "",
    ]  # fmt: skip
    for row in rows:
        facts = ", ".join(x for x in (row.kind, row.strength, row.equations) if x)
        lines.append(f"* ``{row.name}``: {plain([row.summary])[0]}. {plain([facts])[0]}.")
    shown = [row.name for row in rows if row.kind != "CP-SAT"]
    if shown and problem is not None:
        lines += ["", "::", "", f"   gadgetopt show {problem.name} {shown[0]}"]
    elif not rows:
        lines.append("What other modules of the folder share.")
    lines += ["", f".. paper-and-code:: {path.relative_to(ROOT).as_posix()}", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")
