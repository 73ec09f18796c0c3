"""The text of a model file, unpacked if its name says that it is packed."""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

from gadgetopt.proofs.files import MOST_BYTES

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_FOREIGN_SPACE = re.compile(r"[^\S\x00-\x7f]")


class Unreadable(ValueError):
    """A file that is no exact linear model; the message is one line that names the place."""


def text_of(path: Path) -> str:
    """Return the text of a file, its lines ended by a line feed alone.

    Raises
    ------
    Unreadable
        If it is no text, damaged, or too long.
    OSError
        If it cannot be read.
    """
    return decoded(unpacked_bytes(path))


def unpacked_bytes(path: Path) -> bytes:
    """Return the bytes of a file, unpacked if it ends in .gz or .bz2.

    Raises
    ------
    Unreadable
        If it is damaged or too long.
    """
    packing = path.suffix.lower()
    openers: dict[str, Callable[[Path, str], object]] = {".gz": gzip.open, ".bz2": bz2.open}
    try:
        with cast("IO[bytes]", openers.get(packing, open)(path, "rb")) as file:
            data = file.read(MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unreadable(f"is no whole packed file: {error}") from None
    except OSError as error:
        if error.errno is None:  # bz2's word for damage
            raise Unreadable(f"is no whole packed file: {error}") from None
        raise
    if len(data) > MOST_BYTES:
        raise Unreadable(f"has more than {MOST_BYTES:,} bytes")
    return data


def decoded(data: bytes) -> str:
    """Return the text that bytes are, in UTF-8 or else in Latin-1.

    Raises
    ------
    Unreadable
        If they hold control characters, or spaces that solvers take for part of a name.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.replace("\r\n", "\n")
    wrong = _CONTROL.search(text) or _FOREIGN_SPACE.search(text)
    if wrong:
        line = text.count("\n", 0, wrong.start()) + 1
        raise Unreadable(f"line {line}: the character {wrong[0]!r} is no part of a model file")
    return text
