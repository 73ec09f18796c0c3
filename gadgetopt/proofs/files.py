"""The text of a proof as it is kept in certificates: compressed, read line by line.

A reader needs memory for the compressed text and for one line. A text is not much longer than what
it is compressed to, so that the time of a check is known from the size of a file.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator

#: Limits that no honest proof comes near, so that a small file cannot fill memory or run for ever.
#: By definition.
MOST_BYTES, LONGEST_LINE = 2 * 10**9, 5 * 10**7

#: Most bytes of text for a byte of compressed text, and what any text may have. Proofs that were
#: found have up to 10; a text that repeats itself more is compressed in pieces. By definition.
EXPANSION, ALWAYS_BYTES = 20, 100_000

#: Bytes of text that are compressed by themselves if the text repeats itself too much. No piece of
#: the last size is compressed to less than a twentieth.
_PIECES = [1 << k for k in range(15, 6, -1)]
#: Characters in base64 that are decoded at once, a multiple of 4, and bytes of text that follow.
#: By definition.
_CHUNK = 1 << 16

_NO_PROOF = "proof: is not the compressed text of a proof"


def packed(lines: Iterable[str]) -> str:
    """Return the compressed text of lines."""
    text = "".join(f"{line}\n" for line in lines).encode("ascii")
    data = zlib.compress(text, 9)
    for piece in _PIECES:
        if len(text) <= _most_text(len(data)):
            break
        data = _compressed_in_pieces(text, piece)
    return base64.b64encode(data).decode("ascii")


def _compressed_in_pieces(text: bytes, piece: int) -> bytes:
    """Return compressed text, of which no piece is written as a repetition of one before."""
    deflate = zlib.compressobj(9)
    data = []
    for start in range(0, len(text), piece):
        data += [deflate.compress(text[start : start + piece]), deflate.flush(zlib.Z_FULL_FLUSH)]
    return b"".join((*data, deflate.flush()))


def _most_text(compressed_bytes: int) -> int:
    """Return the most bytes of text that are read from compressed text."""
    return min(MOST_BYTES, EXPANSION * compressed_bytes + ALWAYS_BYTES)


def unpacked(text: str) -> Iterator[str]:
    """Yield the lines of a compressed text.

    Raises
    ------
    ValueError
        If it is not such a text, or larger than the limit for a proof.
    """
    most = _most_text(3 * len(text) // 4)
    begun: list[bytes] = []  # the pieces of a line without its end
    length = size = 0
    for chunk in _inflated(_decoded(text)):
        size += len(chunk)
        first, *more = chunk.split(b"\n")
        begun.append(first)
        length += len(first)
        if size > most or length > LONGEST_LINE:
            raise ValueError("proof: is larger than the limit for a proof")
        if more:
            *whole, last = more
            for line in (b"".join(begun), *whole):
                yield line.decode("ascii", errors="replace")
            begun, length = [last], len(last)
    if length:
        raise ValueError("proof: its last line has no end")


def _decoded(text: str) -> Iterator[bytes]:
    """Yield the bytes that a text in base64 stands for, with its padding at its end alone."""
    for start in range(0, len(text), _CHUNK):
        some = text[start : start + _CHUNK]
        if "=" in some and start + _CHUNK < len(text):
            raise ValueError(_NO_PROOF)
        try:
            yield base64.b64decode(some, validate=True)
        except ValueError:
            raise ValueError(_NO_PROOF) from None


def _inflated(compressed: Iterable[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj()
    try:
        for some in compressed:
            left = some
            while left and not inflate.eof:
                yield inflate.decompress(left, _CHUNK)
                left = inflate.unconsumed_tail
        while not inflate.eof:
            chunk = inflate.decompress(b"", _CHUNK)
            if not chunk:
                raise zlib.error("cut off")
            yield chunk
    except zlib.error:
        raise ValueError(_NO_PROOF) from None
