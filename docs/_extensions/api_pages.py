"""The API reference: a page for every package, in it every public module from its docstrings."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from sources import ROOT
from system_pages import anchor
from systems import folders

import gadgetopt

_HEAD = """# API reference

The functions of `gadgetopt` are the commands' words, and enough for most work. What lies behind
them is documented as completely: a test asserts that every public module, class, function, method
and property says what it is.

"""
_ROOMS = """
## The toolkit

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


def generated() -> Iterator[tuple[str, str]]:
    """Return the pages and their list."""
    index = [_HEAD, "| | |\n|---|---|"]
    for name in gadgetopt.__all__:
        doc = (getattr(gadgetopt, name).__doc__ or "").strip().splitlines()[0]
        index.append(f"| [`{name}`](gadgetopt.rst) | {_cell(doc)} |")
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
