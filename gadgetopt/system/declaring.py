"""Parts declared above their functions: `@method(kind="exact")` and the like.

A part says in its decorator only what its function does not. Its name is the function's unless it
is given, or its file's if the function has the usual name of its kind, such as `build` or `draw`.
Its summary is the first line of the docstring without the full stop, its parameters and their
defaults are the function's arguments, and `Literal` annotations their allowed values. A method that
takes `rng` runs once for each seed; `limits` and `rng` are taken only where needed.

The library's own systems leave out the system, which is that of the folder; their parts are found
by reading the files (`gadgetopt.system.rooms`). Others name the system first.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from gadgetopt.errors import InputError
from gadgetopt.system.declaration import (
    GROUPS,
    Assumption,
    Exporter,
    Formulation,
    Generator,
    Guarantee,
    Importer,
    Kind,
    Method,
    ModelClass,
    Part,
    Picture,
    Statement,
    Strength,
    Trainer,
)
from gadgetopt.system.references import Adapted, Beside

F = TypeVar("F", bound=Callable[..., Any])

#: Attribute of a function that holds the declarations above it, from top to bottom.
MARK = "__gadgetopt_declared__"

_NAME = re.compile(r"[A-Za-z_][\w.+-]*")


def check_name(name: str, what: str) -> None:
    """Refuse a name that no specification could select."""
    if not _NAME.fullmatch(name) or name in GROUPS:
        kept = f", other than {', '.join(GROUPS)}" if name in GROUPS else ""
        raise InputError(f"{what} {name!r}: expected a name of letters, digits, _ . + -{kept}")


# -- what a part takes from its function -----------------------------------------------------------


@dataclass(frozen=True)
class Argument:
    """An argument of a function.

    Attributes
    ----------
    default : Any
        `inspect.Parameter.empty` for none.
    choices : tuple of str
        The values that its type lists; none for other types.
    only_keyword : bool
        True if it can be given by its name only.
    """

    name: str
    default: Any = inspect.Parameter.empty
    choices: tuple[str, ...] = ()
    only_keyword: bool = False


@dataclass(frozen=True)
class Described:
    """What a part takes from its function, which may be read but not imported.

    Attributes
    ----------
    name : str
    file : str
        The name of its module, without the packages above.
    summary : str
        The first line of the docstring, without the full stop.
    arguments : sequence of Argument
        Without those that collect others.
    function : callable
        The function or a reference to it.
    beside : callable
        `beside(name)` is a reference to another function of the same file.
    """

    name: str
    file: str
    summary: str
    arguments: Sequence[Argument]
    function: Callable[..., Any]
    beside: Callable[[str], Callable[..., Any]]


def summary_of(docstring: str | None) -> str:
    """Return the first line of a docstring without its full stop."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    return lines[0].strip().removesuffix(".") if lines else ""


def described(function: Any, what: str) -> Described:
    """Describe a function that is there.

    Raises
    ------
    InputError
        If it is none, or its arguments are not known.
    """
    if not callable(function):
        raise InputError(f"{what} {function!r}: expected a name or a function")
    name = str(getattr(function, "__name__", ""))
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InputError(f"{what} {name!r}: its arguments are not known") from None
    names = getattr(function, "__globals__", {})
    return Described(
        name,
        str(getattr(function, "__module__", "")).rpartition(".")[2],
        summary_of(inspect.getdoc(function)),
        [
            Argument(
                a.name,
                a.default,
                _choices(a.annotation, names) if isinstance(a.default, str) else (),
                a.kind is a.KEYWORD_ONLY,
            )
            for a in arguments
            if a.kind not in (a.VAR_POSITIONAL, a.VAR_KEYWORD)
        ],
        function,
        lambda other: Beside(function, other),
    )


def _choices(annotation: Any, names: dict[str, Any]) -> tuple[str, ...]:
    """Return the values that a type lists; none if it lists none, or is not known here."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, names)
        except Exception:  # a name that only a type checker imports
            return ()
    if get_origin(annotation) is Literal:
        return tuple(map(str, get_args(annotation)))
    if get_origin(annotation) in (Union, UnionType):
        each = [_choices(member, names) for member in get_args(annotation)]
        return tuple(value for values in each for value in values) if all(each) else ()
    return ()


# -- declarations ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How parts of a kind are made: the record, its function, the arguments that are always given.

    Attributes
    ----------
    some : tuple of str
        Arguments that are given where the function takes them.
    """

    record: type[Part]
    function: str
    given: tuple[str, ...] = ()
    some: tuple[str, ...] = ()


FORMS = {
    "method": Form(Method, "run", ("instance",), ("limits", "rng")),
    "formulation": Form(Formulation, "build"),
    "generator": Form(Generator, "generate", ("rng",)),
    "importer": Form(Importer, "read", ("files", "rng")),
    "exporter": Form(Exporter, "write", ("instance", "solution")),
    "guarantee": Form(Guarantee, "ratio"),
    "picture": Form(Picture, "draw"),
    "statement": Form(Statement, "check"),
    "trainer": Form(Trainer, "start", ("seed",)),
}


@dataclass(frozen=True)
class Declaration:
    """What stands above a function: the decorator that `method` and the others return."""

    kind: str
    system: str
    given: Mapping[str, Any]

    def __call__(self, function: F) -> F:
        """Declare the function, and return it."""
        self.part(described(function, self.kind))
        setattr(function, MARK, (self, *getattr(function, MARK, ())))
        return function

    def part(self, function: Described) -> Any:
        """Return the part that a function is with this declaration.

        Raises
        ------
        InputError
            If a value is not allowed, or the function needs other arguments.
        """
        form = FORMS[self.kind]
        known = {f.name for f in fields(form.record)}
        values = {k: v for k, v in self.given.items() if k in known}
        name = self.given.get("name") or self._name_of(function)
        if name in ("", "<lambda>"):
            raise InputError(
                f"{self.kind}: has no name, expected gadgetopt.{self.kind}(SYSTEM, NAME)(function)"
            )
        values["format" if form.record in (Importer, Exporter) else "name"] = name
        if "summary" in known and values["summary"] is None:
            values["summary"] = function.summary
        values[form.function] = function.function
        if form.given:
            self._add_arguments(values, function, form, f"{self.kind} {name!r}")
        if form.record in (Method, Formulation):
            check_name(name, self.kind)
        if form.record is Formulation:
            values["decode"] = _decoder(values["decode"], values["strength"], function)
            if isinstance(values["form"], str):
                values["form"] = function.beside(values["form"])
        if form.record is Exporter:
            own = "read_back" if function.name == form.function else f"read_{function.name}"
            values["read_back"] = values["read_back"] or own
            if values["drops"]:
                values["kept"] = values["kept"] or "kept"
            for other in ("read_back", "kept"):
                if isinstance(values[other], str):
                    values[other] = function.beside(values[other])
        if form.record is Statement:
            values["verdict"] = "holds" if values["grade"] == "holds" else "refuted"
            values["counterexample"] = bool(function.arguments)
        if form.record is Guarantee:
            values["assumptions"] = tuple(
                Assumption(text, holds) for text, holds in values["assumptions"].items()
            )
        return form.record(**values)

    def _name_of(self, function: Described) -> str:
        """Return the name that is not given: the function's, or the file's of a usual `build`."""
        if function.name == FORMS[self.kind].function:
            return function.file
        hyphened = self.kind in ("statement", "exporter")
        return function.name.replace("_", "-") if hyphened else function.name

    def _add_arguments(
        self, values: dict[str, Any], function: Described, form: Form, what: str
    ) -> None:
        """Add the parameters, and for a method which of limits and seed it takes."""
        given = function.arguments[: len(form.given)]
        if len(given) < len(form.given) or any(a.only_keyword for a in given):
            raise InputError(f"{what}: takes nothing, expected the {' and the '.join(form.given)}")
        takes, parameters, choices = {}, {}, {}
        for argument in function.arguments[len(form.given) :]:
            bare = argument.name.lstrip("_")
            if bare in form.some:
                takes[bare] = argument.name
            elif argument.default is inspect.Parameter.empty:
                wanted = ", ".join([f"the {form.given[0]}", *form.given[1:], *form.some])
                raise InputError(
                    f"{what}: needs {argument.name!r}, expected {wanted} and parameters with "
                    "defaults"
                )
            else:
                parameters[argument.name] = argument.default
                if argument.choices:
                    choices[argument.name] = argument.choices
        parameters |= self.given.get("options") or {}
        values["parameters"] = parameters
        if form.record is not Trainer:
            values["choices"] = choices
        if form.record is Method:
            values["stochastic"] = "rng" in takes
            values[form.function] = Adapted(function.function, takes)


def _decoder(decode: Any, strength: str, function: Described) -> Any:
    """Return the function that decodes a formulation: by default `decode` of the same file."""
    if decode is None and strength != "relaxation":
        decode = "decode"
    return function.beside(decode) if isinstance(decode, str) else decode


def declarations(function: Any) -> tuple[Declaration, ...]:
    """Return what is declared above a function, from top to bottom."""
    found: tuple[Declaration, ...] = getattr(function, "__dict__", {}).get(MARK, ())
    return found


# -- decorators ------------------------------------------------------------------------------------
#
# Each takes the system, which the library's own parts leave out, and the name, by default the
# function's; and returns a decorator that returns the function itself.


def method(
    system: str = "",
    name: str | None = None,
    *,
    kind: Kind = "heuristic",
    summary: str | None = None,
    reference: str = "",
    formulation: str | None = None,
    backend: str | None = None,
    files: tuple[str, ...] = (),
) -> Declaration:
    """Declare a function as a method of a system.

    The function is `(instance)`, with `limits` and `rng` after it where it wants them, and with its
    parameters and their defaults. It returns a solution of the system, None if it finds none, or a
    `gadgetopt.system.result.MethodOutcome`. It runs once for each seed if it takes `rng`.

    Parameters
    ----------
    system : str
        The system's name; the library's own parts leave it out.
    name : str, optional
        Default: the function's name.
    kind : str
        "exact", "relaxation", "approximation", "online", "heuristic" or "baseline".
    summary : str, optional
        Default: the first line of its docstring.
    reference : str
        Where it comes from.
    formulation, backend : str, optional
        What its bounds rest on.
    files : tuple of str
        The parameters that are paths of policies.

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
    return Declaration("method", system, _given(locals()))


def formulation(
    system: str = "",
    name: str | None = None,
    *,
    model_class: ModelClass,
    equations: str,
    strength: Strength = "exact",
    backends: tuple[str, ...] = ("highs",),
    summary: str | None = None,
    decode: Callable[..., Any] | str | None = None,
    objective_error: Fraction = Fraction(0),
    form: Callable[..., Any] | str | None = None,
) -> Declaration:
    """Declare a function `build(instance)` as a formulation of a system.

    `decode` and `form` are functions or names of functions of the same file; `decode` is by default
    the one of that name, and none for a relaxation. The other values are those of
    `gadgetopt.system.declaration.Formulation`.
    """
    return Declaration("formulation", system, _given(locals()))


def generator(
    system: str = "", name: str | None = None, *, summary: str | None = None
) -> Declaration:
    """Declare a function `(rng, **parameters) -> instance` as a preset of instances."""
    return Declaration("generator", system, _given(locals()))


def importer(
    system: str = "",
    name: str | None = None,
    *,
    summary: str | None = None,
    options: Any = None,
    help: Mapping[str, str] | None = None,  # noqa: A002
    suffixes: tuple[str, ...] = (),
    objects: tuple[str, ...] = (),
) -> Declaration:
    """Declare a function `(files, rng, **options)` as an importer of real data.

    `options` is the pydantic model that a function with `**options` checks them with; its fields
    are the parameters. `help` explains those that are not obvious. Files whose names end in one of
    `suffixes`, such as ".mps", are instances wherever one is taken; such a function makes one
    instance of one file. `objects` names packages whose objects it takes in place of files.
    """
    model = getattr(options, "model_fields", None)
    if model is not None:
        options = {field: model[field].get_default() for field in model}
    return Declaration("importer", system, {**_given(locals()), "help": help or {}})


def exporter(
    system: str = "",
    name: str | None = None,
    *,
    suffixes: tuple[str, ...],
    summary: str | None = None,
    drops: str = "",
    kept: Callable[..., Any] | str | None = None,
    read_back: Callable[..., Any] | str | None = None,
    help: Mapping[str, str] | None = None,  # noqa: A002
) -> Declaration:
    """Declare a function `(instance, solution, **parameters)` as an exporter of solutions.

    Its format is named after it with hyphens. `read_back` and `kept` are functions or names of
    functions of the same file: by default `chrome_trace` is read by `read_chrome_trace`, `write` by
    `read_back`, and what `drops` something has `kept` beside it. The other values are those of
    `gadgetopt.system.declaration.Exporter`.
    """
    return Declaration("exporter", system, {**_given(locals()), "help": help or {}})


def guarantee(
    system: str = "",
    name: str | None = None,
    *,
    statement: str,
    methods: tuple[str, ...],
    standing: Literal["proven", "claimed"] = "proven",
    reference: str = "",
    assumptions: Mapping[str, Callable[..., bool]] | None = None,
) -> Declaration:
    """Declare a function `(instance, parameters)` as the ratio that a theorem promises.

    `assumptions` gives each condition in words and as a predicate `(instance, parameters)`. The
    other values are those of `gadgetopt.system.declaration.Guarantee`.
    """
    return Declaration("guarantee", system, {**_given(locals()), "assumptions": assumptions or {}})


def picture(
    system: str = "",
    name: str | None = None,
    *,
    summary: str | None = None,
    of: Literal["solution", "instance"] = "solution",
) -> Declaration:
    """Declare a function `(instance, solution)` or `(instance)` that draws a plotly figure."""
    return Declaration("picture", system, _given(locals()))


def statement(
    system: str = "",
    name: str | None = None,
    *,
    source: str,
    statement: str,
    grade: Literal[
        "refuted", "dimensions", "ambiguous", "contradiction", "not reproducible", "holds"
    ] = "holds",
    repair: str = "",
    proof: str = "",
    command: str = "",
    reconstructed: bool = False,
) -> Declaration:
    """Declare a function as the check of a paper's statement, named after it with hyphens.

    A function that takes an argument is given the counterexample; a statement holds unless it is
    graded.
    The values are those of `gadgetopt.system.declaration.Statement`.
    """
    return Declaration("statement", system, _given(locals()))


def trainer(
    system: str = "",
    name: str | None = None,
    *,
    methods: tuple[str, ...],
    presets: Mapping[str, Mapping[str, Any]],
    summary: str | None = None,
) -> Declaration:
    """Declare a function `start(seed, **parameters)` as a trainer of policies.

    The values are those of `gadgetopt.system.declaration.Trainer`.
    """
    return Declaration("trainer", system, _given(locals()))


DECORATORS: dict[str, Callable[..., Declaration]] = {
    "method": method,
    "formulation": formulation,
    "generator": generator,
    "importer": importer,
    "exporter": exporter,
    "guarantee": guarantee,
    "picture": picture,
    "statement": statement,
    "trainer": trainer,
}


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return what a decorator was given, without the system."""
    return {name: value for name, value in values.items() if name != "system"}
