"""The text of a proof as it is kept in certificates: compressed, read line by line.

A reader needs memory for the compressed text and for one line.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator

#: Limits that no honest proof comes near, so that a small file cannot fill memory or run for ever.
MOST_BYTES, LONGEST_LINE = 2 * 10**9, 10**8

_CHUNK = 1 << 16


def packed(lines: Iterable[str]) -> str:
    """Return the compressed text of lines."""
    squeeze = zlib.compressobj(9)
    parts = [squeeze.compress(f"{line}\n".encode("ascii")) for line in lines]
    return base64.b64encode(b"".join([*parts, squeeze.flush()])).decode("ascii")


def unpacked(text: str) -> Iterator[str]:
    """Yield the lines of a compressed text.

    Raises
    ------
    ValueError
        If it is not such a text, or larger than any honest proof.
    """
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("proof: is not the compressed text of a proof") from None
    begun, size = b"", 0
    for chunk in _inflated(data):
        size += len(chunk)
        *whole, begun = (begun + chunk).split(b"\n")
        if size > MOST_BYTES or len(begun) > LONGEST_LINE:
            raise ValueError("proof: is larger than any honest proof")
        for line in whole:
            yield line.decode("ascii", errors="replace")
    if begun:
        raise ValueError("proof: its last line has no end")


def _inflated(data: bytes) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    try:
        while not inflate.eof:
            chunk = inflate.decompress(data, _CHUNK)
            data = inflate.unconsumed_tail
            if not chunk and not data and not inflate.eof:
                raise zlib.error("cut off")
            yield chunk
    except zlib.error:
        raise ValueError("proof: is not the compressed text of a proof") from None
