"""The API reference: a page for every package, in it every public module from its docstrings.

Its index goes by tasks: first what `gadgetopt` itself offers, then where the toolkit has what a
method or a system of one's own needs, then all packages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sources import ROOT
from system_pages import anchor
from systems import folders

import gadgetopt

_HEAD = """# API reference

What do you want to do? The functions of `gadgetopt` carry the commands' names and are enough for
most work. What lies behind them is documented as completely: a test asserts that every public
module, class, function, method and property says what it is.

"""
#: What one wants to do, and the names of `gadgetopt` for it.
_TASKS = {
    "Get an instance": (
        "read", "generate", "instance", "Builder", "import_", "Document", "Imported", "write",
    ),
    "Look at it": ("show", "plot", "formulations", "problem", "problems"),
    "Solve it": ("solve", "Limits", "Result", "Status", "Evaluation", "InputError"),
    "Prove a bound, check a proof": ("prove", "verify", "BoundRefuted"),
    "Compare methods": ("compare", "Comparison", "Entry"),
    "Read a store of runs": ("ratios", "summary", "write_report"),
    "Take the model or a plan elsewhere": ("build", "export", "ExportedPlan"),
    "Declare a method or other parts of your own": (
        "method", "formulation", "generator", "importer", "exporter", "guarantee", "picture",
        "statement", "trainer", "Extension", "load_plugin",
    ),
}  # fmt: skip
#: What a method or a system of one's own needs, and the package that has it.
_OWN = {
    "declare a system": "system",
    "read and write its files": "system.reading",
    "watch the clock, keep the incumbent and the bound": "search",
    "solve a Pyomo model with HiGHS, CP-SAT or SCIP": "solvers",
    "compute exactly, or with a stated tolerance": "numbers",
    "graphs, knapsacks, pipelines, traces": "pieces",
    "prove the bound of a model": "proofs",
    "have a result judged, and its certificate checked": "trust",
    "read a store, or run a grid of runs": "runs",
    "look up, check and improve best known results": "records",
    "make a table, a figure or a report": "reporting",
}
_OWN_HEAD = """
## Write a method or a system of your own

| you want to | package |
|---|---|"""
_ROOMS = """
## All packages of the toolkit

From the ground up; each room imports only those before it.

"""
_ORDER = (
    "errors",
    "numbers",
    "system",
    "search",
    "solvers",
    "pieces",
    "proofs",
    "trust",
    "runs",
    "records",
    "reporting",
    "skeleton",
    "api",
    "cli",
)


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").splitlines()[0]


def packages(top: Path, name: str) -> Iterator[tuple[str, list[str]]]:
    """Return every package below a folder with the names of its modules."""
    for init in sorted(top.rglob("__init__.py")):
        folder = init.parent
        full = ".".join([name, *folder.relative_to(top).parts])
        files = sorted(p.stem for p in folder.glob("*.py") if not p.stem.startswith("_"))
        yield full, [full, *(f"{full}.{stem}" for stem in files)]


def page(package: str, modules: list[str]) -> str:
    """Return the page of a package."""
    lines = [":orphan:", "", package, "=" * len(package), "", ":doc:`API reference <index>`", ""]
    for module in modules:
        if module != package:
            lines += [module, "-" * len(module), ""]
        lines += [f".. automodule:: {module}", "   :ignore-module-all:", ""]
    return "\n".join(lines)


def front_door() -> str:
    """Return the page of the names that `gadgetopt` itself has."""
    lines = [":orphan:", "", "gadgetopt", "=========", "", ":doc:`API reference <index>`", ""]
    lines += [".. automodule:: gadgetopt", "   :no-members:", ""]
    for name in gadgetopt.__all__:
        kind = "autoclass" if isinstance(getattr(gadgetopt, name), type) else "autofunction"
        kind = "autoexception" if name in ("InputError", "BoundRefuted") else kind
        lines += [f".. {kind}:: gadgetopt.{name}", ""]
    for module in ("errors",):
        lines += [
            f"gadgetopt.{module}",
            "-" * (10 + len(module)),
            "",
            f".. automodule:: gadgetopt.{module}",
            "",
        ]
    return "\n".join(lines)


def by_task() -> Iterator[str]:
    """Return what `gadgetopt` offers, task by task.

    Raises
    ------
    SystemExit
        If a public name belongs to no task, or a task names what is not public.
    """
    listed = [name for names in _TASKS.values() for name in names]
    if sorted(listed) != sorted(gadgetopt.__all__):
        wrong = sorted(set(listed) ^ set(gadgetopt.__all__))
        raise SystemExit(f"docs/_extensions/api_pages.py: tasks: {', '.join(wrong)}")
    for task, names in _TASKS.items():
        yield f"## {task}\n\n| name | what it does |\n|---|---|"
        for name in names:
            doc = (getattr(gadgetopt, name).__doc__ or "").strip().splitlines()[0]
            yield f"| {{py:obj}}`{name} <gadgetopt.{name}>` | {_cell(doc)} |"
        yield ""


def generated() -> Iterator[tuple[str, str]]:
    """Return the pages and their list."""
    index = [_HEAD, *by_task(), _OWN_HEAD]
    for task, package in _OWN.items():
        index.append(f"| {task} | [`gadgetopt.{package}`](gadgetopt.{package}.rst) |")
    yield "api/gadgetopt.rst", front_door()
    index.append(_ROOMS)
    index.append("| package | what is in it |\n|---|---|")
    found = dict(packages(ROOT / "gadgetopt", "gadgetopt"))
    del found["gadgetopt"]
    # The skeleton's rooms are read where `new-system` writes them.
    found = {p: modules for p, modules in found.items() if not p.startswith("gadgetopt.skeleton.")}
    for package, modules in sorted(
        found.items(), key=lambda item: _ORDER.index(item[0].split(".")[1])
    ):
        yield f"api/{package}.rst", page(package, modules)
        index.append(_row(package, ROOT.joinpath(*package.split("."), "__init__.py")))
    index.append("\n## The systems\n\nEvery system has the same rooms.\n")
    for folder in folders():
        index.append(
            f'<span id="{anchor("models-" + folder.name)}"></span>\n\n### models.{folder.name}\n'
        )
        index.append("| package | what is in it |\n|---|---|")
        for package, modules in packages(folder.path, f"gadgetopt.models.{folder.name}"):
            yield f"api/{package}.rst", page(package, modules)
            parts = package.split(".")[2:]
            index.append(_row(package, ROOT.joinpath("models", *parts, "__init__.py")))
        index.append("")
    yield "api/index.md", "\n".join(index)


def _row(package: str, init: Path) -> str:
    return f"| [`{package}`]({package}.rst) | {_cell(first_line(init))} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("*", r"\*").replace("_", r"\_")
