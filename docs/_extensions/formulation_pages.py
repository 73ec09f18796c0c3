"""The formulation gallery: a page for every module in which a formulation is built or shared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sources import ROOT
from systems import folders, type_module

from gadgetopt.system.declaration import Problem

_HEAD = """# Formulation gallery

Every formulation of the library twice: the model on paper beside the code that builds it. An equation's number on paper leads to
the lines that state it, a number in the code leads back.

*exact*: its optimum is the problem's. *relaxation*: it bounds the optimum. *restriction*: its solutions are solutions, but not all of
them. "(reconstructed)" marks what a paper leaves open and we filled in.

"""


def page_of(path: Path) -> str:
    """Return the name of a module's page, without suffix."""
    parts = path.relative_to(ROOT / "models").with_suffix("").parts
    return "/".join(("formulations", "_".join(p for p in parts[:-1] if p != "formulations"), parts[-1]))


def built_in(problem: Problem) -> dict[Path, list[str]]:
    """Return the modules of a problem's formulations, each with a table row of every one."""
    found: dict[Path, list[str]] = {}
    for f in problem.formulations:
        path = file_of(type_module(f.build))
        row = f"| `{f.name}` | {f.model_class} | {f.strength} | {f.summary} | {f.equations or ''} |"
        found.setdefault(path, []).append(row)
    for m in problem.methods:
        module = type_module(m.run)
        if m.formulation and ".formulations." in module:
            row = f"| `{m.name}` (CP-SAT) |  | {m.kind} | {m.summary} | {m.reference or ''} |"
            found.setdefault(file_of(module), []).append(row)
    return found


def file_of(module: str) -> Path:
    """Return the file of a module of the model library."""
    return ROOT.joinpath("models", *module.removeprefix("gadgetopt.models.").split(".")).with_suffix(".py")


def shared(folder: Path, known: set[Path]) -> list[Path]:
    """Return the other modules of a folder's formulations."""
    rooms = [p for p in folder.rglob("formulations") if p.is_dir()]
    files = [p for room in rooms for p in sorted(room.glob("*.py"))]
    return [p for p in files if p not in known and not p.name.startswith("_")]


def generated() -> Iterator[tuple[str, str]]:
    """Return the gallery's pages and its table of contents."""
    index = [_HEAD]
    for folder in folders():
        index.append(f"## {folder.name}\n\n{folder.title}. [The system's page](../systems/{folder.name}.md).\n")
        known: set[Path] = set()
        for problem in folder.problems:
            modules = built_in(problem)
            known |= set(modules)
            index.append(f"`{problem.name}`\n")
            index.append("| formulation | class | strength | what it is | equations |\n|---|---|---|---|---|")
            for path, rows in modules.items():
                name = page_of(path)
                link = f"../{name}.rst"
                index += [r.replace("| `", "| [`", 1).replace("`", f"`]({link})", 2).replace(f"[`]({link})", "[`", 1) for r in rows]
                yield f"{name}.rst", page(path, rows, problem)
            index.append("")
        rest = shared(folder.path, known)
        for path in rest:
            yield f"{page_of(path)}.rst", page(path, [], None)
        if rest:
            links = ", ".join(f"[`{p.stem}`](../{page_of(p)}.rst)" for p in rest)
            index.append(f"What they share: {links}.\n")
    yield "formulations/index.md", "\n".join(index)


def page(path: Path, rows: list[str], problem: Problem | None) -> str:
    """Return the page of a module."""
    names = [row.split("`")[1] for row in rows]
    title = f"{path.relative_to(ROOT / 'models').parts[0]}: {', '.join(names) or path.stem}"
    folder = path.relative_to(ROOT / "models").parts[0]
    lines = [
        ":orphan:", ":hide-toc:", "", title, "=" * len(title), "",
        f":doc:`Formulation gallery <../index>` · :doc:`The system's page <../../systems/{folder}>`", "",
    ]  # fmt: skip
    for row in rows:
        _, name, kind, strength, summary, equations, _ = (cell.strip() for cell in row.split("|"))
        facts = ", ".join(x for x in (kind, strength, equations) if x)
        lines.append(f"* ``{name.replace('`', '')}``: {_plain(summary)}. {_plain(facts)}.")
    if rows and problem and "(CP-SAT)" not in rows[0]:
        lines += ["", "::", "", f"   gadgetopt show {problem.name} {names[0]}"]
    lines += ["", f".. paper-and-code:: {path.relative_to(ROOT).as_posix()}", ""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    from docstrings import plain

    return plain([text])[0]
