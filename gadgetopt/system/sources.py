"""Python files read without importing them: what the names at the top of a file stand for.

Read are literals, arithmetic, tuples and mappings, `Literal` types, and names of these, across the
import lines of a file; a function or class is a lazy `Reference`. Nothing else is: a declaration
says what a reader of the file sees.
"""

from __future__ import annotations

import ast
import importlib.util
import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache, cached_property
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.references import Reference

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
    ast.BitOr: operator.or_,
    ast.USub: operator.neg,
}

#: Calls that are read.
_CALLS = {"Fraction": Fraction, "float": float, "int": int}


def source(module: str) -> Source | None:
    """Return the source of a module; None if it is not there, or is no Python file.

    Packages that are not imported yet are looked through without importing them.
    """
    found = _source(module)
    if found is not None:
        for files in _noting:
            files.add(found.path)
    return found


@contextmanager
def noted() -> Iterator[set[str]]:
    """Note the files of all sources that are asked for within the block."""
    files = set[str]()
    _noting.append(files)
    try:
        yield files
    finally:
        _noting[:] = [other for other in _noting if other is not files]


_noting: list[set[str]] = []


@cache
def _source(module: str) -> Source | None:
    loaded = sys.modules.get(module)
    if loaded is not None:
        return _opened(module, loaded.__spec__)
    parent = module.rpartition(".")[0]
    if not parent:
        return _opened(module, PathFinder.find_spec(module))
    above = _source(parent)
    return _opened(module, PathFinder.find_spec(module, above.folders)) if above else None


def _opened(module: str, spec: ModuleSpec | None) -> Source | None:
    read = getattr(getattr(spec, "loader", None), "get_source", None)
    text = read(module) if read else None
    if spec is None or text is None:
        return None
    loaded = sys.modules.get(module)
    folders = list(getattr(loaded, "__path__", spec.submodule_search_locations or []))
    return Source(module, spec.origin or module, text, folders)


class Source:
    """The text of a module.

    Attributes
    ----------
    module : str
    path : str
        Its file.
    text : str
    folders : list of str
        Where its submodules lie; empty if it is not a package.
    """

    def __init__(self, module: str, path: str, text: str, folders: list[str]):
        self.module, self.path, self.text, self.folders = module, path, text, folders

    @property
    def package(self) -> str:
        """The package that relative imports start from."""
        return self.module if self.folders else self.module.rpartition(".")[0]

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text."""
        try:
            return ast.parse(self.text)
        except SyntaxError as error:
            raise InputError(f"{self.path}:{error.lineno}: {error.msg}") from None

    @cached_property
    def _top(self) -> dict[str, ast.stmt]:
        """What defines each name at the top of the file, the last one if there are several."""
        for_types = [
            node
            for block in self.tree.body
            if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
            for node in block.body
        ]
        return {name: node for node in (*for_types, *self.tree.body) for name in _defined(node)}

    def refuse(self, node: ast.AST, said: str) -> InputError:
        """Return an error that names file and line."""
        return InputError(f"{self.path}:{getattr(node, 'lineno', 1)}: {said}")

    def reference(self, name: str) -> Reference:
        """Return the reference to a function or class of this file."""
        parent, _, own = self.module.rpartition(".")
        return Reference(parent, f"{own}:{name}")

    def find(self, name: str) -> tuple[Source, ast.stmt] | None:
        """Return the file and statement that define a name; import lines are followed."""
        node = self._top.get(name)
        if not isinstance(node, ast.ImportFrom):
            return None if node is None or isinstance(node, ast.Import) else (self, node)
        other = source(self._imported_from(node))
        original = next(a.name for a in node.names if name in (a.name, a.asname))
        return other.find(original) if other else None

    def _imported_from(self, node: ast.ImportFrom) -> str:
        name = "." * node.level + (node.module or "")
        return importlib.util.resolve_name(name, self.package)

    def _module(self, name: str) -> Source | None:
        """Return the module that an import line makes known by a name."""
        node = self._top.get(name)
        if isinstance(node, ast.ImportFrom):
            original = next(a.name for a in node.names if name in (a.name, a.asname))
            return source(f"{self._imported_from(node)}.{original}")
        return None

    def _found(self, node: ast.expr) -> tuple[Source, ast.stmt] | None:
        """Return where a name, or a name of a module, is defined."""
        if isinstance(node, ast.Name):
            return self.find(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = self._module(node.value.id)
            return module.find(node.attr) if module else None
        return None

    # -- values ------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression.

        Raises
        ------
        InputError
            If it is not one of those that are read.
        """
        match node:
            case ast.Constant():
                return node.value
            case ast.Tuple():
                return tuple(self._members(node.elts))
            case ast.List():
                return list(self._members(node.elts))
            case ast.Dict():
                return self._mapping(node)
            case ast.UnaryOp() if type(node.op) in _OPERATORS:
                return _OPERATORS[type(node.op)](self.value(node.operand))
            case ast.BinOp() if type(node.op) in _OPERATORS:
                return _OPERATORS[type(node.op)](self.value(node.left), self.value(node.right))
            case ast.Call(func=ast.Name(id=name)) if name in _CALLS and not node.keywords:
                return _CALLS[name](*(self.value(a) for a in node.args))
            case ast.Name() | ast.Attribute():
                return self._named(node)
        raise self.refuse(
            node, f"{ast.unparse(node)}: cannot be read, expected a literal, or a name of one"
        )

    def _members(self, nodes: list[ast.expr]) -> Iterator[Any]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.value(node.value)
            else:
                yield self.value(node)

    def _mapping(self, node: ast.Dict) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found |= self.value(value)
            else:
                found[self.value(key)] = self.value(value)
        return found

    def _named(self, node: ast.expr) -> Any:
        found = self._found(node)
        match found:
            case (where, ast.FunctionDef(name=name) | ast.ClassDef(name=name)):
                return where.reference(name)
            case (where, ast.Assign(value=value)):
                return where.value(value)
            case (where, ast.AnnAssign(value=ast.expr() as value)):
                return where.value(value)
        raise self.refuse(
            node, f"{ast.unparse(node)}: is not defined at the top of a file that can be read"
        )

    # -- types and classes -------------------------------------------------------------------------

    def choices(self, node: ast.expr | None) -> tuple[str, ...]:
        """Return the values that a type lists; none if it is another type."""
        match node:
            case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=members)):
                each = [self._listed(member) for member in members]
                return tuple(value for values in each for value in values)
            case ast.Subscript(value=ast.Name(id="Literal"), slice=member):
                return self._listed(member)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                both = self.choices(left), self.choices(right)
                return (*both[0], *both[1]) if all(both) else ()
            case ast.Name() | ast.Attribute():
                found = self._found(node)
                match found:
                    case (where, ast.Assign(value=value)):
                        return where.choices(value)
                    case (where, ast.AnnAssign(value=ast.expr() as value)):
                        return where.choices(value)
        return ()

    def named_type(self, node: ast.expr | None) -> Reference:
        """Return the reference to a type that an annotation names."""
        found = None if node is None else self._found(node)
        match found:
            case (where, ast.ClassDef(name=name)):
                return where.reference(name)
            case (where, ast.Assign(targets=[ast.Name(id=name)])):
                return where.reference(name)
            case (where, ast.AnnAssign(target=ast.Name(id=name))):
                return where.reference(name)
        said = "no type" if node is None else ast.unparse(node)
        raise self.refuse(
            node or self.tree, f"{said}: expected a type at the top of a file that can be read"
        )

    def _listed(self, member: ast.expr) -> tuple[str, ...]:
        """Return a member of a `Literal`, or the members of a `Literal` in it."""
        return (str(member.value),) if isinstance(member, ast.Constant) else self.choices(member)

    def fields(self, node: ast.expr) -> dict[str, Any]:
        """Return the fields of a pydantic model with their defaults, those of its bases first."""
        found = self._found(node)
        match found:
            case (where, ast.Assign(value=ast.Name() as other)):
                return where.fields(other)
            case (where, ast.ClassDef(bases=bases, body=body)):
                known: dict[str, Any] = {}
                for base in bases:
                    known |= where.fields(base)
                for line in body:
                    match line:
                        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                            if not ast.unparse(line.annotation).startswith("ClassVar"):
                                known[name] = where.value(_default(value))
                return known
        return {}


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement defines."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            yield from (target.id for target in targets if isinstance(target, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)


def _default(node: ast.expr) -> ast.expr:
    """Return the default of a field: the value itself, or what `Field` is given."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Field":
        named = [k.value for k in node.keywords if k.arg == "default"]
        return [*node.args, *named][0]
    return node
