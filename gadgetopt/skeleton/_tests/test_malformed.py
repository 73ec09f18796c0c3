"""A wrong file is answered by one line that names field, value, and what was expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import gadgetopt


def _file(folder: Path, kind: str, data: dict[str, Any]) -> Path:
    path = folder / f"{kind}.json"
    envelope = {
        "gadgetopt": 1,
        "problem": "skeleton",
        "kind": kind,
        "name": "wrong",
        "data": data,
    }
    path.write_text(json.dumps(envelope), encoding="utf-8")
    return path


RIGHT: dict[str, Any] = {"capacity_kg": 4, "weight_kg": [2, 1], "value": [5, 4]}


@pytest.mark.parametrize(
    ("kind", "data", "line"),
    [
        ("instance", RIGHT | {"capacity_kg": -1}, "data.capacity_kg: -1 is below the least"),
        ("instance", RIGHT | {"weight_kg": [], "value": []}, "data.weight_kg: "),
        ("instance", RIGHT | {"value": [5]}, "data.value: 1 values, expected 2, one an item"),
        ("instance", RIGHT | {"colour": "red"}, "data.colour: "),
        ("solution", {"chosen": [-1]}, "data.chosen[0]: "),
        ("certificate", {"price": "1/0"}, "data.price: "),
    ],
)
def test_a_wrong_file_is_answered_by_its_one_line(
    kind: str, data: dict[str, Any], line: str, tmp_path: Path
) -> None:
    path = _file(tmp_path, kind, data)
    with pytest.raises(gadgetopt.InputError) as refused:
        gadgetopt.read(path)
    assert str(refused.value).startswith(f"{path}: {line}")
    assert "\n" not in str(refused.value)
