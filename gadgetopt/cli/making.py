"""The commands `generate`, `import` and `new-system`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from gadgetopt.cli.completion import (
    import_formats,
    preset_names,
    system_names,
)
from gadgetopt.cli.options import Json, Plugins, Seed, Settings, System
from gadgetopt.cli.options import count as positive_count
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.reporting.words import in_words, spaced

OutDir = Annotated[Path, typer.Option("--out", help="Directory for the files.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that hold other instances.")]
#: The format of `import` for any CSV file.
TABLE = "table"

Options = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help=(
            "name=value, or name=[value, value] for a sweep; repeatable; or --name value; "
            "see `list SYSTEM --all`."
        ),
    ),
]


def generate(
    system: System,
    preset: Annotated[
        str,
        typer.Option(
            help="Preset of the system's generator.",
            autocompletion=preset_names,
        ),
    ] = "quickstart",
    count: Annotated[
        int, typer.Option(help="Number of instances.", parser=positive_count, metavar="INTEGER")
    ] = 1,
    seed: Seed = 0,
    out: OutDir = Path(),
    settings: Options = None,
    force: Force = False,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Generate instance files from a preset.

    In a sweep, `--count` instances are drawn for each combination of values.
    """
    from gadgetopt.system.files import write_new
    from gadgetopt.system.generation import draws, find_generator
    from gadgetopt.system.generation import generate as generate_one
    from gadgetopt.system.registry import problem
    from gadgetopt.system.sweeps import parse_options

    declared = problem(system)
    generator = find_generator(declared, preset, "--preset")
    place = f"--preset {preset}"
    options = parse_options(settings or (), generator.parameters, f"{place}: --set")
    written = []
    for draw in draws(
        generator, options, seed, count, f"{declared.name}_{preset}", digits=len(str(count - 1))
    ):
        path = out / f"{draw.name}.json"
        write_new(generate_one(declared, generator, draw, place), path, force=force)
        written.append(path)
    _say_written(written, as_json)


def import_(
    form: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT",
            help="Format of the data, see `list`; `table` for a CSV file of your own.",
            autocompletion=import_formats,
        ),
    ],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...")],
    system: Annotated[
        str | None,
        typer.Option(
            "--system", help="The system, if several read the format.", autocompletion=system_names
        ),
    ] = None,
    seed: Seed = 0,
    out: OutDir = Path(),
    settings: Settings = None,
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map", help="table: field=column, for a column of another name; repeatable."
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            help="table: instance file or preset for fields not given.", metavar="FILE|PRESET"
        ),
    ] = None,
    list_name: Annotated[
        str | None,
        typer.Option(
            "--list",
            help="table: the list that the rows fill, if the system has several.",
            metavar="FIELD",
        ),
    ] = None,
    force: Force = False,
    plugin: Plugins = None,
    as_json: Json = False,
) -> None:
    """Convert real data into instance files.

    `import table FILE --system SYSTEM` makes an instance of any system of a CSV file, with a row
    for each record of its list.
    """
    import json

    import numpy as np

    from gadgetopt import __version__
    from gadgetopt.api.making import find_importer
    from gadgetopt.system.files import Document, write_new
    from gadgetopt.system.methods import parse_assignments

    if form == TABLE:
        _import_tables(files, system, out, (list_name, columns, settings, like), force, as_json)
        return
    for option, given in (("--map", columns), ("--like", like), ("--list", list_name)):
        if given:
            raise InputError(f"{option}: is for `import table` only")
    declared, importer = find_importer(form, system)
    changed = parse_assignments(settings or (), importer.parameters, f"import {form}: --set")
    parameters = {**importer.parameters, **changed}
    outcome = importer.read(files, np.random.default_rng(seed), **parameters)
    written = []
    for name, data in outcome.instances:
        own = outcome.origin_of.get(name, {})
        origin = {**outcome.origin, **own, "seed": seed, "version": __version__}
        path = out / f"{name}.json"
        write_new(Document(declared, "instance", name, data, origin), path, force=force)
        written.append(path)
    if as_json:
        report = {"files": [str(p) for p in written], "report": outcome.report}
        echo(json.dumps(report, indent=1, default=str))
        return
    for line in _report_lines(outcome.report):
        echo(line)
    _say_written(written, as_json)


def _import_tables(
    files: list[Path],
    system: str | None,
    out: Path,
    options: tuple[str | None, list[str] | None, list[str] | None, str | None],
    force: bool,
    as_json: bool,
) -> None:
    """Make an instance of each CSV file, and say what was left out or taken from elsewhere."""
    import json

    from gadgetopt.api.table_files import import_table
    from gadgetopt.system.files import write_new
    from gadgetopt.system.registry import problem

    if system is None:
        raise InputError("--system: is missing; say which system the table is for")
    list_name, columns, values, like = options
    written, reports = [], []
    for file in files:
        document, report = import_table(
            file, problem(system), list_name, columns or (), values or (), like
        )
        written.append(out / f"{document.name}.json")
        write_new(document, written[-1], force=force)
        reports.append(report)
    if as_json:
        echo(json.dumps({"files": [str(p) for p in written], "report": reports}, indent=1))
        return
    for line in (line for report in reports for line in _report_lines(report)):
        echo(line)
    _say_written(written, as_json)


def new_system(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the system: lower-case letters, digits, _."),
    ],
    folder: Annotated[
        Path,
        typer.Option(
            "--folder",
            help="Folder to write it to: a package of your own, or `models` of a checkout.",
            metavar="DIR",
        ),
    ] = Path(),
    as_json: Json = False,
) -> None:
    """Write a small system to start from.

    It is complete, with tests, and is replaced by yours part by part.
    """
    from gadgetopt.skeleton import writing

    written = writing.new_system(name, folder)
    if as_json:
        _say_written(written, as_json)
        return
    for line in writing.next_steps(name, folder, written):
        echo(line)


def _report_lines(report: dict[Any, Any], indent: str = "") -> list[str]:
    lines = []
    for name, value in report.items():
        key = spaced(name)
        if isinstance(value, dict):
            lines.append(f"{indent}{key}:")
            lines += _report_lines(value, indent + "  ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{indent}{key}:")
            for entry in value:
                first, *rest = _report_lines(entry)
                lines.append(f"{indent}  - {first}")
                lines += [f"{indent}    {line}" for line in rest]
        else:
            lines.append(f"{indent}{key}: {in_words(value)}")
    return lines


def _say_written(written: list[Path], as_json: bool) -> None:
    import json

    if as_json:
        echo(json.dumps([str(p) for p in written]))
        return
    for path in written:
        echo(str(path))
    sys.stdout.flush()
