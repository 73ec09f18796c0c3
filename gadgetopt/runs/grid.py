"""The grid of a comparison, instances x methods x seeds, generated lazily."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.runs.code.source_code import SourceCode
from gadgetopt.runs.rows import run_key
from gadgetopt.system.declaration import GROUPS
from gadgetopt.system.files import Document, find_instances, read_instance
from gadgetopt.system.methods import knows, select
from gadgetopt.system.result import Limits

#: Seeds are below this: integers in SQLite have 64 bits.
MOST_SEEDS = 2**63


@dataclass(frozen=True)
class Task:
    """One run to be done."""

    document: Document
    spec: str
    limits: Limits
    seed: int
    named: bool = False  # requested by its own name, not by kind or default
    key: str = field(default="", compare=False)
    code: str = field(default="", compare=False)


@dataclass(frozen=True)
class Unreadable:
    """A file among the instances that cannot be read as one, and why."""

    path: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class Grid:
    """The runs of a comparison, in order; only the instances are held in memory.

    Its methods are identified by their source code at the first iteration. Files that cannot be
    read have no runs.
    """

    documents: tuple[Document, ...]
    methods: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    seeds: int = 1
    first_seed: int = 0
    unreadable: tuple[Unreadable, ...] = ()
    source: SourceCode = field(default_factory=SourceCode, compare=False, repr=False)

    def __iter__(self) -> Iterator[Task]:
        for document in self.documents:
            system = document.problem
            wanted = [s for s in self.methods or system.default_methods if knows(system, s)]
            by_name = [s for s in self.methods if knows(system, s) and s not in GROUPS]
            named = {call.label for call in select(system, by_name)}
            seeds = range(self.first_seed, self.first_seed + self.seeds)
            for call in select(system, wanted):
                label, code = call.label, self.source.of(system, call.method)
                # Deterministic methods are keyed by seed 0, whatever the first seed is.
                for seed in seeds if call.method.stochastic else (0,):
                    key = run_key(document.fingerprint, call, self.limits, seed, code)
                    yield Task(document, label, self.limits, seed, label in named, key, code)


def grid(
    paths: Iterable[Path | str],
    methods: Sequence[str] = (),
    limits: Limits | None = None,
    seeds: int = 1,
    first_seed: int = 0,
    within: str = "0",
) -> Grid:
    """Read the instances and return the grid over them, relaxed by a tolerance.

    Raises
    ------
    InputError
        If a path, a single file or a method name is wrong, or a seed is too large for a store.
    """
    documents, unreadable = read_instances(find_instances(paths))
    documents = [document.within(within) for document in documents]
    made = grid_over(documents, methods, limits, seeds, first_seed)
    return replace(made, unreadable=unreadable)


def read_instances(paths: Sequence[Path]) -> tuple[list[Document], tuple[Unreadable, ...]]:
    """Return the instances of files, and the files among several that cannot be read.

    Raises
    ------
    InputError
        If there is a single file, and it cannot be read.
    """
    documents: list[Document] = []
    unreadable: list[Unreadable] = []
    for path in paths:
        try:
            documents.append(read_instance(path))
        except InputError as error:
            if len(paths) == 1:
                raise
            unreadable.append(Unreadable(path, str(error).removeprefix(f"{path}: ")))
    return documents, tuple(unreadable)


def grid_over(
    instances: Iterable[Document],
    methods: Sequence[str] = (),
    limits: Limits | None = None,
    seeds: int = 1,
    first_seed: int = 0,
) -> Grid:
    """Return the grid over instances; it raises what `grid` raises."""
    if first_seed + seeds > MOST_SEEDS:
        raise InputError(f"seeds: {seeds} from {first_seed} on, expected all of them below 2^63")
    documents = tuple(instances)
    systems = {d.problem.name: d.problem for d in documents}
    for spec in methods:
        if systems and not any(knows(system, spec) for system in systems.values()):
            select(next(iter(systems.values())), [spec])  # raises with the known names
    for system in systems.values():
        select(system, [s for s in methods if knows(system, s)])  # raises for a wrong name
    return Grid(documents, tuple(methods), limits or Limits(), seeds, first_seed)
