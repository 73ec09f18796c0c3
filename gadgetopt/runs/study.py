"""Study files: a complete comparison in one file, to be repeated, changed and cited.

A study is a TOML file. Each of its fields is also an option of `gadgetopt compare`, and
`--write-study` turns options into a file. Paths in a file are relative to the file.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from gadgetopt.errors import InputError
from gadgetopt.runs.toml import toml
from gadgetopt.system.data import (
    Data,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
)
from gadgetopt.system.declaration import GROUPS
from gadgetopt.system.files import find_instances, validate
from gadgetopt.system.generation import Series, checked_series, write_series
from gadgetopt.system.methods import find_method, knows
from gadgetopt.system.output import write_text
from gadgetopt.system.plugins import plugged
from gadgetopt.system.reading import read_text
from gadgetopt.system.registry import problems
from gadgetopt.system.result import Limits

if TYPE_CHECKING:
    from gadgetopt.runs.comparison import Entry

#: File names cannot contain a NUL.
Text = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]*$")]


#: What a cell of a study's table says of a method in a group of instances.
Cell = Literal[
    "mean",
    "median",
    "worst",
    "share",
    "least_share",
    "net_mean",
    "at_optimum",
    "tightness",
    "objective",
    "bound",
    "gap",
    "solved",
    "optimal",
    "verified",
    "time",
    "time_interval",
    "integral",
    "integral_interval",
    "mean_interval",
    "mean_time",
    "longest",
]

#: What the name of a cell begins with that is a number of a method's own notes: `note:rounds`.
NOTE = "note:"

#: The same in words.
KNOWN_CELLS = ", ".join([*get_args(Cell), f"{NOTE}NAME"])


def is_cell(name: str) -> bool:
    """Return True if a cell of a table can say this."""
    return name in get_args(Cell) or (name.startswith(NOTE) and name != NOTE)


#: Columns of the instances: their name, the series they were drawn of, and what is known of them.
_COLUMNS = ("instance", "preset", "instance_seed", "instance_index")
_PREFIXES = ("size_", "feature_", "param_")


class StudyTable(Data):
    """The table that a study ends with: a row per group of instances, a column per method.

    Attributes
    ----------
    rows : tuple of str
        Columns of the instances whose values form the groups.
    methods : tuple of str
        Only these: names, kinds or patterns; all if empty.
    cells : tuple of str
        What is said of a method in a group, see `gadgetopt.reporting.summary.cross_table`.
    """

    rows: tuple[Text, ...] = ("instance",)
    methods: tuple[Text, ...] = ()
    cells: Annotated[tuple[Text, ...], Field(min_length=1)] = ("mean", "worst")

    @model_validator(mode="after")
    def _columns_exist(self) -> StudyTable:
        for k, row in enumerate(self.rows):
            if not (row.partition(":")[0] in _COLUMNS or row.startswith(_PREFIXES)):
                known = ", ".join([*_COLUMNS, *(f"{prefix}*" for prefix in _PREFIXES)])
                raise ValueError(f"rows[{k}]: {row!r} is no column of instances, which are {known}")
        for k, cell in enumerate(self.cells):
            if not is_cell(cell):
                raise ValueError(f"cells[{k}]: {cell!r} is not one of {KNOWN_CELLS}")
        return self


class StudyLimits(Data):
    """Limits of each run; see `gadgetopt.system.result.Limits`."""

    time_s: PositiveFloat = 60.0
    threads: PositiveInt = 1
    memory_mb: PositiveFloat | None = None
    rel_gap: Annotated[float, Field(ge=0, lt=1)] = 0.0
    no_improvement_s: PositiveFloat | None = None
    target: Annotated[float, Field(allow_inf_nan=False)] | None = None


class Study(Data):
    """A comparison: instances x methods x seeds, under limits, into a store.

    Attributes
    ----------
    instances : tuple of str
        Instance files, directories or globs.
    methods : tuple of str
        Names, kinds, "all" or "default"; if empty, "default": each system's main comparison.
    plugins : tuple of str
        Files of Python that add methods and other parts.
    seeds, first_seed : int
        Stochastic methods run once for each of `seeds` seeds from `first_seed` on.
    store : str
        SQLite file of the runs.
    generated : str, optional
        Folder of the generated instances; default: the store's name with `.instances` after it.
    workers : int, optional
        Runs at a time on this machine; default as many as its cores allow.
    scheduler : str, optional
        Address of a Dask scheduler whose workers do the runs.
    grace_s : float, optional
        Seconds beyond its time limit that a run may take at most, judging included.
    certify : str, optional
        Seconds such as "30", or a multiple of each run's such as "10x", for proving its bound.
    within : str, optional
        A tolerance such as "1e-6" within which rows of model files may hold.
    limits : StudyLimits
        For each run.
    generate : tuple of Series
        Instances to generate from presets, beside `instances`.
    table : StudyTable, optional
        What `compare` ends with beside its summary, and `summary` of the study prints.
    """

    instances: tuple[Text, ...] = ()
    methods: tuple[Text, ...] = ()
    plugins: tuple[Text, ...] = ()
    seeds: PositiveInt = 1
    first_seed: NonNegativeInt = 0
    store: Text = "runs.sqlite"
    generated: Text | None = None
    workers: NonNegativeInt | None = None
    scheduler: Text | None = None
    grace_s: PositiveFloat | None = None
    certify: Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?x?$")] | None = None
    within: Text | None = None
    limits: StudyLimits = StudyLimits()
    generate: tuple[Series, ...] = ()
    table: StudyTable | None = None

    @property
    def run_limits(self) -> Limits:
        """The limits of each run."""
        return Limits(**self.limits.model_dump())

    @property
    def generated_folder(self) -> Path:
        """Where generated instances are written."""
        return Path(self.generated or f"{self.store}.instances")

    def moved(
        self, move: Callable[[str], str], keep: Callable[[str], bool] = lambda _: False
    ) -> Study:
        """Return the study with `move` applied to its paths, except to the instances to `keep`."""
        return self.model_copy(
            update={
                "instances": tuple(p if keep(p) else move(p) for p in self.instances),
                "plugins": tuple(move(p) for p in self.plugins),
                "store": move(self.store),
                "generated": None if self.generated is None else move(self.generated),
            }
        )


def instance_files(study: Study) -> list[Path]:
    """Return the instance files of a study, after writing the generated ones.

    Raises
    ------
    InputError
        If the study has none, a path is wrong, or a generated file cannot be written.
    """
    found = given_files(study)
    made = [path for s in study.generate for path in write_series(s, study.generated_folder)]
    return list(dict.fromkeys([*found, *made]))


def compare_study(study: Study, **how: Any) -> list[Entry]:
    """Run a study and return its ratio table.

    Parameters
    ----------
    study : Study
    **how
        Options that are not fields of a study: `fresh`, `retry_errors`, `details`, `on_result`,
        `watch` and `further` of `gadgetopt.runs.comparison.compare`.

    Raises
    ------
    InputError
        If an instance, method or the scheduler cannot be used.
    """
    from gadgetopt.runs.comparison import compare

    with plugged(study.plugins):
        return compare(
            instance_files(study),
            study.methods,
            limits=study.run_limits,
            seeds=study.seeds,
            first_seed=study.first_seed,
            store=study.store,
            scheduler=study.scheduler,
            workers=study.workers,
            grace_s=study.grace_s,
            certify=study.certify,
            within=study.within,
            **how,
        )


def check(study: Study) -> None:
    """Raise an InputError if a study names no instances, or an unknown path or method."""
    given_files(study)
    with plugged(study.plugins):
        for spec in study.methods:
            _check_method(spec, "--methods")


def given_files(study: Study) -> list[Path]:
    """Return the instance files that a study names, without those it generates."""
    if not study.instances and not study.generate:
        raise InputError(
            "no instances: expected instance files, a study file that names some, or --generate"
        )
    return find_instances(study.instances)


# -- files -----------------------------------------------------------------------------------------


def is_study(path: Path) -> bool:
    """Return True if a path given to `compare` names a study file."""
    return path.suffix.lower() == ".toml" and not os.path.isdir(path)


def read_study(path: Path | str) -> Study:
    """Read a study file; its paths become paths from the current directory.

    Raises
    ------
    InputError
        One line that names the file, the field, the value and what was expected.
    """
    path = Path(path)
    study: Study = validate(Study, _parsed(path), str(path), prefix="")
    folder = path.parent
    study = study.moved(
        lambda text: str(folder / text), keep=lambda text: _in_library(text, folder)
    )
    with _plugged(study, path):
        for k, spec in enumerate(study.methods):
            _check_method(spec, f"{path}: methods[{k}]")
        series = tuple(
            checked_series(given, _place_in(path, k)) for k, given in enumerate(study.generate)
        )
    study = study.model_copy(update={"generate": series})
    for k, text in enumerate(study.instances):
        try:
            find_instances([text])
        except InputError as error:
            raise InputError(f"{path}: instances[{k}]: {error}") from None
    return study


def write_study(study: Study, path: Path) -> None:
    """Write a study, paths relative to the file.

    Raises
    ------
    InputError
        If the file exists, cannot be written, or has a name that is not that of a study.
    """
    if not is_study(path):
        raise InputError(f"{path}: {path.suffix or 'no suffix'}, expected .toml")
    moved = study.moved(
        lambda text: _seen_from(text, path.parent), keep=lambda text: _in_library(text, Path())
    )
    plain = moved.model_dump(mode="json", exclude_none=True)
    for series in plain["generate"]:
        if not series["options"]:
            del series["options"]
    text = f"# gadgetopt compare {path.name}\n\n{toml(plain)}"
    if os.path.lexists(path):
        raise InputError(f"{path}: already exists, expected a new file")
    write_text(path, text)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        parsed = tomllib.loads(read_text(path))
        # Only TOML has dates; as text they are refused like any other text.
        plain: dict[str, Any] = json.loads(json.dumps(parsed, default=str))
    except InputError:
        raise
    except ValueError as error:  # a TOML error, or an integer of thousands of digits
        raise InputError(f"{path}: not TOML: {error}".replace("\n", " ")) from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply") from None
    return plain


@contextmanager
def _plugged(study: Study, path: Path) -> Iterator[None]:
    """Use a study's plug-ins, within a block."""
    with ExitStack() as used:
        for k, plugin in enumerate(study.plugins):
            try:
                used.enter_context(plugged([plugin]))
            except InputError as error:
                raise InputError(f"{path}: plugins[{k}]: {error}") from None
        yield


def _place_in(path: Path, k: int) -> Callable[[str], str]:
    return lambda field: f"{path}: generate[{k}].{field}"


def _check_method(spec: str, place: str) -> None:
    """Refuse a method that no system has; the instances decide later which system it is for."""
    failure: InputError | None = None
    for system in problems():
        if not knows(system, spec):
            continue
        if spec in GROUPS:
            return
        try:
            find_method(system, spec)
        except InputError as error:
            failure = failure or error
        else:
            return
    why = (
        failure or f"{spec!r} is not a method of any system, a kind of methods, 'default' or 'all'"
    )
    raise InputError(f"{place}: {why}")


# -- paths -----------------------------------------------------------------------------------------


def _seen_from(text: str, folder: Path) -> str:
    """Return a path relative to a folder instead of the current directory."""
    if Path(text).is_absolute():
        return text
    # Go up from the folder itself, not from a link to it.
    return Path(os.path.relpath(text, folder.resolve())).as_posix()


def _in_library(text: str, folder: Path) -> bool:
    """Return True if an instance is looked up in the library installed with gadgetopt."""
    return Path(text).parts[:1] == ("instances",) and not os.path.exists(folder / text)
