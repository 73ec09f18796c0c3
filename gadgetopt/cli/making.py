"""The commands `generate`, `import`, `export` and `new-system`."""

from __future__ import annotations

import re
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from gadgetopt.cli.completion import (
    formulation_names,
    import_formats,
    preset_names,
    system_names,
)
from gadgetopt.cli.options import Json, Memory, ModelTime, Plugins, Seed, System, check_outputs
from gadgetopt.cli.options import count as positive_count
from gadgetopt.cli.printing import echo
from gadgetopt.errors import InputError
from gadgetopt.reporting.words import in_words, spaced
from gadgetopt.system.result import Limits

OutDir = Annotated[Path, typer.Option("--out", help="Directory for the files.")]
Force = Annotated[bool, typer.Option("--force", help="Replace files that hold other instances.")]
#: The format of `import` for any CSV file.
TABLE = "table"
#: Notes of an export that are printed.
MOST_NOTES = 5

Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="name=value, repeatable; or --name value; see `list SYSTEM --all`."),
]
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


def export(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="Instance file.")] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="mps, lp, nl, cpsat or exact (for checkers of proofs); vipr for a proof.",
            autocompletion=lambda: ["mps", "lp", "nl", "cpsat", "exact", "vipr"],
        ),
    ] = None,
    formulation: Annotated[
        str | None,
        typer.Option(
            help="Formulation of the system, see `list`.", autocompletion=formulation_names
        ),
    ] = None,
    proof: Annotated[
        Path | None,
        typer.Option(
            "--proof", help="Certificate with a tree proof: written as VIPR, its model as MPS."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Default: the instance's name.")] = None,
    checker: Annotated[
        Path | None,
        typer.Option(
            "--checker",
            help="Write the checker of proofs to this file; it needs nothing but Python.",
        ),
    ] = None,
    time_limit: ModelTime = 600.0,
    memory_mb: Memory = None,
    plugin: Plugins = None,
) -> int:
    """Write a model, a proof, or the checker of proofs.

    A process of its own builds the model; it ends within its limits of time and memory.
    """
    from gadgetopt.reporting.export import FORMATS, model_beside
    from gadgetopt.system.files import read_instance

    if checker is not None:
        if any(given is not None for given in (file, form, formulation, proof, out)):
            raise InputError(
                "--checker: cannot be combined with a model; it writes the checker only"
            )
        return _write_checker(checker)
    if file is None or form is None:
        raise InputError(f"{'FILE' if file is None else '--format'}: is missing")
    limits = Limits(time_limit, 1, memory_mb)
    if form == "vipr" or proof is not None:
        if proof is None or form != "vipr" or formulation is not None:
            raise InputError(
                "--format: vipr needs --proof, and takes no --formulation: the proof names it"
            )
        path = out or Path(f"{_safe(read_instance(file).name)}.vipr")
        if path.exists() and not path.is_file():
            raise InputError(
                f"--out: {path} is not a regular file, expected one: the model is "
                "written beside the proof"
            )
        beside = model_beside(path, file)
        check_outputs(path, beside, read=(file, proof))
        return _written(
            path, "write_proof_here", (file, proof, beside.name), limits, (path, beside)
        )
    if formulation is None:
        raise InputError("--formulation: is missing, expected one of the system's, see `list`")
    if form not in FORMATS:
        raise InputError(f"--format: {form!r}, expected one of {', '.join(FORMATS)}")
    path = out or Path(f"{_safe(read_instance(file).name)}.{formulation}.{FORMATS[form]}")
    check_outputs(path, read=file)
    return _written(path, "write_model_here", (file, formulation, form), limits, (path,))


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


def _write_checker(path: Path) -> int:
    from gadgetopt import __version__
    from gadgetopt.proofs.checker.writing import checker_in_one_file
    from gadgetopt.system.output import whole_file

    with whole_file(path) as part:
        part.write_text(checker_in_one_file(__version__), encoding="utf-8")
    echo(str(path))
    return 0


def _written(
    path: Path, function: str, asked: tuple[Any, ...], limits: Limits, files: tuple[Path, ...]
) -> int:
    """Have a process write to a path, and say which files it wrote; return the exit code.

    The process writes beside, and its files appear when it has ended: it may be stopped meanwhile.
    What it prints is no file's name and goes to standard error.
    """
    from gadgetopt.runs.engine.once import run_command
    from gadgetopt.system.output import whole_file

    here = f"gadgetopt.cli.making:{function}"
    with whole_file(path, regular=True) as part:
        try:
            with redirect_stdout(sys.stderr):
                code = run_command(here, (*asked, part), limits, "writing the model", "not written")
        except InputError as error:
            raise InputError(str(error).replace(str(part), str(path))) from None
        if code != 0:
            raise typer.Exit(code)
    for file in files:
        echo(str(file))
    return 0


def write_model_here(file: Path, formulation: str, form: str, path: Path) -> int:
    """Write the model of a formulation, in the process that this is called in."""
    from gadgetopt.reporting.export import write_formulation
    from gadgetopt.system.files import read_instance
    from gadgetopt.system.methods import find_formulation

    instance = read_instance(file)
    chosen = find_formulation(instance.problem, formulation)
    notes = write_formulation(chosen, instance.data, form, path)
    for note in notes[:MOST_NOTES]:
        print(f"gadgetopt: {note}")
    if len(notes) > MOST_NOTES:
        print(f"gadgetopt: {len(notes) - MOST_NOTES} more such lines, all at the file's head")
    return 0


def write_proof_here(file: Path, proof: Path, beside: str, path: Path) -> int:
    """Write a proof as VIPR and its model to the file `beside` it, in the process at work."""
    from gadgetopt.reporting.export import write_proof
    from gadgetopt.system.files import read_certificate, read_instance

    instance, certificate = read_instance(file), read_certificate(proof)
    write_proof(instance, certificate, path, path.with_name(beside))
    return 0


def _safe(name: str) -> str:
    """Return a name as part of a file's; it may contain slashes."""
    return re.sub(r"[^\w.=+-]+", "_", name)


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
