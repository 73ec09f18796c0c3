"""Writing TOML; Python's standard library only reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from gadgetopt.errors import InputError


def toml(table: Mapping[str, Any], prefix: str = "") -> str:
    """Return a table of plain values as TOML: values first, then tables, then arrays of tables."""
    values = {k: v for k, v in table.items() if not _is_table(v) and not _are_tables(v)}
    text = "".join(f"{_key(name)} = {_value(value)}\n" for name, value in values.items())
    for name, value in table.items():
        path = f"{prefix}{_key(name)}"
        if _is_table(value):
            text += f"\n[{path}]\n{toml(value, f'{path}.')}"
        elif _are_tables(value):
            text += "".join(f"\n[[{path}]]\n{toml(entry, f'{path}.')}" for entry in value)
    return text


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and bool(value)


def _are_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    raise InputError(f"{json.dumps(value, default=str)}: cannot be written as TOML")


def _string(text: str) -> str:
    # JSON and TOML escape alike, except for one control character that JSON leaves unescaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
