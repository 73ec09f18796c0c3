"""Instance sizes and features as table columns, joined by fingerprint."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gadgetopt.runs.store import Store, StoredInstance

Columns = Mapping[str, Mapping[str, float]]


def instances(store: Path | str) -> dict[str, StoredInstance]:
    """Return the stored instances' sizes and features, by fingerprint.

    Raises
    ------
    InputError
        If the file is missing or not a store.
    """
    with Store(Path(store), create=False) as runs:
        return runs.instances()


def columns(known: Mapping[str, StoredInstance]) -> dict[str, dict[str, float]]:
    """Return each instance's columns; their prefixes are `size_` and `feature_`."""
    return {
        fingerprint: {f"size_{name}": value for name, value in instance.size.items()}
        | {f"feature_{name}": value for name, value in instance.features.items()}
        for fingerprint, instance in known.items()
    }


def joined(
    rows: Sequence[dict[str, Any]],
    fingerprints: Iterable[str],
    keys: Sequence[str],
    of_instance: Columns,
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Return rows with the columns of their instances, and the keys of such a row in order.

    Every row has every column, with None where its system or instance has no value. Instances
    stored by an older gadgetopt have no columns at all.
    """
    found = [of_instance.get(fingerprint, {}) for fingerprint in fingerprints]
    # Sizes before features, also where several systems have their own columns.
    names = sorted({n: None for own in found for n in own}, key=lambda n: n.startswith("feature_"))
    wide = [
        {**row, **{name: own.get(name) for name in names}}
        for row, own in zip(rows, found, strict=True)
    ]
    return wide, (*keys, *names)


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
