"""The text of a proof as it is kept in certificates: compressed, read line by line.

A reader needs memory for the compressed text and for one line. A text is not much longer than what
it is compressed to, so that the time of a check is known from the size of a file.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable, Iterator

#: Limits that no honest proof comes near, so that a small file cannot fill memory or run for ever.
MOST_BYTES, LONGEST_LINE = 2 * 10**9, 5 * 10**7

#: Most bytes of text for a byte of compressed text, and what any text may have. Proofs that were
#: found have up to 10; a text that repeats itself more is written with weaker compression.
EXPANSION, ALWAYS_BYTES = 20, 100_000

_CHUNK = 1 << 16


def packed(lines: Iterable[str]) -> str:
    """Return the compressed text of lines."""
    text = "".join(f"{line}\n" for line in lines).encode("ascii")
    data = zlib.compress(text, 9)
    if len(text) > _most_text(data):
        single_bytes = zlib.compressobj(9, strategy=zlib.Z_HUFFMAN_ONLY)  # to an eighth at most
        data = single_bytes.compress(text) + single_bytes.flush()
    return base64.b64encode(data).decode("ascii")


def _most_text(data: bytes) -> int:
    """Return the most bytes of text that are read from compressed text."""
    return min(MOST_BYTES, EXPANSION * len(data) + ALWAYS_BYTES)


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
    begun: list[bytes] = []  # the pieces of a line without its end
    length = size = 0
    for chunk in _inflated(data):
        size += len(chunk)
        first, *more = chunk.split(b"\n")
        begun.append(first)
        length += len(first)
        if size > _most_text(data) or length > LONGEST_LINE:
            raise ValueError("proof: is larger than any honest proof")
        if more:
            *whole, last = more
            for line in (b"".join(begun), *whole):
                yield line.decode("ascii", errors="replace")
            begun, length = [last], len(last)
    if length:
        raise ValueError("proof: its last line has no end")


def _inflated(data: bytes) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    try:
        for start in range(0, len(data), _CHUNK):
            some = data[start : start + _CHUNK]
            while some and not inflate.eof:
                yield inflate.decompress(some, _CHUNK)
                some = inflate.unconsumed_tail
        while not inflate.eof:
            chunk = inflate.decompress(b"", _CHUNK)
            if not chunk:
                raise zlib.error("cut off")
            yield chunk
    except zlib.error:
        raise ValueError("proof: is not the compressed text of a proof") from None
