"""Files that others wrote, read whole: only regular files, of a size that fits into memory."""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from pathlib import Path

from gadgetopt.errors import InputError

#: Most bytes of a file, and of what a compressed file holds.
MOST_BYTES = 2 * 10**9

#: What is not read, as reading it may never end.
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def check_regular(path: Path) -> None:
    """Refuse what exists but is neither a file nor a directory, which opening refuses by itself.

    Raises
    ------
    InputError
        If it is a pipe, socket or device.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # opening it will say so
        return
    for is_kind, name in _KINDS:
        if is_kind(mode):
            raise InputError(f"{path}: is {name}, expected a file")


def read_bytes(path: Path) -> bytes:
    """Return what a file holds.

    Raises
    ------
    InputError
        If it cannot be read, is no regular file, or is too large.
    """
    check_regular(path)
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # a ValueError for a null character in the name
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: cannot be read: {reason}") from None
    return _of_bounded_size(path, content)


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, without a byte order mark.

    Raises
    ------
    InputError
        If it cannot be read, or is not UTF-8 text.
    """
    return decoded(path, read_bytes(path))


def decoded(path: Path, content: bytes) -> str:
    """Return the text that a file's bytes are in UTF-8, without a byte order mark.

    Raises
    ------
    InputError
        If they are not UTF-8 text.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8 text") from None


def decompressed(path: Path, content: bytes) -> bytes:
    """Return what the bytes of a gzip file hold.

    Raises
    ------
    InputError
        If they are no gzip file, or hold too much.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return _of_bounded_size(path, file.read(MOST_BYTES + 1))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file: {error}") from None


def _of_bounded_size(path: Path, content: bytes) -> bytes:
    if len(content) > MOST_BYTES:
        raise InputError(f"{path}: holds more than {MOST_BYTES // 10**9} GB")
    return content
