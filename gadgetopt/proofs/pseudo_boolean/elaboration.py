"""A log of a pseudo-Boolean solver made into a proof: shorter, and with hints for what propagates.

The log is VeriPB's, version 1.1 or 2.0, with the steps `l`, `f`, `pol`, `rup`, `red`, `soli` and
`c`; what it deletes is read over. Its formula is matched with ours; only steps that the end rests
on are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from gadgetopt.proofs.pseudo_boolean.encoding import Formula, canonical
from gadgetopt.proofs.pseudo_boolean.kernel import Constraint, Proof, normal
from gadgetopt.proofs.pseudo_boolean.propagation import NEGATION, Propagation

T = TypeVar("T")

#: What a log says besides steps; its deletions are hints about memory.
READ_OVER = ("pseudo-Boolean", "del", "output", "conclusion", "end", "#", "w")
#: Constraints are forgotten in groups of this size. Tuned: `benchmarks/constants.py`.
FORGOTTEN_AT_ONCE = 50


class NotElaborated(ValueError):
    """The log proves nothing about the formula, or has steps that are not known here."""


@dataclass
class _Log:
    """The steps that derive something: text, constraints used, and what they derive.

    Numbers are ours: first the formula's constraints, then the steps' in order.
    """

    proof: Proof
    #: Our number of each of the log's constraints.
    ours: list[int] = field(default_factory=lambda: [0])
    steps: dict[int, str] = field(default_factory=dict)
    used: dict[int, list[int]] = field(default_factory=dict)

    def derive(self, step: str, constraint: Constraint, used: Iterable[int] = ()) -> int:
        """Note a step; return its number."""
        proof = self.proof
        proof.last += 1
        proof.known[proof.last] = constraint
        self.steps[proof.last] = step
        self.used[proof.last] = list(used)
        self.ours.append(proof.last)
        return proof.last


def elaborate(
    formula: Formula,
    logged_formula: Iterable[str] | None,
    log: Iterable[str],
    is_late: Callable[[], bool] = lambda: False,
) -> Iterator[str]:
    """Yield the lines of a proof.

    Parameters
    ----------
    formula : Formula
    logged_formula : iterable of str or None
        The solver's own copy of the formula, in the OPB format; None if the log is about ours.
    log : iterable of str
    is_late : callable
        Asked before every step of the log: True gives up.

    Raises
    ------
    NotElaborated
        If the log proves nothing about the formula, or time is up.
    """
    objective = formula.objective
    steps = _Log(Proof(formula.variables, formula.constraints, objective))
    first = steps.proof.last + 1
    propagation = Propagation()
    for number, constraint in steps.proof.known.items():
        propagation.add(number, constraint)
    end = 0
    if propagation.conflict is None:
        numbers = list(steps.proof.known)
        if logged_formula is not None:
            numbers = _matched(steps.proof, formula, logged_formula)
        end = _read(steps, propagation, numbers, _in_time(log, is_late))
    last = steps.proof.last
    if propagation.conflict is not None:
        end = last + 1
        steps.used[end] = propagation.conflict
        steps.steps[end] = "rup >= 1 ;"
    needed = {end}
    for number in _in_time(range(max(end, last), first - 1, -1), is_late):
        if number <= last:
            propagation.take(number)
        if number not in needed:
            continue
        if number <= last and steps.steps[number].startswith("rup"):
            hints = propagation.hints(steps.proof.known[number])
            if hints is None:
                raise NotElaborated("a step does not follow by unit propagation")
            steps.used[number] = hints
        needed.update(steps.used[number])
    yield from _written(steps, sorted(n for n in needed if n >= first), first, end)


def _in_time(items: Iterable[T], is_late: Callable[[], bool]) -> Iterator[T]:
    for item in items:
        if is_late():
            raise NotElaborated("no time is left")
        yield item


def _matched(proof: Proof, formula: Formula, logged: Iterable[str]) -> list[int]:
    """Return our number of each constraint of the solver's copy."""
    ours = {_key(c): number for number, c in enumerate(formula.constraints, 1)}
    numbers: list[int] = []
    for line in logged:
        words = line.replace(";", " ").split()
        if not words or words[0].startswith("*"):
            continue
        if words[0] == "min:":
            logged_objective = proof.constraint([*words[1:], ">=", "0"])
            if logged_objective[0] != normal(formula.objective, 0)[0]:
                raise NotElaborated("the solver has another objective")
            continue
        found = ours.get(_key(canonical(proof.constraint(words))), 0)
        if not found or _key(proof.known[found]) != _key(proof.constraint(words)):
            raise NotElaborated("the solver has another formula")
        numbers.append(found)
    return numbers


def _key(constraint: Constraint) -> tuple[frozenset[tuple[int, int]], int]:
    return frozenset(constraint[0].items()), constraint[1]


def _read(
    log: _Log, propagation: Propagation, formula_numbers: list[int], lines: Iterable[str]
) -> int:
    """Read a log up to its end or a conflict by propagation; return the number of its end."""
    for line in lines:
        if not line.strip():
            continue
        try:
            end = _step(log, propagation, formula_numbers, line)
        except NotElaborated:
            raise
        except (ValueError, IndexError, KeyError) as error:  # a log that was cut off ends anywhere
            raise NotElaborated(f"no step: {line[:60]!r}") from error
        if end is not None:
            return end
    raise NotElaborated("the log has no end")


def _step(log: _Log, propagation: Propagation, formula_numbers: list[int], line: str) -> int | None:
    """Read a line of a log; return the number of its end if that is what it is."""
    proof = log.proof
    rule, *words = line.split()
    if rule in READ_OVER or rule.startswith("*"):
        return None
    if rule == "l":
        log.ours.append(formula_numbers[int(words[0]) - 1])
        return None
    if rule == "f":
        if words and int(words[0]) != len(formula_numbers):
            raise NotElaborated(f"{words[0]} constraints, expected {len(formula_numbers)}")
        log.ours += formula_numbers
        return None
    if rule == "c":
        return log.ours[int(words[0])]
    if rule == "pol":
        translated = _with_our_numbers(log, [word for word in words if word != ";"])
        used = [int(w) for w, after in _pairs(translated) if _is_number(w, after)]
        new = log.derive(f"pol {' '.join(translated)}", proof.polish(translated), used)
    elif rule == "rup":
        terms = words[: words.index(";")]
        new = log.derive(f"rup {' '.join(terms)} ;", proof.constraint(terms))
    elif rule == "red":
        new = _definition(log, words)
    elif rule == "soli":
        true = {int(x[1:]) for x in words if x[0] == "x"}
        n = sum(a for a, variable in proof.objective if variable in true)
        better = normal(((-a, variable) for a, variable in proof.objective), 1 - n)
        new = log.derive(f"less {n}", better)
    else:
        raise NotElaborated(f"a step {rule[:20]!r}, which is not read")
    propagation.add(new, proof.known[new])
    return None if propagation.conflict is None else 0


def _definition(log: _Log, words: list[str]) -> int:
    """Read `red C ; x 1` or `red C ; x 0`, for a new variable x."""
    k = words.index(";")
    x, value = [word for word in words[k + 1 :] if word not in ("->", ";")]
    if int(x[1:]) <= log.proof.variables or value not in ("0", "1"):
        raise NotElaborated("a step 'red' that defines no new variable")
    log.proof.variables = int(x[1:])
    literal = x if value == "1" else f"~{x}"
    return log.derive(f"red {' '.join(words[:k])} ; {literal}", log.proof.constraint(words[:k]))


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    return zip(words, [*words[1:], ""], strict=True)


def _is_number(word: str, after: str) -> bool:
    return word.isdigit() and after not in ("*", "d")


def _with_our_numbers(log: _Log, words: list[str]) -> list[str]:
    return [str(log.ours[int(w)]) if _is_number(w, after) else w for w, after in _pairs(words)]


def _written(log: _Log, kept: list[int], first: int, end: int) -> Iterator[str]:
    """Write the kept steps with new numbers, and forget constraints after their last use."""
    new = {number: first + k for k, number in enumerate(kept)}
    last_use = {x: number for number in kept for x in log.used[number]}
    forgotten: list[int] = []
    for number in kept:
        text = log.steps[number]
        if text.startswith("pol"):
            words = text.split()[1:]
            words = [
                str(new.get(int(w), w)) if _is_number(w, after) else w for w, after in _pairs(words)
            ]
            yield f"pol {' '.join(words)}"
        elif text.startswith("rup"):
            hints = (new.get(x, x) for x in log.used[number])
            yield f"{text} {' '.join(map(str, hints))}"
        else:
            yield text
        forgotten += {
            new.get(x, x) for x in log.used[number] if x != NEGATION and last_use[x] == number
        }
        if len(forgotten) >= FORGOTTEN_AT_ONCE:
            yield f"del {' '.join(map(str, sorted(forgotten)))}"
            forgotten.clear()
    yield f"end {new.get(end, end)}"
