"""The study that `compare` runs: from a study file, options, or both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gadgetopt.errors import InputError

if TYPE_CHECKING:
    from gadgetopt.runs.study import Study

Generate = Annotated[
    list[str] | None,
    typer.Option(
        "--generate",
        help="Instances to generate, SYSTEM:PRESET:count=5:seed=0:option=value; repeatable.",
        metavar="SERIES",
    ),
]
Generated = Annotated[
    Path | None,
    typer.Option(
        "--generated", help="Folder of the generated instances. [default: STORE.instances]"
    ),
]
WriteStudy = Annotated[
    Path | None,
    typer.Option("--write-study", help="Write this comparison as a study file; run nothing."),
]

#: Options that are fields of a study, and options that are fields of its limits.
_FIELDS = {
    "seeds": "seeds",
    "first_seed": "first_seed",
    "store": "store",
    "generated": "generated",
    "workers": "workers",
    "scheduler": "scheduler",
    "grace": "grace_s",
    "certify": "certify",
    "within": "within",
}
_LIMITS = {
    "time_limit": "time_s",
    "threads": "threads",
    "memory_mb": "memory_mb",
    "gap": "rel_gap",
    "stop_after_no_improvement": "no_improvement_s",
    "target": "target",
}


def study_of(context: typer.Context) -> Study:
    """Return the study file among the arguments of `compare`, changed by its options.

    Each option replaces its field of the file; plug-ins are added to those of the file. Instances
    that are given, as files or to be generated, replace all instances of the file.
    """
    from pydantic import ValidationError

    from gadgetopt.runs.study import Study, is_study, read_study
    from gadgetopt.system.generation import parse_series
    from gadgetopt.system.plugins import plugged

    given = {
        name: value
        for name, value in context.params.items()
        if getattr(context.get_parameter_source(name), "name", None) == "COMMANDLINE"
    }
    paths: list[Path] = context.params["paths"] or []
    files = [path for path in paths if is_study(path)]
    if len(files) > 1:
        raise InputError(f"{files[1]}: a second study file, expected one at most")
    study = read_study(files[0]) if files else Study()
    context.with_resource(plugged(study.plugins))
    instances = tuple(str(path) for path in paths if not is_study(path))
    series = tuple(
        parse_series(spec, f"--generate {spec!r}") for spec in context.params["generate"] or ()
    )
    changed: dict[str, Any] = {_FIELDS[name]: given[name] for name in _FIELDS if name in given}
    changed = {k: str(v) if isinstance(v, Path) else v for k, v in changed.items()}
    if instances or series:
        changed |= {"instances": instances, "generate": series}
    if given.get("plugin"):
        changed["plugins"] = (*study.plugins, *map(str, given["plugin"]))
    if "methods" in given:
        changed["methods"] = split_methods(given["methods"])
    limits = {_LIMITS[name]: given[name] for name in _LIMITS if name in given}
    if limits:
        changed["limits"] = study.limits.model_copy(update=limits)
    try:
        study = study.model_copy(update=changed)
    except ValidationError as error:  # a name that is not UTF-8 text, which a study cannot contain
        detail = error.errors(include_url=False)[0]
        raise InputError(f"{detail['loc'][0]}: {detail['input']!r}: {detail['msg']}") from None
    if files and not study.instances and not study.generate:
        raise InputError(f"{files[0]}: instances: missing, expected some, or generate")
    return study


def split_methods(text: str) -> tuple[str, ...]:
    """Split a list of methods at commas, except inside brackets."""
    parts = re.findall(r"(?:\[[^\]]*\]|[^,\[]|\[)+", text)
    found = tuple(part.strip() for part in parts if part.strip())
    if not found:
        raise InputError(f"--methods: {text!r} names no method")
    return found
