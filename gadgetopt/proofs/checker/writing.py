"""The checker in one file, written from the modules that are run here.

The file holds them one after the other, word for word, but for what a reader of one file does not
need: imports of each other, functions that the checker does not call, and the lists of parameters
and errors in docstrings.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import NamedTuple

from gadgetopt.proofs.checker.command_line import run_checker

#: Modules of `gadgetopt.proofs`, in the order of the file, and what they are.
MODULES = {
    "model.py": "an exact model and its text",
    "tree_kernel.py": "the checker of tree proofs",
    "ray_kernel.py": "the checker of a point and a ray",
    "vipr_files/words.py": "the words of VIPR files",
    "vipr_files/constraints.py": "constraints of VIPR files",
    "vipr_files/derivations.py": "the derivations of VIPR files",
    "vipr_files/reader.py": "the checker of VIPR files",
    "files.py": "packed lines of certificates",
    "reading/text.py": "text of model files",
    "reading/decimals.py": "numbers of model files",
    "reading/draft.py": "a model while it is read",
    "reading/mps_lines.py": "lines of MPS files",
    "reading/mps.py": "MPS files",
    "reading/lp.py": "LP files",
    "reading/nl.py": ".nl files",
    "reading/model_files.py": "which reader reads a file",
    "checker/sentences.py": "what a proof shows, in words",
    "checker/vipr_verdict.py": "what a VIPR file claims",
    "checker/verdict.py": "proofs and models read, and checked",
    "checker/command_line.py": "the command line",
}
#: What everything rests on, and what a proof of some kind about a model of some format does.
ALWAYS = (
    "model.py", "files.py", "reading/text.py", "checker/sentences.py", "checker/verdict.py",
    "checker/command_line.py",
)  # fmt: skip
OF_PROOF = {
    "a tree proof": ("tree_kernel.py",),
    "a VIPR file": (
        "vipr_files/words.py", "vipr_files/constraints.py", "vipr_files/derivations.py",
        "vipr_files/reader.py", "checker/vipr_verdict.py",
    ),
}  # fmt: skip
OF_MODEL = {
    "as exact text": (),
    "in MPS": ("reading/mps_lines.py", "reading/mps.py"),
    "in LP": ("reading/lp.py",),
    "in .nl": ("reading/nl.py",),
}
#: What a model in one of the formats rests on, too.
OF_ANY_FORMAT = ("reading/decimals.py", "reading/draft.py", "reading/model_files.py")
#: The function that the file runs.
START = run_checker.__name__
#: Names that two modules have at their top, and what the file calls them.
RENAMED = {"tree_kernel.py": {"Row": "PlainRow", "Path": "PathInTree"}}
#: Lines of docstrings under which a section of parameters, attributes or errors begins.
_UNDERLINE = "---"


class Part(NamedTuple):
    """A definition at the top of a module: the names that it defines and uses, and its lines."""

    names: frozenset[str]
    uses: frozenset[str]
    lines: list[str]


class Module(NamedTuple):
    """A module: its docstring, what it imports from the standard library, its definitions."""

    docstring: str
    imports: list[ast.Import | ast.ImportFrom]
    parts: list[Part]


def checker_in_one_file(version: str) -> str:
    """Return the text of the file."""
    modules = {name: read_module(source_of(name), RENAMED.get(name, {})) for name in MODULES}
    _check_names(modules)
    wanted = _reached([part for module in modules.values() for part in module.parts])
    sections = {}
    for number, (name, module) in enumerate(modules.items(), 1):
        title = f"{number}. {MODULES[name]}: gadgetopt/proofs/{name}"
        body = [f"# {'-' * 78}", f"# {title}", "#"]
        body += [f"# {line}".rstrip() for line in module.docstring.strip().splitlines()]
        for part in module.parts:
            if part.names & wanted:
                body += part.lines
        sections[name] = body
    lines = [line for body in sections.values() for line in ("", *body)]
    lines = [*_head(version, sections), *_imports(modules, "\n".join(lines)), *lines]
    lines += ["", 'if __name__ == "__main__":', f"    sys.exit({START}(sys.argv[1:]))"]
    return "\n".join(lines) + "\n"


def source_of(name: str) -> str:
    """Return the source of a module of `gadgetopt.proofs`."""
    return files("gadgetopt.proofs").joinpath(name).read_text(encoding="utf-8")


def _head(version: str, sections: dict[str, list[str]]) -> list[str]:
    """Return the first lines, with what has to be read for which proof."""
    lines = [
        '"""Checks proofs of bounds of mixed-integer linear programs with Python alone.',
        "",
        "    python check_bound.py MODEL PROOF",
        "",
        f"Written by gadgetopt {version} from the modules that it runs itself (MIT License).",
        "A proof rests on Python's integers and fractions, and on these sections of the file (the",
        "checker of rays in place of that of trees where a model is unbounded):",
        "",
    ]
    numbers = {name: number for number, name in enumerate(sections, 1)}
    for proof, of_proof in OF_PROOF.items():
        for model, of_model in OF_MODEL.items():
            any_format = OF_ANY_FORMAT if of_model else ()
            rests = sorted({*ALWAYS, *of_proof, *of_model, *any_format}, key=numbers.__getitem__)
            count = sum(len(sections[name]) for name in rests)
            which = ", ".join(str(numbers[name]) for name in rests)
            lines.append(f"    {proof}, the model {model}: {count:,} lines in sections {which}")
    return [*lines, '"""', ""]


def read_module(source: str, renamed: dict[str, str]) -> Module:
    """Return the parts of a module, with names changed."""
    source = _with_names(source, renamed)
    tree = ast.parse(source)
    text = source.splitlines()
    imports: list[ast.Import | ast.ImportFrom] = []
    parts = []
    end = 0
    for node in tree.body:
        begin = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        comments = [line for line in text[end : begin - 1] if line.startswith("#")]
        end = node.end_lineno or begin
        guarded = node.body if isinstance(node, ast.If) else [node]
        if all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in guarded):
            imports += [
                inner for inner in guarded if isinstance(inner, ast.Import | ast.ImportFrom)
            ]
            continue
        if isinstance(node, ast.Expr):  # the module's docstring
            continue
        lines = _without_sections(node, text[begin - 1 : end], begin)
        uses = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        space = [""] if isinstance(node, ast.FunctionDef | ast.ClassDef) or comments else []
        parts.append(Part(frozenset(_defined(node)), frozenset(uses), [*space, *comments, *lines]))
    return Module(ast.get_docstring(tree) or "", imports, parts)


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
        return
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
    for target in targets:
        yield from (inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name))


def _with_names(source: str, renamed: dict[str, str]) -> str:
    """Return a source with names changed, wherever they stand in its code."""
    if not renamed:
        return source
    lines = source.splitlines(keepends=True)
    found = [
        (*token.start, token.string)
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.NAME and token.string in renamed
    ]
    for row, column, name in reversed(found):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + renamed[name] + line[column + len(name) :]
    return "".join(lines)


def _without_sections(node: ast.stmt, lines: Sequence[str], begin: int) -> list[str]:
    """Return a definition's lines without the sections of its docstrings."""
    dropped = set[int]()
    for inner in ast.walk(node):
        if not isinstance(inner, ast.FunctionDef | ast.ClassDef) or not ast.get_docstring(inner):
            continue
        text = inner.body[0]
        first, last = text.lineno - begin, (text.end_lineno or text.lineno) - begin
        under = [i for i in range(first, last) if lines[i].strip().startswith(_UNDERLINE)]
        if under:  # from the empty line before the section's title to the last line but one
            dropped |= set(range(under[0] - 2, last))
    kept = [line for i, line in enumerate(lines) if i not in dropped]
    return [
        line
        for line, after in zip(kept, [*kept[1:], "-"], strict=True)
        if line.strip() or after.strip()
    ]


def _imports(modules: dict[str, Module], text: str) -> list[str]:
    """Return the imports from the standard library that a text needs, each once."""
    found = set[tuple[str, str]]()
    for module in modules.values():
        for node in module.imports:
            origin = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if origin.split(".")[0] not in ("gadgetopt", "__future__"):
                found |= {(origin, alias.name) for alias in node.names}
    needed = sorted((o, name) for o, name in found if re.search(rf"\b{name}\b", text))
    lines = ["from __future__ import annotations", ""]
    lines += [f"import {name}" for origin, name in needed if not origin]
    for origin in sorted({origin for origin, _ in needed if origin}):
        names = ", ".join(name for o, name in needed if o == origin)
        lines.append(f"from {origin} import {names}")
    return lines


def _reached(parts: Sequence[Part]) -> set[str]:
    """Return the names that the start needs, directly or by others."""
    by_name = {name: part for part in parts for name in part.names}
    reached, waiting = set[str](), [START]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in reached:
            reached.add(name)
            waiting += by_name[name].uses
    return reached


def _check_names(modules: dict[str, Module]) -> None:
    """Refuse to write a file in which a name would mean two things."""
    owner: dict[str, str] = {}
    for module in modules.values():
        for node in module.imports:
            if not (isinstance(node, ast.ImportFrom) and (node.module or "")[:9] == "gadgetopt"):
                owner |= {alias.name: "the standard library" for alias in node.names}
    for name, module in modules.items():
        for defined in (defined for part in module.parts for defined in part.names):
            if owner.setdefault(defined, name) != name:
                raise ValueError(f"{defined} is a name of {owner[defined]} and of {name}")
