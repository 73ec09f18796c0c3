"""Servers, and the GPUs that a job has there, as one name of a resource: "server 2 GPUs 0+1"."""

from __future__ import annotations

import re
from collections.abc import Collection

from gadgetopt.errors import InputError

#: A number that fits into 60 bits, so that no file makes one with a million digits.
_NUMBER = "(?:0|[1-9][0-9]{0,17})"
_NAME = re.compile(rf"server ({_NUMBER})(?: GPUs ((?:{_NUMBER}(?:\+{_NUMBER})*)?))?", re.ASCII)


def place_name(server: int, gpus: Collection[int] | None) -> str:
    """Return the name of a server, with a job's GPUs there unless that is None."""
    return f"server {server}" + ("" if gpus is None else f" GPUs {'+'.join(map(str, gpus))}")


def place_of(name: str, what: str) -> tuple[int, tuple[int, ...] | None]:
    """Return the server of a name, and the GPUs that are named, or None.

    Raises
    ------
    InputError
        If it is no such name; the line begins with `what`.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        raise InputError(f"{what}: {name!r}, expected server 0, or server 0 GPUs 0+1, ...")
    gpus = None if found[2] is None else tuple(int(g) for g in found[2].split("+") if g)
    return int(found[1]), gpus
