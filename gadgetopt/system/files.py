"""Files of instances, solutions and certificates: envelope, strict parsing, fingerprints."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, get_args

from pydantic import ValidationError
from typing_extensions import TypeVar

from gadgetopt.errors import InputError, warn
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.data import Data, Instance, LpDuals, ModelProof
from gadgetopt.system.declaration import Problem, Sense, resolved
from gadgetopt.system.display import Displayed
from gadgetopt.system.output import write_text
from gadgetopt.system.printable import printable_line
from gadgetopt.system.reading import read_bytes, read_text
from gadgetopt.system.reading.points import POINTS, read_values
from gadgetopt.system.reading.suffixes import claims_of_all, imported, suffix_of
from gadgetopt.system.registry import problem, problem_names

if TYPE_CHECKING:
    import pandas as pd

#: The version of the envelope of files; others are refused.
FORMAT_VERSION = 1
Kind = Literal["instance", "solution", "certificate"]
logger = logging.getLogger(__name__)

_ENVELOPE = ("gadgetopt", "problem", "kind", "name", "data")
_HEADER = (
    '{"gadgetopt": 1, "problem": ..., "kind": "instance" (or "solution", "certificate"), '
    '"name": ..., "data": {...}}'
)

#: What a file begins with that is one of ours, even if the rest is damaged.
_HEADERS_KEY = b'"gadgetopt"'


#: The type of a document's record. Only the file determines it; annotate it for a type checker:
#: `instance: Document[SjfBcoInstance] = gadgetopt.read(...)`.
Record_co = TypeVar("Record_co", bound=Data, covariant=True, default=Any)


@dataclass(frozen=True, repr=False)
class Document(Displayed, Generic[Record_co]):
    """An instance, solution or certificate with its name, problem and origin.

    The problem of an instance has the sense that it has there.
    `instance` is the instance that a solution is of, where it is at hand.
    """

    problem: Problem
    kind: Kind
    name: str
    data: Record_co
    origin: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    instance: Document | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.kind == "instance":
            object.__setattr__(self, "problem", self.problem.on(self.data))

    @property
    def sense(self) -> Sense:
        """The sense of an instance."""
        return "max" if self.problem.sense == "max" else "min"

    def within(self, tolerance: Fraction | str) -> Document[Any]:
        """Return the instance that is relaxed by a tolerance: its rows hold within that.

        Objectives and bounds are those of the relaxed model then; integers stay integers. The name
        says so, as it is another instance.

        Parameters
        ----------
        tolerance : Fraction or str
            Such as "1e-6".

        Raises
        ------
        InputError
            If it is no number that is not negative, or the problem has no rows of its own.
        """
        try:
            size = decimal_rational(float(tolerance)) if isinstance(tolerance, str) else tolerance
        except (ValueError, OverflowError):
            raise InputError(f"within: {tolerance!r} is no number") from None
        if size < 0:
            raise InputError(f"within: {tolerance} is negative")
        if not size:
            return self
        if not isinstance(self.data, Instance):
            raise InputError(f"within: {self.name!r} is a {self.kind}, expected an instance")
        try:
            data: Any = self.data.within(size)
        except InputError as error:
            raise InputError(f"{self.path or self.name}: {error}") from None
        origin = {**self.origin, "within": str(size)}
        return replace(self, data=data, name=f"{self.name} within {tolerance}", origin=origin)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return each list of the data as a DataFrame, a list of records with their fields.

        `gadgetopt.instance(system, **document.tables(), like=document)` is the same instance.
        """
        from gadgetopt.system.reading.tables import tables_of

        return tables_of(self.data)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the problem's name and what tells the data from others."""
        return fingerprint(self.problem.name, self.data)


def fingerprint(problem_name: str, data: Data) -> str:
    """Return the digest that identifies an instance in a store."""
    return hashlib.sha256(f"{problem_name}\n".encode() + data.identity()).hexdigest()


def write(document: Document, path: Path | str) -> None:
    """Write a document to a file, whole or not at all."""
    write_text(Path(path), document_text(document))
    logger.info("%s: %s of %s written", path, document.kind, document.problem.name)


def write_new(document: Document, path: Path, *, force: bool = False) -> None:
    """Write an instance unless the file exists with other content.

    Raises
    ------
    InputError
        If it exists with other content and `force` is not set, or cannot be written.
    """
    if path.exists() and not force:
        try:
            there = read(path)
        except InputError:
            there = None
        if there is None or _identity(there) != _identity(document):
            raise InputError(f"{path}: already exists with other content; --force replaces it")
    write(document, path)


def _identity(document: Document) -> tuple[str, str, str]:
    return document.kind, document.name, document.fingerprint


def document_text(document: Document) -> str:
    """Return a document as the text of its file."""
    envelope = {
        "gadgetopt": FORMAT_VERSION,
        "problem": document.problem.name,
        "kind": document.kind,
        "name": document.name,
        "origin": dict(document.origin),
        "data": document.data.model_dump(mode="json", exclude_none=True),
    }
    return json.dumps(envelope, indent=1, allow_nan=False) + "\n"


def read(path: Path | str) -> Document:
    """Read an instance, solution or certificate file.

    A file whose suffix an importer claims, such as .mps, is an instance; all others are JSON.

    Raises
    ------
    InputError
        One line that names the file, the field, the value and what was expected.
    """
    path = Path(path)
    if suffix_of(path) == POINTS:
        raise InputError(f"{path}: a solver's solution, which is read with its instance only")
    found = imported(path)
    if found is None:
        document = replace(parse(read_text(path), str(path)), path=path)
    else:
        document = Document(found.problem, "instance", found.name, found.data, found.origin, path)
    logger.info("%s: %s of %s read", path, document.kind, document.problem.name)
    return document


def plain_json(text: str, path: str) -> Any:
    """Return what a text of JSON says, in which no object has a key twice.

    Raises
    ------
    InputError
        One line that begins with `path`.
    """
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{path}: not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise InputError(f"{path}: not JSON: nested too deeply") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except ValueError:  # the only one that Python's parser raises beside its own
        most = sys.get_int_max_str_digits()
        raise InputError(f"{path}: an integer of more than {most} digits") from None


def parse(text: str, path: str) -> Document:
    """Read a document from the text of its file; error messages name `path`."""
    envelope = plain_json(text, path)
    system, kind = _check_envelope(path, envelope)
    record = record_type(system, kind, envelope["data"])
    if record is None:
        raise InputError(
            f"{path}: kind: {kind!r}, but {system.name} has no certificates of its own"
        )
    return Document(
        problem=system,
        kind=kind,
        name=envelope["name"],
        data=validate(record, envelope["data"], path),
        origin=envelope.get("origin", {}),
    )


def record_type(system: Problem, kind: str, data: Any) -> Any:
    """Return the type of a record of a kind; a certificate's type also depends on its data."""
    if kind == "certificate" and isinstance(data, dict):
        if "row_duals" in data:
            return LpDuals
        if "proof" in data and "model" in data:
            return ModelProof
    types = {
        "instance": system.instance_type,
        "solution": system.solution_type,
        "certificate": system.certificate_type,
    }
    return resolved(types[kind])


def validate(record: Any, data: Any, source: str, prefix: str = "data") -> Any:
    """Turn plain JSON data into a record of a type, or raise a one-line InputError."""
    try:
        return resolved(record).model_validate_json(json.dumps(data))
    except ValidationError as error:
        details = _own(error.errors(include_url=False))
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        raise InputError(f"{source}: {_sentence(details[0], prefix, data)}{more}") from None


def read_instance(path: Path | str) -> Document:
    """Read a file that must be an instance."""
    return _of_kind(read(path), "instance")


def read_solution(path: Path | str, instance: Document | None = None) -> Document:
    """Read a file that must be a solution; a solver's .sol file is one of the instance given."""
    path = Path(path)
    if instance is None or suffix_of(path) != POINTS:
        return _of_kind(read(path), "solution")
    values = read_values(path, _number_text)
    try:
        data = resolved(instance.problem.solution_type).of_values(values, instance.data)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    return Document(instance.problem, "solution", instance.name, data, path=path, instance=instance)


def _number_text(text: str) -> str:
    """Return the text of a finite number, which may have more digits than a double."""
    if not math.isfinite(float(text)):
        raise ValueError(text)
    return text


def read_certificate(path: Path | str) -> Document:
    """Read a file that must be a certificate of a dual bound."""
    return _of_kind(read(path), "certificate")


def find_instances(paths: Iterable[Path | str]) -> list[Path]:
    """Expand files, directories and globs into distinct instance files in a fixed order.

    Solutions and certificates in a directory are skipped; so are files that are not gadgetopt's,
    with a warning. A path below `instances/` that does not exist here is looked up in the instance
    library installed with gadgetopt.

    Raises
    ------
    InputError
        If a path matches nothing.
    """
    found: dict[Path, Path] = {}
    for given in paths:
        try:
            matches = _matches(Path(given))
        except OSError as error:
            raise InputError(f"{given}: cannot be read: {error.strerror}") from None
        except ValueError as error:  # not a valid pattern
            raise InputError(f"{given}: {error}") from None
        if not matches:
            what = "holds no instance files" if Path(given).is_dir() else "no such instance file"
            raise InputError(f"{given}: {what}")
        for match in matches:
            found.setdefault(match.resolve(), match)
    return list(found.values())


def library() -> Path:
    """Return the folder of the instance library that is installed with gadgetopt."""
    package = Path(__file__).parent.parent
    inside = package / "instances"
    return inside if inside.is_dir() else package.parent / "instances"


def _matches(path: Path) -> list[Path]:
    if not path.exists() and any(c in str(path) for c in "*?["):
        anchor = Path(path.anchor) if path.is_absolute() else Path()
        pattern = str(path.relative_to(anchor)) if path.is_absolute() else str(path)
        if any("**" in part and part != "**" for part in path.parts):
            # Python 3.13 and later read it as a single star.
            raise ValueError("Invalid pattern: '**' can only be an entire path component")
        return sorted(p for p in anchor.glob(pattern) if p.is_file())
    if not path.exists() and path.parts[:1] == ("instances",):
        path = library().joinpath(*path.parts[1:])
    if path.is_dir():
        return _instances_in(path)
    return [path] if path.exists() else []


def _instances_in(folder: Path) -> list[Path]:
    found: list[Path] = []
    foreign: list[Path] = []
    claimed = claims_of_all()
    for path in sorted(p for p in folder.rglob("*.*") if p.is_file()):
        if suffix_of(path) in claimed:
            found.append(path)
        if path.suffix != ".json":
            continue
        try:
            content = read_bytes(path)
        except InputError:
            found.append(path)  # reading it as an instance will raise the proper message
            continue
        try:
            envelope = json.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            (found if _HEADERS_KEY in content else foreign).append(path)  # damaged, or no JSON
            continue
        if isinstance(envelope, dict) and "gadgetopt_record" in envelope:
            continue  # of an instance that is drawn, or lies elsewhere in the library
        if not isinstance(envelope, dict) or "gadgetopt" not in envelope:
            foreign.append(path)
        elif envelope.get("kind") not in ("solution", "certificate"):
            found.append(path)
    if foreign:
        names = ", ".join(str(path.relative_to(folder)) for path in foreign[:3])
        more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
        warn(f"{folder}: skipped, not gadgetopt files: {names}{more}")
    return found


def _of_kind(document: Document, kind: Kind) -> Document:
    if document.kind != kind:
        raise InputError(f"{document.path}: kind: {document.kind!r}, expected {kind!r}")
    return document


def _check_envelope(path: str, envelope: Any) -> tuple[Problem, Kind]:
    if not isinstance(envelope, dict):
        raise InputError(f"{path}: {_shown(envelope)} is not an object with a gadgetopt envelope")
    if "gadgetopt" not in envelope:
        raise InputError(f"{path}: no header, expected {_HEADER}")
    for key in _ENVELOPE:
        if key not in envelope:
            raise InputError(f"{path}: {key}: missing")
    for key in envelope:
        if key not in (*_ENVELOPE, "origin"):
            raise InputError(f"{path}: {_short(key)}: unknown field")
    if envelope["gadgetopt"] != FORMAT_VERSION or isinstance(envelope["gadgetopt"], bool):
        shown = _shown(envelope["gadgetopt"])
        raise InputError(f"{path}: gadgetopt: format version {shown}, expected {FORMAT_VERSION}")
    if envelope["problem"] not in problem_names():
        shown, known = _shown(envelope["problem"]), ", ".join(problem_names())
        raise InputError(f"{path}: problem: {shown} is not a known problem (known: {known})")
    if envelope["kind"] not in get_args(Kind):
        shown = _shown(envelope["kind"])
        raise InputError(f"{path}: kind: {shown}, expected 'instance', 'solution' or 'certificate'")
    name = envelope["name"]
    if not isinstance(name, str) or not name or not name.isprintable():
        raise InputError(
            f"{path}: name: {_shown(name)} is not a non-empty string of printable text"
        )
    if not isinstance(envelope.get("origin", {}), dict):
        raise InputError(f"{path}: origin: {_shown(envelope['origin'])} is not an object")
    return problem(envelope["problem"]), envelope["kind"]


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise InputError(f"{_short(key)}: given twice in one object")
        out[key] = value
    return out


# -- one line for a validation error ---------------------------------------------------------------

_EXPECTED = {
    "int_type": "is not an integer",
    "int_from_float": "is not an integer",
    "int_parsing": "is not an integer",
    "float_type": "is not a number",
    "finite_number": "is not a finite number",
    "string_type": "is not a string",
    "bool_type": "is not true or false",
    "tuple_type": "is not an array",
    "list_type": "is not an array",
    "dict_type": "is not an object",
    "model_type": "is not an object",
    "model_attributes_type": "is not an object",
    "rational": "is not a number or a fraction such as '600/7'",
    "rational_size": "is larger than any double",
}


def _own(details: list[Any]) -> list[Any]:
    """Drop `too_short` errors of arrays whose entries are themselves invalid."""
    places = [tuple(detail["loc"]) for detail in details]
    inside = {place[:k] for place in places for k in range(len(place))}
    return [
        detail
        for detail, place in zip(details, places, strict=True)
        if detail["type"] != "too_short" or place not in inside
    ]


def _sentence(detail: Mapping[str, Any], prefix: str, data: Any) -> str:
    kind, given, context = detail["type"], detail["input"], detail.get("ctx", {})
    # Validators name existing fields, whatever kind of record was assumed.
    place = _place(prefix, detail["loc"], data, there=kind == "value_error")
    if kind == "missing":
        return f"{place}: missing"
    if kind == "extra_forbidden":
        return f"{place}: unknown field"
    if kind == "json_invalid":  # Python's parser took it, but pydantic's has a bounded depth
        return f"{place}: nested too deeply".removeprefix(": ")
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        tag = context["discriminator"].strip("'")
        if kind == "union_tag_not_found":
            return f"{place}.{tag}: missing"
        return f"{place}.{tag}: {_shown(given[tag])}, expected one of {context['expected_tags']}"
    if kind == "value_error":
        # A custom validator: its message starts with the field.
        return f"{place}.{context['error']}".removeprefix(".")
    if kind == "greater_than":
        noun = "integer" if isinstance(context["gt"], int) else "number"
        rest = f"a positive {noun}" if context["gt"] == 0 else f"greater than {context['gt']}"
        return f"{place}: {_shown(given)} is not {rest}"
    if kind == "greater_than_equal":
        return f"{place}: {_shown(given)} is below the least allowed, {context['ge']}"
    if kind == "less_than":
        return f"{place}: {_shown(given)} is not less than {context['lt']:g}"
    if kind == "string_too_short" and not given:
        return f"{place}: {_shown(given)} is an empty string"
    if kind == "less_than_equal":
        return f"{place}: {_shown(given)} is above the greatest allowed, {context['le']}"
    if kind == "too_short":
        return f"{place}: {_shown(given)} has fewer than {context['min_length']} entries"
    if kind in _EXPECTED:
        return f"{place}: {_shown(given)} {_EXPECTED[kind]}"
    return f"{place}: {_shown(given)}: {detail['msg'][0].lower()}{detail['msg'][1:]}"


def _place(prefix: str, location: Sequence[str | int], data: Any, *, there: bool = False) -> str:
    """Return the place of an error in `data`; only its last step may be missing from the data."""
    place = prefix
    for k, step in enumerate(location):
        if step == "[key]":
            continue
        if isinstance(data, dict) and step not in data and (there or k + 1 < len(location)):
            continue  # the tag of a record that is one of several kinds
        if isinstance(step, str) and isinstance(data, str | int | float | list):
            continue  # the tag of a value that is one of several kinds
        place += f"[{step}]" if isinstance(step, int) else f".{_short(step)}"
        inside = isinstance(data, dict) and step in data
        inside = inside or (isinstance(data, list) and isinstance(step, int) and step < len(data))
        data = data[step] if inside else None
    return place.removeprefix(".")


def _shown(value: Any) -> str:
    """Return a value as JSON, shortened to fit a line."""
    return _short(json.dumps(value, default=str))


def _short(text: str) -> str:
    line = printable_line(text)
    return line if len(line) <= 60 else f"{line[:57]}..."
