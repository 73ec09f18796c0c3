"""Fields of protobuf messages: numbers as varints, texts and messages with their length."""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.errors import InputError

#: The two wire types that are written: numbers, and bytes with their length. By definition.
NUMBER, BYTES = 0, 2
#: Bytes of the other wire types, of 64 and 32 bits, which are skipped. By definition.
FIXED = {1: 8, 5: 4}
#: Bytes of the longest varint: 64 bits, seven in each byte. By definition.
MOST_VARINT = 10


def varint(number: int) -> bytes:
    """Return a number below 2**64 in groups of seven bits, the lowest first."""
    out = bytearray()
    while True:
        low, number = number & 127, number >> 7
        out.append(low | (128 if number else 0))
        if not number:
            return bytes(out)


def field(number: int, value: int | str | bytes) -> bytes:
    """Return a field of a message; negative numbers are written in 64 bits."""
    if isinstance(value, int):
        return varint(number << 3 | NUMBER) + varint(value % 2**64)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | BYTES) + delimited(content)


def delimited(content: bytes) -> bytes:
    """Return bytes after their length."""
    return varint(len(content)) + content


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place, and the place after it.

    Raises
    ------
    InputError
        If the bytes end before, or it is longer than 64 bits.
    """
    number = 0
    for k in range(MOST_VARINT):
        if at + k >= len(data):
            raise InputError(f"byte {at}: ends within a number")
        number |= (data[at + k] & 127) << 7 * k
        if not data[at + k] & 128:
            return number % 2**64, at + k + 1
    raise InputError(f"byte {at}: a number of more than 64 bits")


def read_delimited(data: bytes, at: int) -> tuple[bytes, int]:
    """Return the bytes after a length, and the place after them.

    Raises
    ------
    InputError
        If the data end before.
    """
    length, start = read_varint(data, at)
    if start + length > len(data):
        raise InputError(f"byte {at}: ends within {length} bytes")
    return data[start : start + length], start + length


def read_fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the number and the value of each field of a message.

    Raises
    ------
    InputError
        If it is no message.
    """
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == NUMBER:
            number, at = read_varint(data, at)
            yield key >> 3, number
        elif kind == BYTES:
            content, at = read_delimited(data, at)
            yield key >> 3, content
        elif kind in FIXED and at + FIXED[kind] <= len(data):
            at += FIXED[kind]
        else:
            raise InputError(f"byte {at}: a field of the unknown type {kind}")
