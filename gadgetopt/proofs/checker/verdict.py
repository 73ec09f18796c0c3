"""Checks a proof against a model. It needs the standard library only.

A proof is a VIPR file, the lines of a tree proof, a point and a ray, or a certificate that holds
such lines. A model is a file in MPS, LP or .nl, or the lines of `model.py`. A VIPR file holds a
model of its own, too.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import IO, cast

from gadgetopt.proofs.checker.sentences import Verdict, bound_sentence, heading
from gadgetopt.proofs.checker.vipr_verdict import vipr_verdict
from gadgetopt.proofs.files import LONGEST_LINE, MOST_BYTES, unpacked
from gadgetopt.proofs.model import Model, digest, parsed
from gadgetopt.proofs.ray_kernel import check_unbounded
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.model_files import format_of, read_model
from gadgetopt.proofs.reading.text import Unreadable
from gadgetopt.proofs.tree_kernel import proved
from gadgetopt.proofs.vipr_files.derivations import Completer

#: Returns the least `sum(costs * x)` that lines prove, None if nothing is feasible.
Kernel = Callable[[Model, Iterable[str]], Fraction | int | None]
#: Words with which the lines of a proof begin, and the kind of the proof.
KINDS = {"tree": "tree", "cut": "tree", "bound": "tree", "lemma": "tree", "point": "ray"}


def check(
    proof: Path,
    model: Path | None = None,
    more_kernels: Mapping[str, Kernel] | None = None,
    complete: Completer | None = None,
) -> Verdict:
    """Check a proof about a model; without one, about the model in the proof's own file.

    Parameters
    ----------
    more_kernels : mapping, optional
        Checkers by the kind of certificate, besides that of trees.
    complete : Completer, optional
        Finds the factors of steps of VIPR files that have none.

    Raises
    ------
    Unreadable
        If one of the files cannot be read as what it should be.
    OSError
        If a file cannot be read at all, or is larger than the limit for a proof.
    """
    lines = file_lines(proof)
    first = next((line for line in lines if line.strip()), "").strip()
    lines.close()
    begin, *_ = first.split() or [""]
    is_vipr = begin == "VER" or begin.startswith("%")
    if not is_vipr and begin not in KINDS and not first.startswith("{"):
        raise Unreadable(
            f"{proof}: is not a proof that this program reads; expected a VIPR file, a tree "
            "proof, a ray or a certificate"
        )
    if model is None and not is_vipr:
        raise Unreadable(f"{proof}: holds no model: name the model file that it is about")
    about = None if model is None else named_model(model)
    if is_vipr:
        return vipr_verdict(proof, file_lines(proof), model, about, complete)
    assert about is not None
    if begin in KINDS:
        kind = KINDS[begin]
        return _of_kind(kind, f"{proof}: {kind} proof", model, about, file_lines(proof), proved)
    kind, made_for, packed_lines = certificate_parts(proof)
    kernels: dict[str, Kernel] = {"tree": proved, "ray": proved, **(more_kernels or {})}
    if kind not in kernels:
        raise Unreadable(
            f"{proof}: a certificate of the kind {kind[:20]!r}, which is not read here, but "
            "`gadgetopt verify` reads it"
        )
    what = f"{proof}: certificate with a {kind} proof"
    verdict = _of_kind(kind, what, model, about, unpacked(packed_lines), kernels[kind])
    if made_for != digest(about.model):
        verdict.sentences.append("the certificate names another model: its digest is not this one")
    return verdict


def file_lines(path: Path) -> Generator[str]:
    """Yield the lines of a file, unpacked if it ends in .gz or .bz2.

    Raises
    ------
    OSError
        If it cannot be read, is damaged, or larger than the limit for a proof.
    """
    openers: dict[str, Callable[[Path, str], object]] = {".gz": gzip.open, ".bz2": bz2.open}
    size = 0
    try:
        with cast("IO[bytes]", openers.get(path.suffix.lower(), open)(path, "rb")) as file:
            while line := file.readline(LONGEST_LINE + 1):
                size += len(line)
                if len(line) > LONGEST_LINE or size > MOST_BYTES:
                    raise OSError(errno.EFBIG, "is larger than the limit for a proof", str(path))
                yield line.decode("ascii", errors="replace")
    except (EOFError, zlib.error, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise
        raise OSError(f"{path}: is no whole packed file: {error}") from None


def named_model(path: Path) -> NamedModel:
    """Return the model of a file.

    Raises
    ------
    Unreadable
        If it is none.
    """
    if format_of(path):
        try:
            return read_model(path)
        except ValueError as error:
            raise Unreadable(f"{path}: {error}") from None
    try:
        model = parsed(file_lines(path))
    except ValueError as error:
        raise Unreadable(
            f"{path}: is no exact text of a model, nor has a name in .mps, .lp or .nl: {error}"
        ) from None
    columns = [f"x{j}" for j in range(len(model.integer))]
    return NamedModel(model, columns, [f"r{i}" for i in range(len(model.rows))], [])


def certificate_parts(path: Path) -> tuple[str, str, str]:
    """Return the kind of a certificate's proof, the digest of its model, and its packed lines.

    Raises
    ------
    Unreadable
        If it is no certificate about a model.
    """
    try:
        data = json.loads("".join(file_lines(path)))["data"]
        kind, made_for, packed_lines = data["kind"], data["model"], data["proof"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise Unreadable(f"{path}: is no certificate with a proof about a model") from None
    if not all(isinstance(part, str) for part in (kind, made_for, packed_lines)):
        raise Unreadable(f"{path}: is no certificate with a proof about a model")
    return kind, made_for, packed_lines


def _of_kind(
    kind: str,
    what: str,
    path: Path | None,
    about: NamedModel,
    lines: Iterable[str],
    kernel: Kernel,
) -> Verdict:
    """Check lines by a kernel, or as a point and a ray."""
    return (
        _of_ray(what, path, about, lines)
        if kind == "ray"
        else _of_lines(what, path, about, lines, kernel)
    )


def _of_ray(what: str, path: Path | None, about: NamedModel, lines: Iterable[str]) -> Verdict:
    """Check a point and a ray."""
    head = heading(what, path, about)
    try:
        check_unbounded(about.model, islice(lines, 3))  # there are two, and one more is too many
    except ValueError as error:
        return Verdict("refused", None, about.model.sense, [head, f"proves nothing: {error}"])
    said = "proved: there are feasible points, and along a ray they get better without end"
    notes = [f"note: {note}" for note in about.notes]
    return Verdict("unbounded", None, about.model.sense, [head, said, *notes])


def _of_lines(
    what: str, path: Path | None, about: NamedModel, lines: Iterable[str], kernel: Kernel
) -> Verdict:
    """Check lines by a kernel."""
    model, count = about.model, 0

    def counted() -> Iterator[str]:
        nonlocal count
        for line in lines:
            count += 1
            yield line

    try:
        least = kernel(model, counted())
    except ValueError as error:
        head = [heading(what, path, about), f"proves nothing: at line {count}: {error}"]
        return Verdict("refused", None, model.sense, head)
    sentences = [heading(f"{what} of {count} lines", path, about)]
    bound = None if least is None else model.bound(least)
    sentences.append(bound_sentence(bound, model.sense))
    if bound is not None:
        sentences.append("not checked: whether a point has this objective")
    sentences += [f"note: {note}" for note in about.notes]
    return Verdict("infeasible" if bound is None else "bound", bound, model.sense, sentences)
