"""Solutions in formats that something else executes: written, read back, and judged as written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.numbers.text import show, show_apart
from gadgetopt.numbers.tolerance import Number, agrees
from gadgetopt.system.declaration import Exporter, Problem
from gadgetopt.system.files import Document
from gadgetopt.system.output import whole_file
from gadgetopt.system.reading import read_bytes


@dataclass(frozen=True)
class Exported:
    """What an exporter writes.

    Attributes
    ----------
    files : mapping
        The text or the bytes of each file by the end of its name, such as ".csv"; the main file is
        first.
    notes : tuple of str
        What whoever runs it has to know, in sentences.
    """

    files: Mapping[str, str | bytes]
    notes: tuple[str, ...] = ()

    def text(self, suffix: str) -> str:
        """Return a file that is a text.

        Raises
        ------
        InputError
            If it is not there, or is no text.
        """
        content = self.files.get(suffix)
        if content is None:
            raise InputError(f"the file {suffix}: is missing")
        if isinstance(content, str):
            return content
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(f"the file {suffix}: is no text in UTF-8") from None


@dataclass(frozen=True)
class Judged:
    """A solution as it was and as the files have it, with the evaluator's objective of both."""

    exported: Exported
    objective: Number
    kept: Number


def find_exporter(problem: Problem, form: str, what: str = "--format") -> Exporter:
    """Return the exporter of a format.

    Raises
    ------
    InputError
        If the system has none.
    """
    for exporter in problem.exporters:
        if exporter.format == form:
            return exporter
    known = ", ".join(e.format for e in problem.exporters) or "none"
    raise InputError(f"{what}: {form!r}, expected a format of solutions of {problem.name}: {known}")


def written(
    problem: Problem,
    exporter: Exporter,
    instance: Any,
    solution: Any,
    parameters: Mapping[str, Any],
) -> Judged:
    """Write a solution, read it back, and hold the objective that was read against the one kept.

    Raises
    ------
    InputError
        If the solution is not feasible, the format cannot say it, or what is read back is another.
    """
    form = exporter.format
    objective = _objective(problem, instance, solution, "the solution")
    exported: Exported = exporter.write(instance, solution, **parameters)
    kept = objective
    if exporter.kept is not None:
        as_kept = exporter.kept(instance, solution, **parameters)
        kept = _objective(problem, instance, as_kept, f"{form}: the solution as written")
    again = exporter.read_back(instance, exported)
    found = _objective(problem, instance, again, f"what is read back from {form}")
    if not agrees(found, kept):
        one, other = show_apart(found, kept)
        raise InputError(
            f"{form}: what is read back has {one} instead of {other}: nothing is written, as the "
            "exporter is wrong"
        )
    return Judged(exported, objective, kept)


def _objective(problem: Problem, instance: Any, solution: Any, what: str) -> Number:
    evaluation = problem.evaluate(instance, solution)
    if evaluation.objective is None or evaluation.violations:
        first = evaluation.violations[0]
        raise InputError(
            f"{what} is infeasible: {first.constraint} at {first.where}: by {show(first.amount)}; "
            "expected a feasible one"
        )
    objective: Number = evaluation.objective
    return objective


# -- files -----------------------------------------------------------------------------------------


def stem_of(exporter: Exporter, path: Path) -> str:
    """Return the name of a main file without its ending; other files begin with it.

    Of several main files any one may be named, such as "plan.3.et" of ".*.et", or "plan.et".
    """
    head, several, end = exporter.suffixes[0].rpartition("*")
    stem = path.name.removesuffix(end)
    return re.sub(rf"{re.escape(head)}[0-9]+$", "", stem) if several else stem


def save(exporter: Exporter, exported: Exported, path: Path) -> list[Path]:
    """Write the files: the main one at `path`, the others beside it; return where they are.

    Raises
    ------
    InputError
        If one cannot be written.
    """
    stem, paths = stem_of(exporter, path), []
    for suffix, content in exported.files.items():
        own = path if suffix == exporter.suffixes[0] else path.with_name(f"{stem}{suffix}")
        with whole_file(own) as part:
            part.write_bytes(content.encode() if isinstance(content, str) else content)
        paths.append(own)
    return paths


def load(exporter: Exporter, path: Path) -> Exported:
    """Return the files of an export: the main one at `path`, and those beside it.

    Raises
    ------
    InputError
        If the main one cannot be read.
    """
    stem = stem_of(exporter, path)
    files: dict[str, str | bytes] = {}
    for suffix in exporter.suffixes:
        head, several, end = suffix.partition("*")
        if several:
            named = re.compile(re.escape(stem + head) + r"\w+" + re.escape(end))
            found = [p for p in sorted(path.parent.iterdir()) if named.fullmatch(p.name)]
            files |= {p.name.removeprefix(stem): read_bytes(p) for p in found}
        elif suffix == exporter.suffixes[0]:
            files[suffix] = read_bytes(path)
        elif (beside := path.with_name(f"{stem}{suffix}")).exists():
            files[suffix] = read_bytes(beside)
    if not files:
        raise InputError(f"{path}: no such file, expected what {exporter.format} writes")
    return Exported(files)


def read_exported(instance: Document[Any], form: str, path: Path) -> Document[Any]:
    """Return the solution of an instance that the files of a format say.

    Raises
    ------
    InputError
        If the system has no such format, or a file cannot be read as it.
    """
    exporter = find_exporter(instance.problem, form)
    try:
        data = exporter.read_back(instance.data, load(exporter, path))
    except InputError as error:
        named = str(error).startswith(str(path.parent / stem_of(exporter, path)))
        raise error if named else InputError(f"{path}: {error}") from None
    return Document(instance.problem, "solution", instance.name, data, path=path, instance=instance)
