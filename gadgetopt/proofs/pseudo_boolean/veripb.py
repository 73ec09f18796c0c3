"""Proofs of others in VeriPB's format about formulas in the OPB format.

A log is made into a proof for `kernel.py`, which checks it. So only its rules are read: sums in
reverse Polish notation, reverse unit propagation, definitions of new variables, and solutions that
improve. A log with another rule is refused by the rule's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

from gadgetopt.proofs.checker.sentences import Verdict, bound_sentence
from gadgetopt.proofs.checker.verdict import file_lines
from gadgetopt.proofs.pseudo_boolean.elaboration import elaborate
from gadgetopt.proofs.pseudo_boolean.encoding import Formula
from gadgetopt.proofs.pseudo_boolean.kernel import Constraint, Proof, normal
from gadgetopt.proofs.reading.model_files import PACKINGS
from gadgetopt.proofs.reading.text import Unreadable

_LITERAL = re.compile(r"(~?)x([1-9][0-9]{0,8})")
_INTEGER = re.compile(r"[+-]?[0-9]+")


def is_opb(path: Path) -> bool:
    """Return True if a file's name says that it is a formula in the OPB format, packed or not."""
    bare = Path(path.stem) if path.suffix.lower() in PACKINGS else path
    return bare.suffix.lower() == ".opb"


def check_veripb(log: Path, formula_file: Path) -> Verdict:
    """Check a log about a formula.

    Raises
    ------
    Unreadable
        If the formula cannot be read.
    OSError
        If a file cannot be read at all.
    """
    try:
        formula = read_opb(file_lines(formula_file))
    except ValueError as error:
        raise Unreadable(f"{formula_file}: {error}") from None
    size = f"{formula.variables} variables, {len(formula.constraints)} constraints, min"
    heading = f"{log}: VeriPB proof, about {formula_file}: {size}"
    claims: list[str] = []
    lines = _without_conclusions(file_lines(log), claims)
    try:
        proof = Proof(formula.variables, formula.constraints, formula.objective)
        least = proof.check(elaborate(formula, None, lines))
    except ValueError as error:
        return Verdict("refused", None, "min", [heading, f"proves nothing: {error}"])
    for _ in lines:  # what the log concludes comes last
        pass
    bound = None if least is None else Fraction(least + formula.offset)
    sentences = [heading, bound_sentence(bound, "min")]
    wrong = [claim for claim in claims if _claims_more(claim, bound)]
    sentences += [f"not proved: the file claims {claim!r}" for claim in wrong]
    if bound is not None:
        sentences.append("not checked: whether a point has this objective")
    if wrong:
        return Verdict("refused", bound, "min", sentences)
    return Verdict("infeasible" if bound is None else "bound", bound, "min", sentences)


def _without_conclusions(lines: Iterable[str], claims: list[str]) -> Iterator[str]:
    """Yield lines; those that conclude go to the claims instead."""
    for line in lines:
        if line.split()[:1] == ["conclusion"]:
            claims.append(" ".join(line.split()[1:])[:80])
        else:
            yield line


def _claims_more(claim: str, bound: Fraction | None) -> bool:
    """Return True if a conclusion says more than what is proved: UNSAT, or BOUNDS least most."""
    kind, *words = claim.replace(":", " ").split() or [""]
    if kind == "NONE" or bound is None:
        return kind in ("SAT",)
    if kind == "BOUNDS" and words and _INTEGER.fullmatch(words[0]):
        return int(words[0]) > bound
    return True


def read_opb(lines: Iterable[str]) -> Formula:
    """Return the formula of an OPB file.

    Raises
    ------
    ValueError
        If it is none, or has products of variables.
    """
    objective: dict[int, int] = {}
    offset, last = 0, 0
    constraints: list[Constraint] = []
    for number, words in enumerate(_statements(lines)):
        if words[0] == "min:":
            if number:
                raise ValueError("a second objective, or one after a constraint")
            for a, literal in _terms(words[1:]):
                last = max(last, abs(literal))
                offset += a if literal < 0 else 0
                signed = a if literal > 0 else -a
                objective[abs(literal)] = objective.get(abs(literal), 0) + signed
            continue
        if len(words) < 2 or words[-2] not in (">=", "=") or not _INTEGER.fullmatch(words[-1]):
            raise ValueError(f"{' '.join(words)[:40]!r} is no constraint `terms >= number`")
        terms, degree = _terms(words[:-2]), int(words[-1])
        last = max([last, *(abs(literal) for _, literal in terms)])
        constraints.append(normal(terms, degree))
        if words[-2] == "=":
            constraints.append(normal(((-a, literal) for a, literal in terms), -degree))
    priced = [(a, variable) for variable, a in objective.items() if a]
    return Formula(last, constraints, priced, offset, [], None)


def _statements(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the words of each statement, which ends in a semicolon."""
    words: list[str] = []
    for line in lines:
        if line.lstrip().startswith("*"):
            continue
        for word in line.replace(";", " ; ").split():
            if word != ";":
                words.append(word)
            elif words:
                yield words
                words = []
    if words:
        raise ValueError("the last statement has no end")


def _terms(words: list[str]) -> list[tuple[int, int]]:
    """Return coefficients and literals."""
    terms = []
    for number, name in zip(words[::2], words[1::2], strict=False):
        found = _LITERAL.fullmatch(name)
        if not _INTEGER.fullmatch(number) or not found:
            raise ValueError(f"{number[:20]} {name[:20]} is no term `number x1`")
        terms.append((int(number), -int(found[2]) if found[1] else int(found[2])))
    if len(words) % 2:
        raise ValueError(f"{words[-1][:20]!r} is no term `number x1`")
    return terms
