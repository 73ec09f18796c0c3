"""Reading a store for the report: every run with its ratio, trace and instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import Number, agrees, as_double
from gadgetopt.reporting.instance_columns import SERIES, columns
from gadgetopt.reporting.summary.labels import labels
from gadgetopt.runs.comparison import Entry, entries
from gadgetopt.runs.rows import RunExtras, StoredRun, encode_number
from gadgetopt.runs.store import Store
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem, sense_of
from gadgetopt.system.result import Limits, Voucher
from gadgetopt.trust.proving import PROOF

#: The incumbent and the bound of a run from a moment on.
Event = tuple[float, float | None, float | None]


@dataclass(frozen=True)
class Line:
    """One run of the report.

    Attributes
    ----------
    label : str
        The method, with limits and version if the system's runs differ in them, and with the code
        if the method's runs do.
    rests_on : Voucher or None
        Who vouches for the bound from which the upper end of the ratio was computed.
    events : tuple
        The trace; the last event is the final state of the run.
    solution_id : str or None
        Equal for equal solutions of the same instance.
    """

    key: str
    entry: Entry
    label: str
    limits: Limits
    version: str
    code: str | None = None
    rests_on: Voucher | None = None
    events: tuple[Event, ...] = ()
    finished_at: str = ""
    solution_id: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def instance(self) -> str:
        """The fingerprint of the run's instance."""
        return self.entry.result.fingerprint

    @property
    def minimises(self) -> bool:
        """True if the instance is a minimisation."""
        return sense_of(self.entry.result) == "min"

    @property
    def low(self) -> float | None:
        """The lower end of the ratio."""
        return None if self.entry.ratio is None else number(self.entry.ratio.low)

    @property
    def high(self) -> float | None:
        """The upper end of the ratio, None if nothing bounds it."""
        return None if self.entry.ratio is None else number(self.entry.ratio.high)

    @property
    def certified(self) -> bool:
        """True if the ratio is known to tolerance; without one, if the optimum is known."""
        return self.entry.ratio is not None and self.entry.ratio.certified


@dataclass(frozen=True)
class Measured:
    """An instance.

    Attributes
    ----------
    columns : mapping
        Numbers to plot ratios against: size, features and parameters of the generator.
    groups : mapping
        Preset, parameters and size as a summary names them, to group instances by.
    """

    name: str
    columns: Mapping[str, float] = field(default_factory=dict)
    groups: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class System:
    """The runs of one system."""

    name: str
    title: str
    verb: str
    objective: str
    lines: tuple[Line, ...]
    instances: Mapping[str, Measured]

    @property
    def methods(self) -> list[str]:
        """The labels of the methods, in the order of their first runs."""
        return list(dict.fromkeys(line.label for line in self.lines))


def read_systems(store: Store) -> list[System]:
    """Return the runs of a store by system, without methods that do not apply."""
    with store.snapshot():
        runs = [run for run in store.runs(details=False) if not run.result.refused]
        extras = store.extras({run.key for run in runs})
        stored = store.instances()
    named = columns(stored)
    measured = {
        key: Measured(record.name, _numbers(named[key]), _groups(named[key]))
        for key, record in stored.items()
    }
    runs = [run for run in runs if run.key in extras]
    table = entries(runs, lambda: stored)
    lines = [
        _line(run, entry, label, extras[run.key])
        for run, entry, label in zip(runs, table, labels(table), strict=True)
    ]
    out = []
    for name in dict.fromkeys(line.entry.result.problem for line in lines):
        declared = problem(name)
        own = _vouched([x for x in lines if x.entry.result.problem == name])
        seen = {line.instance: Measured(line.entry.result.instance) for line in own}
        instances = {key: measured.get(key, plain) for key, plain in seen.items()}
        out.append(
            System(name, declared.title, declared.verb, declared.objective, tuple(own), instances)
        )
    return out


def _numbers(named: Mapping[str, Any]) -> dict[str, float]:
    """Return the columns that hold numbers, without the beginnings `size_` and `feature_`."""
    return {
        name.removeprefix("size_").removeprefix("feature_"): x
        for name, x in named.items()
        if isinstance(x, int | float) and not isinstance(x, bool) and name not in SERIES
    }


def _groups(named: Mapping[str, Any]) -> dict[str, Any]:
    return {n: x for n, x in named.items() if n.startswith(("preset", "param_", "size_"))}


def _line(run: StoredRun, entry: Entry, label: str, extras: RunExtras) -> Line:
    result = run.result
    details = {
        "phases_s": result.phases_s,
        "versions": result.versions,
        # The proof has a line of its own.
        "notes": {name: x for name, x in result.notes.items() if name != PROOF},
        "components": {name: encode_number(x) for name, x in extras.components.items()},
    }
    return Line(
        run.key,
        entry,
        label,
        run.limits,
        run.version,
        code=run.code,
        events=tuple((p.time_s, number(p.incumbent), number(p.bound)) for p in extras.trace),
        finished_at=extras.finished_at,
        solution_id=extras.solution_digest,
        details={name: value for name, value in details.items() if value},
    )


def number(x: Number | None) -> float | None:
    """Return a number as a double; numbers beyond the range of doubles become infinite."""
    return None if x is None else as_double(x)


def solved(store: Store, key: str) -> tuple[Document, Any]:
    """Return the instance of a run and its solution.

    Raises
    ------
    InputError
        If the store lacks one of the two.
    """
    run = store.get(key)
    if run is None or run.result.solution is None or run.result.objective is None:
        status = "not there" if run is None else run.result.status
        raise InputError(f"{store.path}: run {key[:12]}: {status}, has no feasible solution")
    instance = store.instance(run.result.fingerprint)
    if instance is None:
        raise InputError(
            f"{store.path}: run {key[:12]}: its instance {run.result.instance} is not in the "
            "store, which an older gadgetopt wrote"
        )
    return instance, run.result.solution


def find_key(store: Store, start: str) -> str:
    """Return the key of the only run whose key has this beginning.

    Raises
    ------
    InputError
        If there is none, or more than one.
    """
    found = store.find_keys(start)
    if len(found) != 1:
        what = "more than one run begins" if found else "no run begins"
        raise InputError(f"--run: {start!r}: {what} so in {store.path}")
    return found[0]


def _vouched(lines: Sequence[Line]) -> list[Line]:
    """Attach to each ratio or gap who vouches for its dual bound, the best one of the instance."""
    strength = list(Voucher)
    best: dict[str, tuple[Number, Voucher]] = {}
    for line in lines:
        bound, voucher = line.entry.result.bound, line.entry.result.bound_voucher
        if bound is None or voucher is None:
            continue
        known = best.get(line.instance)
        if known is not None and agrees(bound, known[0]):
            stronger = max(voucher, known[1], key=strength.index)
            best[line.instance] = (known[0], stronger)
        elif known is None or (bound > known[0] if line.minimises else bound < known[0]):
            best[line.instance] = (bound, voucher)
    return [
        replace(line, rests_on=best[line.instance][1])
        if (line.high is not None or line.certified) and line.instance in best
        else line
        for line in lines
    ]
