"""Types of the parts that a system declares: a problem is a bundle of them, a method a function.

Everything after a part's name is given by keyword, so that a declaration labels its values.
"""

from __future__ import annotations

import copy
import functools
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Self, get_args, get_origin, get_type_hints

from gadgetopt.errors import InputError
from gadgetopt.numbers.pyomo_numbers import know_fractions
from gadgetopt.numbers.tolerance import Number, round_down, round_up
from gadgetopt.system.display import Displayed
from gadgetopt.system.references import Reference, resolved

__all__ = [
    "GROUPS", "KINDS", "PARTS", "Assumption", "Checked", "Citation", "Exporter", "Formulation",
    "Generator", "Guarantee", "Importer", "Kind", "Method", "ModelClass", "Origin", "Part",
    "Picture", "Problem", "Reference", "Sense", "Statement", "Strength", "Trainer", "integral",
    "resolved",
]  # fmt: skip

Sense = Literal["min", "max"]
ModelClass = Literal["LP", "ILP", "MILP", "MINLP", "GDP"]
Strength = Literal["exact", "relaxation", "restriction"]
Kind = Literal["exact", "relaxation", "approximation", "online", "heuristic", "baseline"]
KINDS: tuple[Kind, ...] = (
    "exact",
    "relaxation",
    "approximation",
    "online",
    "heuristic",
    "baseline",
)
#: Words that select several methods at once.
GROUPS = ("all", "default", *KINDS)


@functools.cache  # reading annotations takes a hundred times as long as the checks
def _checks(part: type) -> tuple[tuple[str, tuple[Any, ...], bool], ...]:
    """Return the enumerated fields of a part with their values, and its tuples."""
    hints = [(name, get_origin(hint), hint) for name, hint in get_type_hints(part).items()]
    return tuple(
        (name, get_args(hint) if origin is Literal else (), origin is tuple)
        for name, origin, hint in hints
        if origin in (Literal, tuple)
    )


class Checked:
    """A part that checks its enumerated fields and its tuples."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, allowed, is_tuple in _checks(kind):
            value = getattr(self, name)
            if allowed and value not in allowed:
                known = ", ".join(map(repr, allowed))
                raise InputError(f"{self._label}: {name}: {value!r}, expected one of {known}")
            if is_tuple and not isinstance(value, tuple):
                raise InputError(f"{self._label}: {name}: {value!r}, expected a tuple")

    @property
    def _label(self) -> str:
        return f"{type(self).__name__} {getattr(self, 'name', '')!r}"


@dataclass(frozen=True)
class Origin:
    """Where a part comes from that its system does not declare itself.

    Attributes
    ----------
    label : str
        The name of the file or distribution; stands in brackets after the part's own name.
    code : str
        Name and digest of the source; empty for a distribution, whose files are looked up.
    """

    label: str
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Part(Checked):
    """A named part of a system.

    Attributes
    ----------
    origin : Origin or None
        None for the parts that the system itself declares.
    room : str
        The folder of the system that it was found in, such as `proving/exact`.
    """

    origin: Origin | None = None
    room: str = field(default="", compare=False)


@dataclass(frozen=True)
class Citation:
    """The publication that a system comes from."""

    authors: str
    title: str
    venue: str
    year: int
    doi: str | None = None
    arxiv: str | None = None


@dataclass(frozen=True, kw_only=True)
class Generator(Part):
    """A preset of instances: `(rng, **parameters) -> instance`.

    `parameters` holds the defaults, `choices` the allowed values of enumerated parameters.
    """

    name: str = field(kw_only=False)
    summary: str
    generate: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Importer(Part):
    """Converts real data into instances: `(files, rng, **options) -> ImportOutcome`.

    `help` explains options that are not obvious; `list SYSTEM --all` prints it. A file whose name
    ends in one of `suffixes`, such as ".mps", packed or not, is an instance as it stands: it is
    read with the defaults wherever a file of an instance is taken. So is, in Python, an object of
    one of the packages `objects`, such as "pyomo", which `read` is given in place of a file.
    """

    format: str = field(kw_only=False)
    summary: str
    read: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)
    suffixes: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exporter(Part):
    """Writes solutions in a format that something else executes, and reads them back.

    Attributes
    ----------
    write : callable
        `write(instance, solution, **parameters) -> Exported` (`gadgetopt.pieces.exporting`). What
        the format cannot say is refused by an `InputError` of one sentence that says what to do
        instead.
    read_back : callable
        `read_back(instance, files) -> solution`, from the files of an `Exported`. It is strict:
        anybody's files are read by it.
    suffixes : tuple of str
        What the names of the files end with, that of the main file first; a `*` stands for what
        differs among several, such as the rank in ".*.et".
    drops : str
        What of a solution the files do not say, and what stands in for it; empty if nothing.
    kept : callable or None
        `kept(instance, solution, **parameters) -> solution`: the solution as the files say it,
        which reading them has to give back with its objective. None if they drop nothing.
    """

    format: str = field(kw_only=False)
    summary: str
    write: Callable[..., Any]
    read_back: Callable[..., Any]
    suffixes: tuple[str, ...]
    drops: str = ""
    kept: Callable[..., Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    help: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.suffixes:
            raise InputError(f"exporter {self.format!r}: suffixes: none, expected that of a file")
        if bool(self.drops) != (self.kept is not None):
            raise InputError(
                f"exporter {self.format!r}: drops: expected in words if there is a `kept`, which "
                "says the same as a function, and only then"
            )


@dataclass(frozen=True, kw_only=True)
class Formulation(Part):
    """A formulation of a problem as a Pyomo model.

    Attributes
    ----------
    build : callable
        `build(instance) -> pyomo.ConcreteModel`.
    decode : callable or None
        `decode(model, instance) -> Solution`, from the values of the model's variables; None for a
        relaxation whose values are not a decision.
    form : callable or None
        `form(instance) -> StandardForm` for a formulation whose arrays and exact numbers are the
        instance's own, which then needs no Pyomo model to be solved or proved. Its columns and rows
        have names, and `decode(values, instance)` is given the values of its columns, exact where
        they are known exactly.
    strength : "exact", "relaxation" or "restriction"
        How its optimum compares with the problem's.
    backends : tuple of str
        Each gives a method `name@backend`.
    equations : str
        The numbers of the equations it implements.
    objective_error : Fraction
        Most relative error of a coefficient of the objective that is a rounded real number, such as
        a utility's; proved bounds are weakened by it.
    """

    name: str = field(kw_only=False)
    model_class: ModelClass
    strength: Strength
    summary: str
    equations: str
    build: Callable[..., Any]
    decode: Callable[..., Any] | None
    backends: tuple[str, ...]
    objective_error: Fraction = Fraction(0)
    form: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        know_fractions()  # for a function of a plug-in


@dataclass(frozen=True, kw_only=True)
class Method(Part):
    """A function `(instance, limits, rng, **parameters) -> MethodOutcome` with its properties.

    `choices` lists the allowed values of enumerated parameters. `formulation` and `backend` say
    what a bound of this method rests on: two bounds confirm each other if they differ in one of the
    two. `files` names the parameters that are paths of policies (`gadgetopt.system.training`),
    empty for none: the content of the file belongs to what was run. `read_options(backend,
    assignments, what)` reads options of the solver instead of parameters.
    """

    name: str = field(kw_only=False)
    kind: Kind
    summary: str
    reference: str
    run: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stochastic: bool = False
    formulation: str | None = None
    backend: str | None = None
    files: tuple[str, ...] = ()
    read_options: Callable[..., Any] | None = None


@dataclass(frozen=True)
class Assumption:
    """A condition of a theorem as a predicate `(instance, parameters) -> bool`."""

    text: str
    holds: Callable[..., bool]


@dataclass(frozen=True, kw_only=True)
class Guarantee(Part):
    """A theorem about methods: the ratio that it promises, as a function of the instance.

    Attributes
    ----------
    ratio : callable
        `(instance, parameters) -> Number or None`, with the parameters of the method it is about;
        None if the theorem gives no finite bound.
    standing : "proven" or "claimed"
        A claimed ratio is compared with measurements and reported if refuted, but never relied
        upon.
    methods : tuple of str
        The methods it is about.
    """

    name: str = field(kw_only=False)
    statement: str
    reference: str
    standing: Literal["proven", "claimed"]
    methods: tuple[str, ...]
    ratio: Callable[..., Any]
    assumptions: tuple[Assumption, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Statement(Part):
    """A statement of a paper that was checked: `gadgetopt errata SYSTEM/NAME` checks it again.

    Attributes
    ----------
    source : str
        Where the paper says it.
    statement : str
        What it says, in our words.
    verdict : "holds" or "refuted"
        What the check finds.
    grade : str
        How it fails: "refuted" by an exact counterexample, "dimensions" that do not fit,
        "ambiguous" text, "contradiction" with the paper's own text or figures, "not reproducible";
        "holds" otherwise.
    check : callable
        `check(counterexample) -> gadgetopt.trust.statements.Finding`, `check()` without one.
    repair : str
        What holds instead.
    proof : str
        Why the repair holds: its proof, or where that is.
    counterexample : bool
        True if an instance shows it: `instances/errata/SYSTEM/NAME.json`, which `check` is given.
        Statements that arithmetic decides have none.
    command : str
        A plain command that shows it, too, without its `gadgetopt`; `{}` is the counterexample.
    reconstructed : bool
        True if the paper's text was not at hand: the entry is about our reconstruction.
    """

    name: str = field(kw_only=False)
    source: str
    statement: str
    verdict: Literal["holds", "refuted"]
    grade: Literal[
        "refuted", "dimensions", "ambiguous", "contradiction", "not reproducible", "holds"
    ]
    check: Callable[..., Any]
    repair: str = ""
    proof: str = ""
    counterexample: bool = False
    command: str = ""
    reconstructed: bool = False


@dataclass(frozen=True, kw_only=True)
class Trainer(Part):
    """Trains a policy, which methods then read from a file: `gadgetopt train SYSTEM NAME`.

    Attributes
    ----------
    start : callable
        `start(seed, **parameters) -> Training`, a training at its beginning
        (`gadgetopt.system.training.Training`).
    methods : tuple of str
        The methods that read its policies.
    parameters : mapping
        The defaults.
    presets : mapping
        By name, the parameters that differ from the defaults; `small` is always there.
    """

    name: str = field(kw_only=False)
    summary: str
    start: Callable[..., Any]
    methods: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    presets: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        super().__post_init__()
        if "small" not in self.presets:
            raise InputError(
                f"{self._label}: presets: no 'small' (it has: {', '.join(self.presets)})"
            )
        for preset, given in self.presets.items():
            for name in given:
                if name not in self.parameters:
                    raise InputError(f"{self._label}: presets: {preset}: no parameter {name!r}")


@dataclass(frozen=True, kw_only=True)
class Picture(Part):
    """A plotly figure, `draw(instance, solution)` or `draw(instance)`."""

    name: str = field(kw_only=False)
    summary: str
    draw: Callable[..., Any]
    of: Literal["solution", "instance"] = "solution"


#: The fields of a problem that hold its parts.
PARTS = (
    "generators",
    "importers",
    "exporters",
    "formulations",
    "methods",
    "guarantees",
    "pictures",
    "trainers",
    "statements",
)
#: The fields of a problem that hold its functions and types.
CONTRACT = (
    "instance_type",
    "solution_type",
    "evaluate",
    "size",
    "features",
    "certificate_type",
    "check_bound",
    "from_graph",
)
_parts_of = Reference("gadgetopt.system", "rooms:parts_of")
_contract_of = Reference("gadgetopt.system", "rooms:contract_of")
_claimants_of = Reference("gadgetopt.system", "rooms:claimants_of")


def _not_given() -> Any:
    """Return what stands for a function or type that is not given, in place of a default."""
    return Ellipsis


@dataclass(frozen=True, repr=False)
class Problem(Checked, Displayed):
    """One system: everything that the toolkit needs to know about it.

    Attributes
    ----------
    package : str
        The package, `__name__`, whose files have the functions and types that are not given, and
        declare the parts above their functions. They are read when the first of them is asked for
        (`gadgetopt.system.rooms`). Empty if all are given.
    sense : "min", "max" or callable
        A function of the instance where instances differ in it; `on` has the instance's own.
    integral_objective : bool
        True if the objective takes integer values only, so that dual bounds may be rounded.
    size : callable
        `(instance) -> dict` of the numbers that describe an instance's size; by default `size` of
        the package's `instance.py`.
    features : callable or None
        `(instance) -> dict` of numbers that describe its difficulty beyond its size, such as load,
        tightness and heterogeneity, in linear time. Ratios are plotted against these.
    fixed_part : str
        Name of the feature that is a part of every objective which no decision changes, in the
        objective's unit, such as the release dates in a sum of completion times; empty if there is
        none. Ratios of what is left of the objective, net ratios, are then reported too.
    objective_limit : str
        Name of the instance's field that no solution's objective is worse than, such as
        `horizon_slots`; a dual bound beyond it proves that there is no solution. Empty if there is
        none.
    default_method : str
        The method that `solve` runs by default.
    default_methods : tuple of str
        The methods that `compare` runs by default: the paper's algorithm, its competitors, and
        methods that certify the ratio.
    renamed : mapping of str to str
        What a specification was before, and the one that does the same now: the key is a method's
        former name, or a method with a former parameter, `name:key` or `name:key=value`. Who asks
        for it is told the new name.
    removed : mapping of str to str
        Methods that are no longer there, and the one to take instead; who asks is told so.
    certificate_type : callable or None
        Type of the system's certificates of dual bounds.
    check_bound : callable or None
        `(instance, certificate) -> Number or None`: the dual bound that a certificate proves,
        without a solver.
    from_graph : callable or None
        `(graph) -> dict` of the fields of an instance that a graph is, built node by node
        (`gadgetopt.Builder`); by default `fields_of` of the package's `data/from_graph.py`.
    pictures : tuple of Picture
        The first is what `solve --plot` draws.
    trainers : tuple of Trainer
        The first is what `train` runs by default.
    statements : tuple of Statement
        Statements of the paper that were checked, those that hold and those that do not.
    """

    name: str
    title: str
    citation: Citation
    sense: Sense | Callable[[Any], Sense]
    objective: str
    # Without a default in the class, so that what is not given is looked for by `__getattr__`.
    instance_type: Callable[..., Any] = field(default_factory=_not_given)
    solution_type: Callable[..., Any] = field(default_factory=_not_given)
    evaluate: Callable[..., Any] = field(default_factory=_not_given)
    size: Callable[..., dict[str, int]] = field(default_factory=_not_given)
    features: Callable[..., Mapping[str, float]] | None = field(default_factory=_not_given)
    integral_objective: bool = False
    fixed_part: str = ""
    objective_limit: str = ""
    generators: tuple[Generator, ...] = field(default_factory=tuple)
    importers: tuple[Importer, ...] = field(default_factory=tuple)
    exporters: tuple[Exporter, ...] = field(default_factory=tuple)
    formulations: tuple[Formulation, ...] = field(default_factory=tuple)
    methods: tuple[Method, ...] = field(default_factory=tuple)
    guarantees: tuple[Guarantee, ...] = field(default_factory=tuple)
    default_method: str = ""
    default_methods: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    removed: Mapping[str, str] = field(default_factory=dict)
    certificate_type: Callable[..., Any] | None = field(default_factory=_not_given)
    check_bound: Callable[..., Any] | None = field(default_factory=_not_given)
    from_graph: Callable[..., dict[str, Any]] | None = field(default_factory=_not_given)
    pictures: tuple[Picture, ...] = field(default_factory=tuple)
    trainers: tuple[Trainer, ...] = field(default_factory=tuple)
    statements: tuple[Statement, ...] = field(default_factory=tuple)
    package: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.sense) and self.sense not in get_args(Sense):
            raise InputError(
                f"{self._label}: sense: {self.sense!r}, expected one of 'min', 'max', or a function"
            )
        self._take_given()
        if self.package and not any(getattr(self, kind) for kind in PARTS):
            for kind in PARTS:
                object.__delattr__(self, kind)
        else:
            self._check_names()

    def _take_given(self) -> None:
        """Leave what is not given to the files of the package; without one, fill it in."""
        for name in CONTRACT:
            if getattr(self, name) is not Ellipsis:
                continue
            if self.package:
                object.__delattr__(self, name)
            elif name in ("features", "certificate_type", "check_bound", "from_graph"):
                object.__setattr__(self, name, None)
            else:
                raise InputError(
                    f"{self._label}: {name}: missing, expected it or a package that has it"
                )

    def claims(self) -> dict[str, str]:
        """Return suffixes of files, and packages of objects, that are instances as they stand.

        Each has the format of its importer.
        """
        known = "importers" in self.__dict__
        importers = self.importers if known else _claimants_of(self.package)
        return {claim: i.format for i in importers for claim in (*i.suffixes, *i.objects)}

    @property
    def verb(self) -> str:
        """What is done to the objective."""
        return "minimise or maximise" if callable(self.sense) else f"{self.sense}imise"

    def on(self, instance: Any) -> Self:
        """Return the problem with the sense that it has on an instance."""
        if not callable(self.sense):
            return self
        sense = self.sense(instance)
        known: dict[str, Self] = self.__dict__.setdefault("_by_sense", {})
        if sense not in known:
            _ = self.methods  # read once for both
            known[sense] = copy.copy(self)
            object.__setattr__(known[sense], "sense", sense)
        return known[sense]

    if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any attribute

        def __getattr__(self, name):
            """Read the system's files when the first of what is not given is asked for."""
            if name not in (*PARTS, *CONTRACT) or "package" not in self.__dict__:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            read = _parts_of if name in PARTS else _contract_of
            for key, value in read(self.package).items():
                if key not in self.__dict__:
                    object.__setattr__(self, key, value)
            if name in PARTS:
                self._check_names()
            return getattr(self, name)

    def _check_names(self) -> None:
        for what, names in (("renamed", self.renamed), ("removed", self.removed)):
            for name in names:
                if name in self._names("methods"):
                    raise InputError(f"{self._label}: {what}: {name!r} is a method")
        for kind in PARTS:
            for name, times in Counter(self._names(kind)).items():
                if times > 1:
                    raise InputError(f"{self._label}: {kind}: {name!r} is declared {times} times")

    def _names(self, kind: str) -> list[str]:
        parts = getattr(self, kind)
        if kind == "guarantees":  # one theorem may hold for two methods under other assumptions
            return [f"{part.name} of {method}" for part in parts for method in part.methods]
        return [part.format if kind in ("importers", "exporters") else part.name for part in parts]


if not TYPE_CHECKING:  # hidden from type checkers, which would otherwise accept any name

    def __getattr__(name):
        """Say what took the place of `Parts`, by which systems once named their functions."""
        if name == "Parts":
            raise InputError(
                "Parts: was removed; declare parts below decorators such as @method() and "
                "Problem(package=__name__), which reads them (docs/own_system.md)"
            )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def integral(problem: Problem, bound: Number) -> Number:
    """Round a dual bound inward to an integer if objectives are integers."""
    if not problem.integral_objective:
        return bound
    return round_up(bound) if problem.sense == "min" else round_down(bound)
