"""Files that others wrote, read whole: only regular files, of a size that fits into memory.

suffixes    instances told by the suffixes of their files
points      names and values, as solvers write their solutions
tables      lists of records as tables, and back
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import zlib
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError

#: Most bytes of a file, and of what a compressed file holds.
MOST_BYTES = 2 * 10**9
#: Bytes that are read at once where the size is not known.
BLOCK_BYTES = 2**20

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
            size = os.fstat(file.fileno()).st_size
            content = _read(file, size) if size <= MOST_BYTES else None
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


def read_json_object(path: Path, expected: str) -> tuple[dict[str, Any], str]:
    """Return the JSON object that a file holds, and the SHA-256 of its bytes.

    Parameters
    ----------
    path : Path
    expected : str
        What it should be, for the message where it is no object.

    Raises
    ------
    InputError
        If it cannot be read, or holds no JSON object of finite numbers.
    """
    content = read_bytes(path)
    try:
        values = json.loads(decoded(path, content), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not JSON: {error}") from None
    if not isinstance(values, dict):
        raise InputError(f"{path}: is no JSON object, expected {expected}")
    return values, hashlib.sha256(content).hexdigest()


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


def decompressed(path: Path, content: bytes) -> bytes:
    """Return what the bytes of a gzip file hold.

    Raises
    ------
    InputError
        If they are no gzip file, or hold too much.
    """
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            return _of_bounded_size(path, _read(file))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: not a whole gzip file: {error}") from None


def _read(file: io.BufferedIOBase, expected_bytes: int = 0) -> bytes:
    """Return what a file holds, cut off once that is too much.

    It is read in blocks, as memory for all that is asked for is taken before anything is read.
    """
    blocks = [file.read(max(expected_bytes, BLOCK_BYTES))]
    left = MOST_BYTES + 1 - len(blocks[0])
    while blocks[-1] and left > 0:
        blocks.append(file.read(min(left, BLOCK_BYTES)))
        left -= len(blocks[-1])
    return b"".join(block for block in blocks if block)


def _of_bounded_size(path: Path, content: bytes | None) -> bytes:
    """Return what was read; None stands for what is too large to be read at all."""
    if content is None or len(content) > MOST_BYTES:
        raise InputError(f"{path}: holds more than {MOST_BYTES // 10**9} GB")
    return content
