"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gadgetopt.errors import InputError


@contextmanager
def whole_file(path: Path, *, regular: bool = False) -> Iterator[Path]:
    """Yield a path to write to; the file written there replaces `path` when the block ends.

    If the block fails, `path` is unchanged and nothing else is left. Folders are created as needed,
    links are followed, and a device or pipe such as /dev/stdout is written to directly, or with
    `regular` copied to at the end: another process has other devices.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            if not regular:
                yield path
                return
            with tempfile.TemporaryDirectory(prefix="gadgetopt-") as apart:
                part = Path(apart) / path.name
                yield part
                with part.open("rb") as whole, path.open("wb") as device:
                    shutil.copyfileobj(whole, device)
            return
        target = Path(os.path.realpath(path))
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".gadgetopt-", dir=target.parent))
        try:
            yield folder / target.name
            # A writer may create further files beside the requested one, such as names of rows.
            for made in sorted(folder.iterdir()):
                made.replace(target.parent / made.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    try:
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8")
    except UnicodeError as error:
        raise InputError(f"{path}: cannot be written: {error}") from None
