"""What others add to a system: extensions, and functions declared as methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, TypeVar

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import (
    Checked,
    Formulation,
    Generator,
    Guarantee,
    Importer,
    Kind,
    Method,
    Origin,
    Part,
    Picture,
    Problem,
    Trainer,
)
from gadgetopt.system.methods import GROUPS, methods

F = TypeVar("F", bound=Callable[..., Any])

#: The fields of an extension that hold parts. Guarantees come after the methods they are about.
ROOMS: dict[str, type[Part]] = {
    "formulations": Formulation,
    "methods": Method,
    "guarantees": Guarantee,
    "generators": Generator,
    "importers": Importer,
    "pictures": Picture,
    "trainers": Trainer,
}

#: Attribute of a function that `method` has declared.
_MARK = "__gadgetopt_method__"

_NAME = re.compile(r"[A-Za-z_][\w.+-]*")


@dataclass(frozen=True, kw_only=True)
class Extension(Checked):
    """Parts that are added to a system without touching it.

    Attributes
    ----------
    problem : str
        The system's name; empty for every system.
    formulations, methods, guarantees, generators, importers, pictures, trainers : tuple
        As a `Problem` declares them. A guarantee may be about the system's own methods, too.
    origin : Origin or None
        Set by the toolkit.
    """

    problem: str = dataclass_field(kw_only=False)
    formulations: tuple[Formulation, ...] = ()
    methods: tuple[Method, ...] = ()
    guarantees: tuple[Guarantee, ...] = ()
    generators: tuple[Generator, ...] = ()
    importers: tuple[Importer, ...] = ()
    pictures: tuple[Picture, ...] = ()
    trainers: tuple[Trainer, ...] = ()
    origin: Origin | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for room, kind in ROOMS.items():
            for k, part in enumerate(getattr(self, room)):
                if not isinstance(part, kind):
                    given, wanted = type(part).__name__, kind.__name__
                    raise InputError(f"{self._label}: {room}[{k}]: a {given}, expected a {wanted}")
        for part in (*self.methods, *self.formulations):
            check_name(_name(part), _noun(part))

    @property
    def _label(self) -> str:
        return f"Extension of {self.problem!r}"

    def placed(self, origin: Origin) -> Extension:
        """Return the extension with the origin of all its parts."""
        parts: dict[str, Any] = {
            room: tuple(replace(part, origin=origin) for part in getattr(self, room))
            for room in ROOMS
        }
        return replace(self, **parts, origin=origin)


def check_name(name: str, what: str) -> None:
    """Refuse a name that no specification could select."""
    if not _NAME.fullmatch(name) or name in GROUPS:
        kept = f", other than {', '.join(GROUPS)}" if name in GROUPS else ""
        raise InputError(f"{what} {name!r}: expected a name of letters, digits, _ . + -{kept}")


def joined(problem: Problem, extension: Extension) -> tuple[Problem, list[str]]:
    """Return a problem with the parts of an extension, and a line for each part left out.

    A part is left out if the problem has one of its name, a guarantee if the problem lacks its
    method.
    """
    left_out = []
    for room in ROOMS:
        for part in getattr(extension, room):
            why = _obstacle(problem, room, part)
            if why is None:
                with_it: dict[str, Any] = {room: (*getattr(problem, room), part)}
                problem = replace(problem, **with_it)
            else:
                left_out.append(f"{_noun(part)} {_name(part)!r}: {why}")
    return problem, left_out


def _name(part: Any) -> str:
    return str(part.format if isinstance(part, Importer) else part.name)


def _noun(part: Part) -> str:
    return type(part).__name__.lower()


def _obstacle(problem: Problem, room: str, part: Any) -> str | None:
    """Return why a part cannot be added, if so."""
    known = {m.name: m for m in methods(problem)}
    same: list[Any]
    if isinstance(part, Guarantee):
        for method in part.methods:
            if method not in known:
                return f"it is about {method!r}, and {problem.name} has no method of that name"
        same = [
            g for g in problem.guarantees if g.name == part.name and {*g.methods} & {*part.methods}
        ]
    elif isinstance(part, Method):
        same = [known[part.name]] if part.name in known else []
    else:
        same = [p for p in getattr(problem, room) if _name(p) == _name(part)]
    if not same:
        return None
    origin = same[0].origin
    return f"{problem.name if origin is None else origin.label} has one of that name"


def merged(extensions: Iterable[Extension]) -> tuple[Extension, ...]:
    """Return one extension for each system, so that a guarantee finds its methods."""
    found: dict[str, Extension] = {}
    for extension in extensions:
        before = found.setdefault(extension.problem, extension)
        if before is not extension:
            both: dict[str, Any] = {
                room: (*getattr(before, room), *getattr(extension, room)) for room in ROOMS
            }
            found[extension.problem] = replace(before, **both)
    return tuple(found.values())


def extensions_in(value: Any) -> tuple[Extension, ...]:
    """Return what an entry point or a plug-in declares.

    Parameters
    ----------
    value : Extension, tuple of Extension, or module
        Of a module the functions that `method` declares, and its `EXTENSION`.

    Raises
    ------
    InputError
        If it declares nothing, or something else.
    """
    if inspect.ismodule(value):
        names = vars(value)
        functions = {id(f): f for f in names.values() if callable(f) and _MARK in _vars(f)}
        found = [extension_of(f) for f in functions.values()]
        given = names.get("EXTENSION", ())
    else:
        found, given = [], value
    for extension in given if isinstance(given, tuple | list) else (given,):
        if not isinstance(extension, Extension):
            raise InputError(f"is of type {type(extension).__name__}, expected Extension")
        found.append(extension)
    if not found:
        raise InputError(
            'declares nothing, expected a function after @gadgetopt.method("SYSTEM") or EXTENSION'
        )
    return merged(found)


def _vars(value: Any) -> Mapping[str, Any]:
    return getattr(value, "__dict__", {})


# -- functions as methods --------------------------------------------------------------------------


def method(
    system: str,
    name: str | None = None,
    *,
    kind: Kind = "heuristic",
    summary: str | None = None,
    reference: str = "",
    stochastic: bool | None = None,
    choices: Mapping[str, tuple[str, ...]] | None = None,
) -> Callable[[F], F]:
    """Declare a function as a method of a system.

    The function is `(instance)`, with `limits` and `rng` after it where it wants them, and with its
    parameters and their defaults. It returns a solution of the system, None if it finds none, or a
    `gadgetopt.system.result.MethodOutcome`.

    Parameters
    ----------
    system : str
        The system's name.
    name : str, optional
        Default: the function's name.
    kind : str
        "exact", "relaxation", "approximation", "online", "heuristic" or "baseline".
    summary : str, optional
        Default: the first line of its docstring.
    reference : str
        Where it comes from.
    stochastic : bool, optional
        Whether it runs once for each seed; default: whether it takes `rng`.
    choices : mapping, optional
        The allowed values of enumerated parameters.

    Returns
    -------
    callable
        A decorator that returns the function itself.

    Raises
    ------
    InputError
        If a value is not allowed, or the function needs other arguments.

    Examples
    --------
    ::

        @gadgetopt.method("sjf_bco")
        def lpt(instance):
            ...
    """
    given: dict[str, Any] = {
        "name": name,
        "kind": kind,
        "summary": summary,
        "reference": reference,
        "stochastic": stochastic,
        "choices": choices or {},
    }

    def declare(function: F) -> F:
        _as_method(function, **given)
        setattr(function, _MARK, (system, given))
        return function

    return declare


def as_method(function: Callable[..., Any] | Method) -> tuple[str, Method]:
    """Return the system and the method that a function stands for.

    The system is empty for a function without `gadgetopt.method`, which is tried on any.

    Raises
    ------
    InputError
        If the function cannot be a method.
    """
    if isinstance(function, Method):
        return "", function
    system, given = _vars(function).get(_MARK, ("", {}))
    return system, _as_method(function, **given)


def extension_of(function: Callable[..., Any] | Method) -> Extension:
    """Return the extension that adds a function as a method."""
    system, declared = as_method(function)
    return Extension(system, methods=(declared,))


def _as_method(
    function: Any,
    name: str | None = None,
    kind: Kind = "heuristic",
    summary: str | None = None,
    reference: str = "",
    stochastic: bool | None = None,
    choices: Mapping[str, tuple[str, ...]] | None = None,
) -> Method:
    name = str(name or getattr(function, "__name__", ""))
    if not callable(function):
        raise InputError(f"method {function!r}: expected a name or a function")
    if name in ("", "<lambda>"):
        raise InputError("method: has no name, expected gadgetopt.method(SYSTEM, NAME)(function)")
    check_name(name, "method")
    adapted = Adapted(function, name)
    documented = (inspect.getdoc(function) or "").splitlines() or [""]
    return Method(
        name,
        kind=kind,
        summary=documented[0] if summary is None else summary,
        reference=reference,
        run=adapted,
        parameters=adapted.parameters,
        choices=choices or {},
        stochastic="rng" in adapted.takes if stochastic is None else stochastic,
    )


class Adapted:
    """A function with the arguments of a method, given those that it takes.

    Attributes
    ----------
    takes : dict
        Of `limits` and `rng`, those it takes, with its own names for them.
    parameters : dict
        Its parameters with their defaults.
    """

    def __init__(self, function: Callable[..., Any], name: str):
        self.function = function
        self.takes: dict[str, str] = {}
        self.parameters: dict[str, Any] = {}
        try:
            arguments = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            raise InputError(f"method {name!r}: its arguments are not known") from None
        if not arguments or arguments[0].kind is inspect.Parameter.KEYWORD_ONLY:
            raise InputError(f"method {name!r}: takes nothing, expected the instance")
        for argument in arguments[1:]:
            bare = argument.name.lstrip("_")
            if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
                continue
            if bare in ("limits", "rng"):
                self.takes[bare] = argument.name
            elif argument.default is not argument.empty:
                self.parameters[argument.name] = argument.default
            else:
                raise InputError(
                    f"method {name!r}: needs {argument.name!r}, expected the instance, limits, "
                    "rng and parameters with defaults"
                )

    def __call__(self, instance: Any, limits: Any, rng: Any, **parameters: Any) -> Any:
        """Call the function."""
        given = {"limits": limits, "rng": rng}
        taken = {own: given[bare] for bare, own in self.takes.items()}
        return self.function(instance, **taken, **parameters)
