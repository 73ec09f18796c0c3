"""What was read from source files, kept beside their bytecode until one of them changes.

As with bytecode, a file counts as unchanged while its size and the time of its last change are the
same, nothing is written where Python writes no bytecode (`python -B`), and a folder that cannot be
written costs time only.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

#: Time of the last change in nanoseconds, and size in bytes.
_Stamp = tuple[int, int]


def kept(
    file: str,
    name: str,
    folders: Iterable[str],
    read: Callable[[], tuple[Any, Iterable[str]]],
) -> Any:
    """Return what `read` returns, from where it is kept if no file has changed.

    Parameters
    ----------
    file : str
        The source file beside whose bytecode it is kept.
    name : str
        What it is, in letters: one file may have several.
    folders : iterable of str
        Folders whose Python files it comes from, those below them included.
    read : callable
        Returns the value, which can be pickled, and further files that it comes from.
    """
    try:
        place = Path(cache_from_source(file)).with_suffix(f".{name}")
    except (NotImplementedError, ValueError):  # this Python keeps no bytecode, or not of this file
        return read()[0]
    before = dict(_stamps(folders))
    known: Mapping[str, _Stamp]
    # A file that is damaged, or of another version, is written anew.
    with contextlib.suppress(Exception):
        known, content = pickle.loads(place.read_bytes())
        others = {other: _stamp(other) for other in known if other not in before}
        if known == before | others:
            return pickle.loads(content)
    value, others_read = read()
    if not sys.dont_write_bytecode:
        # What is in no file has no stamp: it may change unseen.
        with contextlib.suppress(OSError):
            others = {other: _stamp(other) for other in others_read if other not in before}
            _write(place, pickle.dumps((before | others, pickle.dumps(value))))
    return value


def _write(place: Path, content: bytes) -> None:
    """Write a file that nobody sees half written."""
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_suffix(f"{place.suffix}.{os.getpid()}")
    try:
        new.write_bytes(content)
        new.replace(place)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def _stamps(folders: Iterable[str]) -> Iterator[tuple[str, _Stamp]]:
    """Yield the Python files of folders and of those below them."""
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    yield entry.path, _stamp(entry.path)
                elif "." not in entry.name and entry.name != "__pycache__" and entry.is_dir():
                    yield from _stamps((entry.path,))


def _stamp(file: str) -> _Stamp:
    found = os.stat(file)
    return found.st_mtime_ns, found.st_size
