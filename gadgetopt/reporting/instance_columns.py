"""Size, features and parameters of instances as table columns, joined by fingerprint."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gadgetopt.runs.comparison import Entry
from gadgetopt.runs.origins import Origin
from gadgetopt.runs.store import StoredInstance

#: The columns of each instance by fingerprint: once for each set of parameters that gives it.
Columns = Mapping[str, Sequence[Mapping[str, Any]]]

#: Columns about the series of which an instance was drawn.
SERIES = ("preset", "instance_seed", "instance_index")

#: Beginnings of columns, in the order of the columns in a table.
_ORDER = ("size_", "feature_", *SERIES, "param_")


def stored_instances(entries: Iterable[Entry]) -> dict[str, StoredInstance]:
    """Return the instances of the entries of a ratio table, by fingerprint."""
    return {e.result.fingerprint: e.stored for e in entries if e.stored is not None}


def columns(known: Mapping[str, StoredInstance]) -> dict[str, dict[str, Any]]:
    """Return each instance's columns: `size_*`, `feature_*`, `preset`, `param_*` and its seed.

    An instance that several values of a parameter give has those of the first.
    """
    return {fingerprint: own[0] for fingerprint, own in columns_of_origins(known).items()}


def columns_of_origins(known: Mapping[str, StoredInstance]) -> dict[str, list[dict[str, Any]]]:
    """Return each instance's columns, once for each set of parameters that gives it.

    From the second on they have the name of the file, `instance`.
    """
    return {fingerprint: _columns(instance) for fingerprint, instance in known.items()}


def parameter_columns(origin: Origin) -> dict[str, Any]:
    """Return the parameters of a generator or importer as columns; lists become text."""
    return {f"param_{name}": _cell(value) for name, value in origin.parameters.items()}


def _columns(instance: StoredInstance) -> list[dict[str, Any]]:
    own: dict[str, Any] = {f"size_{name}": value for name, value in instance.size.items()}
    own |= {f"feature_{name}": value for name, value in instance.features.items()}
    out: list[dict[str, Any]] = []
    told: list[tuple[str | None, dict[str, Any]]] = []
    for origin in instance.origins:
        parameters = parameter_columns(origin)
        if (origin.preset, parameters) in told:
            continue
        told.append((origin.preset, parameters))
        name = {"instance": origin.name} if out else {}
        series = (origin.preset, origin.seed, origin.index)
        out.append({**name, **own, **dict(zip(SERIES, series, strict=True)), **parameters})
    return out or [own]


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value


def joined(
    rows: Sequence[dict[str, Any]],
    fingerprints: Iterable[str],
    keys: Sequence[str],
    of_instance: Columns,
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return rows with the columns of their instances, and the keys of such a row in order.

    Every row has every column, with None where its system or instance has no value. A run on an
    instance that several values of a parameter give has a row for each of them. Instances stored by
    an older gadgetopt may have no columns at all.
    """
    found = [of_instance.get(fingerprint, ({},)) for fingerprint in fingerprints]
    own = {name: None for each in found for columns in each for name in columns}
    names = sorted((name for name in own if name != "instance"), key=_group)
    wide = [
        {
            **row,
            **{name: columns.get(name) for name in names},
            **{name: columns[name] for name in ("instance",) if name in columns},
        }
        for row, each in zip(rows, found, strict=True)
        for columns in each
    ]
    return wide, (*keys, *names)


def _group(name: str) -> int:
    return next(k for k, start in enumerate(_ORDER) if name.startswith(start))


def instance_rows(
    fingerprints: Iterable[str], known: Mapping[str, StoredInstance]
) -> dict[str, list[dict[str, Any]]]:
    """Return one row per instance, by system: its name, its size and its features."""
    out: dict[str, list[dict[str, Any]]] = {}
    for fingerprint in dict.fromkeys(fingerprints):
        if fingerprint in known:
            own = known[fingerprint]
            row = {"instance": own.name, **own.size, **own.features}
            out.setdefault(own.problem, []).append(row)
    return out
