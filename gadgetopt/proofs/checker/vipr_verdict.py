"""What a VIPR file shows, and whether that is what it claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

from gadgetopt.proofs.checker.sentences import Verdict, bound_sentence, heading, plain
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.vipr_files.derivations import Completer
from gadgetopt.proofs.vipr_files.reader import ViprProof, read_vipr


def vipr_verdict(
    path: Path,
    lines: Iterable[str],
    model: Path | None,
    about: NamedModel | None,
    complete: Completer | None = None,
) -> Verdict:
    """Check the lines of a VIPR file, and what it claims, about a model or about its own."""
    whole = about.model if about else None
    names = about.columns if about else ()
    try:
        proof = read_vipr(lines, whole, names, complete)
    except ValueError as error:
        head = heading(f"{path}: VIPR file", model, about)
        sense = whole.sense if whole else "min"
        return Verdict("refused", None, sense, [head, f"proves nothing: {error}"])
    counts = proof.counts
    what = f"{path}: VIPR {proof.version} with {counts['derivations']} derivations"
    own = f"{counts['columns']} columns ({counts['integer']} integer), {counts['constraints']} rows"
    sentences = [heading(what, model, about, f"{own}, {proof.sense}")]
    sense, own_value = proof.sense, own_objective(proof, whole)
    if whole:
        sense = whole.sense
    bound = None if proof.bound is None else own_value(proof.bound)
    if counts["completed"]:
        steps = f"{counts['completed']} step{'' if counts['completed'] == 1 else 's'}"
        sentences.append(f"{steps} without factors: found, then checked")
    sentences.append(bound_sentence(bound, sense))
    status, said = claims(proof, own_value)
    sentences += said
    if model is None:
        sentences.append("not checked: whether the model in the file is the one that you mean")
    sentences += [f"note: {note}" for note in (about.notes if about else ())]
    return Verdict(status, bound, sense, sentences)


def own_objective(proof: ViprProof, model: Model | None) -> Callable[[Fraction], Fraction]:
    """Return what turns a value of the file's objective into one of the model's own."""
    if model is None:
        return lambda value: value
    turn = 1 if proof.sense == "min" else -1
    return lambda value: model.bound(turn * value * model.scale)


def claims(proof: ViprProof, own_value: Callable[[Fraction], Fraction]) -> tuple[str, list[str]]:
    """Return the status of a proof, and what is to be said of the file's claims and solutions."""
    sign = 1 if proof.sense == "min" else -1
    said, met, wrong = [], list[Fraction](), False
    for name, value in proof.solutions.items():
        if isinstance(value, str):
            said.append(f"solution {name[:20]!r} of the file is not feasible: it violates {value}")
            wrong = True
            continue
        met.append(sign * value)
        own = plain(own_value(value))
        said.append(f"solution {name[:20]!r} of the file is feasible, its objective is {own}")
    least = None if proof.bound is None else sign * proof.bound
    if proof.claim is None:
        claims_more = least is not None
        claimed = "that nothing is feasible"
    else:
        low, high = (end if end is None else sign * end for end in proof.claim[::sign])
        claims_more = (low is not None and least is not None and low > least) or (
            high is not None and min(met, default=high + 1) > high
        )
        claimed = f"an optimum from {_end(proof.claim[0])} to {_end(proof.claim[1])}"
    if least is None and met:
        said.append("nothing is feasible, yet a solution is: the file contradicts itself")
        wrong = True
    if claims_more:
        said.append(f"not proved: the file claims {claimed}")
    if wrong or claims_more:
        return "refused", said
    if least is None:
        return "infeasible", said
    if least in met:
        said.append("so this is the optimum")
        return "optimal", said
    said.append("not checked: whether a point has this objective")
    return "bound", said


def _end(value: Fraction | None) -> str:
    return "infinity" if value is None else plain(value)
