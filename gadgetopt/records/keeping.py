"""How solutions and certificates are kept: as they are if short, else compressed."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import lzma
from collections.abc import Callable
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.records.record import Kept
from gadgetopt.system.files import plain_json

#: Longest JSON that is kept as it is, longest base64 that is kept in the entry: an entry is then a
#: page or two, and its changes can be read. By definition.
AS_IT_IS, IN_ENTRY = 1_500, 8_000

#: Most bytes of a compressed part, so that the library stays small, and of its text, so that no
#: small file fills memory. By definition.
MOST_PACKED, MOST_TEXT = 600_000, 100_000_000


def kept(data: dict[str, Any], file: str) -> tuple[Kept, bytes | None]:
    """Return how data are kept, and the content of the file beside the entry if there is one.

    Parameters
    ----------
    data : dict
        Plain JSON data.
    file : str
        What that file is called.

    Raises
    ------
    InputError
        If they are too large for the library.
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    if len(text) <= AS_IT_IS:
        return Kept(data=data), None
    if len(text) > MOST_TEXT:
        raise InputError(f"takes {len(text) / 1e6:.0f} MB, at most {MOST_TEXT / 1e6:.0f} are kept")
    content = lzma.compress(text.encode(), preset=9)
    if len(content) > MOST_PACKED:
        size, most = len(content) / 1e6, MOST_PACKED / 1e6
        raise InputError(f"takes {size:.1f} MB compressed, at most {most:.1f} are kept")
    packed = base64.b64encode(content).decode("ascii")
    if len(packed) <= IN_ENTRY:
        return Kept(packed=packed), None
    return Kept(file=file, sha256=hashlib.sha256(content).hexdigest()), content


def data_of(part: Kept, file: str, beside: Callable[[str], bytes]) -> Any:
    """Return the plain JSON data of a part.

    Parameters
    ----------
    part : Kept
    file : str
        What its file is called if it has one.
    beside : callable
        Returns the content of a file beside the entry.

    Raises
    ------
    InputError
        What follows the place in a line, if it is not kept in one of the ways.
    """
    ways = (part.data is not None, part.packed is not None, part.file is not None)
    if sum(ways) != 1 or (part.file is None) != (part.sha256 is None):
        raise InputError(": expected one of data, packed, or file and sha256")
    if part.data is not None:
        return part.data
    if part.packed is not None:
        try:
            content = base64.b64decode(part.packed, validate=True)
        except binascii.Error:
            raise InputError(".packed: is not base64") from None
        return plain_json(_text(content), ".packed")
    if part.file != file:
        raise InputError(f".file: {part.file!r}, expected {file!r}")
    content = beside(file)
    if hashlib.sha256(content).hexdigest() != part.sha256:
        raise InputError(f".sha256: is not that of {file}")
    return plain_json(_text(content), ".file")


def _text(content: bytes) -> str:
    decompress = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=200_000_000)
    try:
        text = decompress.decompress(content, max_length=MOST_TEXT + 1)
        if len(text) > MOST_TEXT:
            raise InputError(f": holds more than {MOST_TEXT / 1e6:.0f} MB")
        if not decompress.eof or decompress.unused_data:
            raise InputError(": is not one whole xz file")
        return text.decode("utf-8")
    except (lzma.LZMAError, UnicodeDecodeError, EOFError):
        raise InputError(": is not text compressed by xz") from None
