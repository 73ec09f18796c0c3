"""Which constants the library's modules hold, of which kind, and where each is read.

A constant is a number, or a tuple of numbers, that a module names. The comment about it says its
kind: "Tuned: `benchmarks/NAME.py`." names the script whose table answers what another value would
do; "By definition." is a number of a paper, of a format or of mathematics. In some rooms
(`DEFINED`) all numbers are definitions: what is shown, drawn, read or waited for.

Reading is found in the source: names, imports, what is computed from a constant when a module is
loaded, and compiled loops, which hold the value that they were compiled with.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: Folders and files all of whose numbers are definitions.
DEFINED = frozenset(
    {"pictures", "reporting", "cli", "api", "statements", "generate", "importers"}
    | {"reading", "system", "runs", "skeleton"}
)
DEFINED_FILES = frozenset({"instance.py"})

BY_DEFINITION = "By definition."
TUNED = "Tuned: `benchmarks/"

#: What numbers are made of besides digits.
MAKERS = {"Fraction", "float", "int"}


@dataclass(frozen=True)
class Constant:
    """A numeric constant of a module.

    Attributes
    ----------
    file : str
        From the top of the repository.
    place : int or None
        Which part of a tuple it is, for `(A, B) = (1, 2)`.
    text : str
        Its value as the module writes it.
    kind : str or None
        "definition", the script that `Tuned:` names, or None where the comment says neither.
    """

    file: str
    name: str
    place: int | None
    line: int
    text: str
    kind: str | None

    @property
    def key(self) -> str:
        """File and name."""
        return f"{self.file}:{self.name}"

    @property
    def module(self) -> str:
        """The name under which Python imports its module."""
        return module_of(self.file)


def module_of(file: str) -> str:
    """Return the name of the module of a file: `models/` is `gadgetopt.models`."""
    parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
    return ".".join(["gadgetopt", *parts] if parts[0] == "models" else parts)


# -- the constants ---------------------------------------------------------------------------------


def is_number(node: ast.expr) -> bool:
    """Return True for a number, an expression of numbers, and a tuple of these."""
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.UnaryOp(operand=operand):
            return is_number(operand)
        case ast.BinOp(left=left, right=right):
            return is_number(left) and is_number(right)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return bool(parts) and all(map(is_number, parts))
        case ast.Call(func=ast.Name(id=name), args=parts):
            text = [isinstance(x, ast.Constant) and isinstance(x.value, str) for x in parts]
            return name in MAKERS and all(
                t or is_number(x) for t, x in zip(text, parts, strict=True)
            )
    return False


def numbers_of(tree: ast.Module) -> Iterator[tuple[ast.Assign | ast.AnnAssign, ast.stmt | None]]:
    """Yield the assignments of numbers of a module, each with the statement after it."""
    for node, after in zip(tree.body, [*tree.body, None][1:], strict=True):
        is_assigned = isinstance(node, ast.Assign | ast.AnnAssign)
        if is_assigned and node.value is not None and is_number(node.value):
            yield node, after


def comments(source: str) -> Iterator[tuple[ast.Assign | ast.AnnAssign, str]]:
    """Yield the assignments of numbers of a module, each with the comment about it.

    A comment is about all constants below it that follow each other line by line. A text below one
    is about it, and so is a comment on its line.
    """
    lines = source.splitlines()
    about, until = "", -1
    for node, after in numbers_of(ast.parse(source)):
        above = node.lineno - 2
        first, end = node.lineno - 1, node.end_lineno or node.lineno
        if above >= 0 and lines[above].startswith("#"):
            start = above
            while start > 0 and lines[start - 1].startswith("#"):
                start -= 1
            about, until = " ".join(line.lstrip("#: ") for line in lines[start:first]), end
        elif until == first:
            until = end
        elif isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            about = " ".join(str(after.value.value).split())
        else:
            beside = [line.split("#", 1)[1].strip() for line in lines[first:end] if "#" in line]
            about = " ".join(beside)
            until = end if beside else -1
        yield node, about


def kind_of(file: str, comment: str) -> str | None:
    """Return the kind of a constant: "definition", the script of its table, or None."""
    _, found, table = comment.rpartition(TUNED)
    if found and table.endswith("`."):
        return f"benchmarks/{table.removesuffix('`.')}"
    shown = DEFINED & set(file.split("/")) or file.rpartition("/")[2] in DEFINED_FILES
    return "definition" if shown or comment.endswith(BY_DEFINITION) else None


def constants_of(file: str, source: str) -> Iterator[Constant]:
    """Yield the constants of a module."""
    for node, comment in comments(source):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        kind, value = kind_of(file, comment), node.value
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for k, (name, part) in enumerate(zip(target.elts, value.elts, strict=True)):
                text = ast.unparse(part)
                yield Constant(file, ast.unparse(name), k, node.lineno, text, kind)
        elif isinstance(target, ast.Name) and value is not None:
            yield Constant(file, target.id, None, node.lineno, ast.unparse(value), kind)


def sources(root: Path = ROOT) -> dict[str, str]:
    """Return the library's modules: their text by file."""
    paths = [path for top in ("gadgetopt", "models") for path in sorted((root / top).rglob("*.py"))]
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}


def all_constants(root: Path = ROOT) -> list[Constant]:
    """Return all constants of the library."""
    return [c for file, text in sources(root).items() for c in constants_of(file, text)]


# -- where they are read ---------------------------------------------------------------------------


@dataclass
class Module:
    """What the names of a module stand for.

    Attributes
    ----------
    stands : dict
        Keys of constants by name: the constant itself, what is computed from it when the module is
        loaded, a class or a compiled loop that reads it.
    modules : dict
        Modules by the name under which this one knows them.
    same : dict
        Keys by name where the name is the constant itself, its own or imported.
    """

    file: str
    tree: ast.Module
    stands: dict[str, set[str]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)


LOOPS = {"compiled", "part_of_loops"}


def is_loop(node: ast.AST) -> bool:
    """Return True for a function that numba compiles."""
    return isinstance(node, ast.FunctionDef) and any(
        isinstance(d, ast.Name) and d.id in LOOPS for d in node.decorator_list
    )


class Reading:
    """Where the constants of the library are read.

    Parameters
    ----------
    texts : dict
        The library's modules, by file.

    Attributes
    ----------
    loops, names, classes : dict
        Module and name, by the key of a constant, of the compiled loops that hold it, of what is
        the constant itself, its own name and imported ones, and of classes with a field from it.
    takers : dict
        The modules that take something from a constant when they are loaded, by its key.
    """

    def __init__(self, texts: dict[str, str]):
        self.modules: dict[str, Module] = {
            module_of(file): Module(file, ast.parse(text)) for file, text in texts.items()
        }
        self._known: dict[ast.AST, list[tuple[str, str | None]]] = {}
        self._imports = {
            name: [x for x in ast.walk(module.tree) if isinstance(x, ast.ImportFrom)]
            for name, module in self.modules.items()
        }
        for file, text in texts.items():
            module = self.modules[module_of(file)]
            for constant in constants_of(file, text):
                module.stands[constant.name] = {constant.key}
                module.same[constant.name] = constant.key
        while sum(self._learn(name, module) for name, module in self.modules.items()):
            pass  # until no module learns anything from another
        self.loops: dict[str, list[tuple[str, str]]] = {}
        self.names: dict[str, list[tuple[str, str]]] = {}
        self.classes: dict[str, list[tuple[str, str]]] = {}
        self.takers: dict[str, list[str]] = {}
        for name, module in self.modules.items():
            self._index(name, module)

    def _learn(self, name: str, module: Module) -> bool:
        """Add what a module's names stand for; return True if there was something new."""
        before = sum(map(len, module.stands.values())), len(module.modules)
        for found in self._imports[name]:
            self._import(name, module, found)
        for node in module.tree.body:
            if is_loop(node):
                keys, named = self.read(module, node), [node.name]  # type: ignore[attr-defined]
            elif isinstance(node, ast.ClassDef):
                inner = [x for x in node.body if not isinstance(x, ast.FunctionDef)]
                keys, named = set().union(*(self.read(module, x) for x in inner)), [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                keys = self.read(module, node.value)
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                named = [x.id for t in targets for x in ast.walk(t) if isinstance(x, ast.Name)]
            else:
                continue
            for one in named if keys else ():
                module.stands.setdefault(one, set()).update(keys)
        return before != (sum(map(len, module.stands.values())), len(module.modules))

    def _import(self, name: str, module: Module, node: ast.ImportFrom) -> None:
        path = self.source(name, module, node)
        source = self.modules.get(path)
        for alias in node.names:
            known = alias.asname or alias.name
            if f"{path}.{alias.name}" in self.modules:
                module.modules[known] = f"{path}.{alias.name}"
            if source and alias.name in source.stands:
                module.stands.setdefault(known, set()).update(source.stands[alias.name])
            if source and alias.name in source.same:
                module.same[known] = source.same[alias.name]

    def source(self, name: str, module: Module, node: ast.ImportFrom) -> str:
        """Return the name of the module from which a module imports."""
        package = name if module.file.endswith("__init__.py") else name.rpartition(".")[0]
        return resolve_name("." * node.level + (node.module or ""), package)

    def read(self, module: Module, node: ast.AST) -> set[str]:
        """Return the keys of the constants that code of a module reads."""
        keys: set[str] = set()
        for name, attribute in self._loads(node):
            if attribute is None:
                keys |= module.stands.get(name, set())
            elif name in module.modules:
                keys |= self.modules[module.modules[name]].stands.get(attribute, set())
        return keys

    def _loads(self, node: ast.AST) -> list[tuple[str, str | None]]:
        """Return the names that code reads, with the attribute that it takes of them."""
        if node not in self._known:
            found: list[tuple[str, str | None]] = []
            for x in ast.walk(node):
                if isinstance(x, ast.Name):
                    found.append((x.id, None))
                elif isinstance(x, ast.Attribute) and isinstance(x.value, ast.Name):
                    found.append((x.value.id, x.attr))
            self._known[node] = found
        return self._known[node]

    def _index(self, name: str, module: Module) -> None:
        for known, key in module.same.items():
            self.names.setdefault(key, []).append((name, known))
        for key in set().union(*module.stands.values()):
            self.takers.setdefault(key, []).append(name)
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef) and is_loop(node):
                for key in self.read(module, node):
                    self.loops.setdefault(key, []).append((name, node.name))
            elif isinstance(node, ast.ClassDef):
                for key in module.stands.get(node.name, ()):
                    self.classes.setdefault(key, []).append((name, node.name))


class Marked(ast.NodeTransformer):
    """Has functions tell which constants they read: a call before each statement that reads some.

    Parameters
    ----------
    reading : Reading
    module : Module
        The module whose functions are rewritten.
    teller : str
        The name of the function that is called, a builtin.
    """

    def __init__(self, reading: Reading, module: Module, teller: str):
        self._reading, self._module, self._teller = reading, module, teller

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrite a function, but no compiled loop: that may call nothing of Python's."""
        if is_loop(node):
            return node
        defaults = [x for x in [*node.args.defaults, *node.args.kw_defaults] if x is not None]
        node.body = self._statements(node.body)
        keys = set().union(*(self._reading.read(self._module, x) for x in defaults))
        node.body[:0] = self._told(node, keys)
        return node

    def _statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in body:
            own: set[str] = set()
            for name, value in ast.iter_fields(node):
                if name in ("body", "orelse", "finalbody"):
                    if isinstance(value, list):
                        setattr(node, name, self._statements(value))
                elif name in ("handlers", "cases"):
                    for part in value:
                        part.body = self._statements(part.body)
                else:
                    for part in value if isinstance(value, list) else [value]:
                        if isinstance(part, ast.AST):
                            own |= self._reading.read(self._module, part)
            out += [*self._told(node, own), node]
        return out

    def _told(self, node: ast.stmt, keys: set[str]) -> list[ast.stmt]:
        if not keys:
            return []
        call = ast.parse(f"{self._teller}{(*sorted(keys),)!r}").body[0]
        return [ast.fix_missing_locations(ast.copy_location(call, node))]


def value_of(text: str) -> Any:
    """Return the value of a constant's text."""
    from fractions import Fraction

    return eval(text, {"Fraction": Fraction})  # a number of the library's own source
