"""JSON Schema of an entry of the records."""

from __future__ import annotations

from typing import Any

from gadgetopt.records.record import Record


def record_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of an entry's file."""
    schema = Record.model_json_schema(ref_template="#/$defs/{model}")
    schema.pop("description", None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schema,
        "title": "record of a best known result",
    }
