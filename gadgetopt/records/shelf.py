"""The folder of the records: its entries found, read and written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from gadgetopt.errors import InputError
from gadgetopt.records.checking import file_name
from gadgetopt.records.record import FORM, Record
from gadgetopt.system.files import library, plain_json, validate
from gadgetopt.system.output import whole_file, write_text
from gadgetopt.system.reading import read_bytes, read_text


def shelf() -> Path:
    """Return the folder of the records that are installed with gadgetopt."""
    return library() / "records"


@dataclass(frozen=True)
class Entry:
    """An entry and its file."""

    path: Path
    record: Record

    @property
    def label(self) -> str:
        """The system and the name."""
        return f"{self.record.problem}/{self.record.name}"

    def beside(self, name: str) -> bytes:
        """Return the content of a file beside the entry."""
        return read_bytes(self.path.parent / name)


def read_entry(path: Path) -> Entry:
    """Read an entry; nothing of it is checked but its form and its place.

    Raises
    ------
    InputError
        One line that begins with the path.
    """
    plain = plain_json(read_text(path), str(path))
    if not isinstance(plain, dict) or "gadgetopt_record" not in plain:
        raise InputError(f'{path}: no entry of the records, which have "gadgetopt_record": {FORM}')
    if plain["gadgetopt_record"] != FORM or isinstance(plain["gadgetopt_record"], bool):
        given = json.dumps(plain["gadgetopt_record"], default=str)[:40]
        raise InputError(f"{path}: gadgetopt_record: version {given}, expected {FORM}")
    record: Record = validate(Record, plain, str(path), prefix="")
    if path.name != f"{record.name}.json":
        raise InputError(f"{path}: name: {record.name!r}, expected {path.stem!r} as its file")
    if path.absolute().parent.name != record.problem:
        folder = path.absolute().parent.name
        raise InputError(f"{path}: problem: {record.problem!r}, expected {folder!r} as its folder")
    return Entry(path, record)


def find_entries(
    chosen: Sequence[Path | str] = (), folder: Path | None = None
) -> tuple[Path, list[Path]]:
    """Return the folder that entries are looked for in, and their files in a fixed order.

    Parameters
    ----------
    chosen : sequence of path or str
        Files, folders, systems, `SYSTEM/NAME`, or patterns of these; default all.
    folder : Path, optional
        Default: that of the installed records.

    Raises
    ------
    InputError
        If one of them is none.
    """
    top = shelf() if folder is None else folder
    if not top.is_dir():
        raise InputError(f"{top}: no such folder of records")
    if not chosen:
        return top, sorted(top.glob("*/*.json"))
    found: dict[Path, None] = {}
    for name in chosen:
        matches = list(_matching(top, str(name)))
        if not matches:
            raise InputError(f"{name}: no entry of the records, nor a folder of some")
        found.update(dict.fromkeys(matches))
    return top, list(found)


def _matching(top: Path, name: str) -> Iterator[Path]:
    path = Path(name)
    if path.is_dir():
        yield from sorted(p for p in path.rglob("*.json"))
    elif path.suffix == ".json" and path.is_file():
        yield path
    else:
        for entry in sorted(top.glob("*/*.json")):
            label = f"{entry.parent.name}/{entry.stem}"
            if fnmatchcase(label, name) or name in (entry.parent.name, entry.stem):
                yield entry


def read_entries(paths: Sequence[Path]) -> list[Entry]:
    """Read entries; one that cannot be read is an error."""
    return [read_entry(path) for path in paths]


def entry_text(record: Record) -> str:
    """Return the text of an entry's file: a line a field, and a line a step of the history."""
    plain = record.model_dump(mode="json")
    for part in ("solution", "certificate"):
        if plain[part] is not None:
            plain[part] = {k: v for k, v in plain[part].items() if v is not None}
    steps = ",\n".join(f"  {json.dumps(step)}" for step in plain.pop("history"))
    lines = [f" {json.dumps(k)}: {json.dumps(v, allow_nan=False)}" for k, v in plain.items()]
    return "{\n" + ",\n".join(lines) + f',\n "history": [\n{steps}\n ]\n}}\n'


def write_entry(
    record: Record, folder: Path, contents: Mapping[str, bytes], kept: Callable[[str], bool]
) -> Path:
    """Write an entry and the files beside it; remove those that it no longer has.

    Parameters
    ----------
    record : Record
    folder : Path
        That of the records.
    contents : mapping
        New contents of files beside the entry, by name.
    kept : callable
        Whether a file beside the entry stays as it is.
    """
    place = folder / record.problem
    for name, content in contents.items():
        with whole_file(place / name) as part:
            part.write_bytes(content)
    path = place / f"{record.name}.json"
    write_text(path, entry_text(record))
    for what in ("solution", "certificate"):
        name = file_name(record.name, what)
        if name not in contents and not kept(name):
            (place / name).unlink(missing_ok=True)
    return path
