"""JSON Schema of instance, solution and certificate files, envelope included."""

from __future__ import annotations

from typing import Any

from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import record_type


def file_schema(problem: Problem, kind: str) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a problem's files of a kind."""
    record = record_type(problem, kind, None)
    data = record.model_json_schema(ref_template="#/$defs/{model}")
    definitions = data.pop("$defs", {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"{problem.name} {kind}",
        "type": "object",
        "properties": {
            "gadgetopt": {"const": 1},
            "problem": {"const": problem.name},
            "kind": {"const": kind},
            "name": {"type": "string", "minLength": 1},
            "origin": {"type": "object"},
            "data": data,
        },
        "required": ["gadgetopt", "problem", "kind", "name", "data"],
        "additionalProperties": False,
        "$defs": definitions,
    }
