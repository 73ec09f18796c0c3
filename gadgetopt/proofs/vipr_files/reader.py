"""Checks VIPR files, versions 1.0 and 1.1, about a model, ours or others'; standard library only.

Where a model is given, the file's own counts for nothing: each of its constraints has to be a bound
or a side of a row of the model, up to a positive factor, and its objective has to be the model's,
minimised, or the opposite, maximised. So it does not matter how the file names columns and rows.
What is returned is the best bound of a derivation that rests on no assumption, and beside it what
the file claims. Of `lin weak`, which SCIP writes, the bounds that it leaves out are put in. A last
use is a hint about memory, and is not heeded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from gadgetopt.proofs.vipr_files.constraints import Line, constraints_of, key, parts
from gadgetopt.proofs.vipr_files.derivations import Completer, Derivations
from gadgetopt.proofs.vipr_files.words import Words, number_of_word

if TYPE_CHECKING:
    from gadgetopt.proofs.model import Model


class ViprProof(NamedTuple):
    """What a VIPR file proves about its objective, and what it says.

    Attributes
    ----------
    version : str
    counts : dict
        How many columns, integer columns, constraints and derivations it has, and how many of
        these had no factors and were completed.
    sense : str
        "min" or "max", the file's.
    bound : Fraction or None
        Below it (above it, for a maximisation) the file's objective has no feasible value; None if
        nothing is feasible.
    claim : tuple or None
        Between what the file says that the optimum is, with None for infinity; None if it says that
        nothing is feasible.
    solutions : dict
        Values of the objective at the file's solutions by their names; in place of those that are
        not feasible, what they violate.
    """

    version: str
    counts: dict[str, int]
    sense: str
    bound: Fraction | None
    claim: tuple[Fraction | None, Fraction | None] | None
    solutions: dict[str, Fraction | str]


def proved_by_vipr(model: Model, lines: Iterable[str]) -> Fraction | None:
    """Return a bound below which `sum(costs * x)` has no feasible value; None if none is feasible.

    Raises
    ------
    ValueError
        If the file is no proof, or one about another model.
    """
    proof = read_vipr(lines, model)
    if proof.bound is None:
        return None
    return proof.bound * model.scale * (1 if proof.sense == "min" else -1)


def read_vipr(
    lines: Iterable[str],
    model: Model | None = None,
    names: Sequence[str] = (),
    complete: Completer | None = None,
) -> ViprProof:
    """Return what a VIPR file proves: about a model, or without one about the model in the file.

    Parameters
    ----------
    names : sequence of str
        Names of the model's columns, by which the file may call them.
    complete : Completer, optional
        Finds the factors of steps that have none; they are checked like any others.

    Raises
    ------
    ValueError
        If the file is no proof, or one about another model.
    """
    reader = _ViprReader(lines, model, names, complete)
    try:
        return reader.read()
    except StopIteration:
        raise ValueError("is no VIPR file: it ends too early") from None
    except (LookupError, ZeroDivisionError) as error:
        raise ValueError(f"line {reader.words.at}: is no line of a VIPR file: {error!r}") from None
    except ValueError as error:
        raise ValueError(f"line {reader.words.at}: {error}") from None


class _ViprReader:
    def __init__(
        self,
        lines: Iterable[str],
        model: Model | None,
        names: Sequence[str],
        complete: Completer | None,
    ):
        self.model, self.names, self.complete = model, names, complete
        self.words = Words(lines)
        #: What the model consists of, the one that is given or the file's.
        self.constraints: list[tuple[str, Line]] = []
        self.integer: list[bool] = []
        #: Columns of the model, in the order of the file.
        self.columns: list[int] = []

    def read(self) -> ViprProof:
        self.words.skip("VER")
        version = next(self.words)
        if version not in ("1.0", "1.1"):
            raise ValueError(f"version {version[:20]!r} of VIPR, expected 1.0 or 1.1")
        counts = {"columns": self.words.after("VAR")}
        self._columns([next(self.words) for _ in range(counts["columns"])])
        counts["integer"] = self._integers()
        lines = self.lines = Derivations(self.words, self.columns, self.integer, self.complete)
        self._objective()
        counts["constraints"] = self.words.after("CON")
        self.words.index()
        self._read_constraints(counts["constraints"])
        claim = self._claim()
        solutions = dict(self._solution() for _ in range(self.words.after("SOL")))
        counts["derivations"] = self.words.after("DER")
        bound = lines.best_bound(counts["derivations"])
        counts["completed"] = lines.completed
        if word := next(self.words, ""):
            raise ValueError(f"{word[:20]!r} after the last derivation")
        sense = "min" if lines.direction == 1 else "max"
        bound = None if bound is None else lines.direction * bound
        return ViprProof(version, counts, sense, bound, claim, solutions)

    def _columns(self, names: list[str]) -> None:
        """Find the columns of the model: by its names, or `x3`, or `t_x3`, or by their order."""
        if len(set(names)) < len(names):
            raise ValueError("a column twice")
        self.columns = list(range(len(names)))
        if self.model is None:
            return
        there = len(self.model.integer)
        for known in (self.names, [f"x{j}" for j in range(there)]):
            ours = {f"{prefix}{name}": j for prefix in ("t_", "") for j, name in enumerate(known)}
            columns = [ours.get(name, -1) for name in names]
            if -1 not in columns and len(set(columns)) == len(names):
                self.columns = columns
                return
        if len(names) != there:
            raise ValueError(f"{len(names)} columns, expected the model's {there}, or names x0, x1")

    def _integers(self) -> int:
        """Read which columns are integer, as in the model; return how many."""
        self.integer = [False] * len(self.columns) if self.model is None else self.model.integer
        count = self.words.after("INT")
        for _ in range(count):
            j = self.columns[self.words.index()]
            if self.model is None:
                self.integer[j] = True
            if not self.integer[j]:
                raise ValueError("a column is integer that is not in the model")
        return count

    def _objective(self) -> None:
        """Read the objective, which has to be the model's."""
        self.words.skip("OBJ")
        lines = self.lines
        lines.direction = {"min": 1, "max": -1}[next(self.words)]
        lines.objective = lines.terms(next(self.words))
        if self.model is None:
            return
        scale = lines.direction * self.model.scale
        costs = zip(*self.model.costs, strict=True)
        if lines.objective != {j: Fraction(a, scale) for j, a in costs}:
            raise ValueError("has another objective")

    def _read_constraints(self, count: int) -> None:
        """Read the constraints, each of which has to be a part of the model."""
        if self.model is not None:
            self.constraints = list(constraints_of(self.model))
        sides = {key(line) for _, line in self.constraints if line.terms}
        for number in range(count):
            name, line = next(self.words), self.lines.relation()
            if self.model is None:
                self.constraints.append((f"constraint {name[:20]!r}", line))
            elif any(
                key(part) not in sides if part.terms else part.is_false() for part in parts(line)
            ):
                raise ValueError(f"constraint {name[:20]!r} is not in the model")
            self.lines.put(number, line)
        self.lines.first = count

    def _claim(self) -> tuple[Fraction | None, Fraction | None] | None:
        """Read what the file says that the optimum is."""
        self.words.skip("RTP")
        word = next(self.words)
        if word == "infeas":
            return None
        if word != "range":
            raise ValueError(f"{word[:20]!r} after RTP, expected range or infeas")
        ends = next(self.words), next(self.words)
        low, high = (
            None if end == none else number_of_word(end)
            for end, none in zip(ends, ("-inf", "inf"), strict=True)
        )
        return low, high

    def _solution(self) -> tuple[str, Fraction | str]:
        """Read a solution; return its name, and its value or what it violates."""
        name, point = next(self.words), self.lines.terms(next(self.words))
        for j, value in point.items():
            if self.integer[j] and value.denominator > 1:
                return name, f"column {j}, which is integer"
        for what, line in self.constraints:
            self.lines.spend(1 + len(line.terms))
            if not line.holds_at(point):
                return name, what
        terms = self.lines.objective.items()
        return name, sum((a * point.get(j, 0) for j, a in terms), Fraction(0))
