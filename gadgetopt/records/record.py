"""What an entry of the library of best known results says: one JSON file, `SYSTEM/NAME.json`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from gadgetopt.system.data import Data, NonNegativeFloat, NonNegativeInt

#: The version of the form of an entry; others are refused. By definition.
FORM: Literal[1] = 1

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
#: A number as text, exactly: `5`, `10/3`, `0.25`; `inf` and `-inf` bound what is infeasible.
NumberText = Annotated[
    str,
    Field(pattern=r"^-?([0-9]+(/[0-9]+)?|[0-9]+\.[0-9]+(e[+-]?[0-9]+)?|[0-9]+e[+-]?[0-9]+|inf)$"),
]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.=+_-]*$", max_length=200)]
Line = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=500)]


class Drawn(Data):
    """An instance that a preset draws: a few lines stand for any size.

    Attributes
    ----------
    preset : str
    parameters : dict
        All parameters of the preset.
    seed, index : int
        Seed of the series, and place in it.
    """

    preset: Name
    parameters: dict[str, Any]
    seed: NonNegativeInt
    index: NonNegativeInt


class Shipped(Data):
    """An instance that is a file of the instance library, below `instances/`."""

    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*(/[A-Za-z0-9_.-]+)$")]


class Kept(Data):
    """A solution or certificate: as it is, compressed, or compressed in a file beside the entry.

    Attributes
    ----------
    data : dict, optional
        The solution or certificate itself.
    packed : str, optional
        Its JSON, compressed by xz, in base64.
    file, sha256 : str, optional
        A file beside the entry with its JSON, compressed by xz, and the digest of that file.
    """

    data: dict[str, Any] | None = None
    packed: str | None = None
    file: Name | None = None
    sha256: Digest | None = None


class Step(Data):
    """An improvement of the best objective or of the best bound, and who found it.

    Attributes
    ----------
    what : "objective" or "bound"
    value : str
        The number that was reached.
    date : str
        The day on which it was found.
    by : str
        Who found it, in their own words: a claim, as nothing is signed.
    method : str
        The method; one of ours is called as in `gadgetopt list`, and its run can be repeated.
    ours : bool
        Whether the method is one of gadgetopt's.
    seed : int, optional
        None for a deterministic method.
    time_s, time_limit_s : float, optional
        Seconds of the run, and those that it was given.
    version : str
        Of gadgetopt, or of what found it.
    digest : str
        SHA-256 of the step before and of this one, so that no step is changed unnoticed.
    """

    what: Literal["objective", "bound"]
    value: NumberText
    date: Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    by: Line
    method: Line
    ours: bool
    seed: NonNegativeInt | None = None
    time_s: NonNegativeFloat | None = None
    time_limit_s: NonNegativeFloat | None = None
    version: Line
    digest: Digest


class Record(Data):
    """An entry: an instance, the best known solution and bound, and how they were found.

    Attributes
    ----------
    gadgetopt_record : int
        Version of this form.
    name, problem : str
        The entry is the file `problem/name.json`.
    problem_class : tuple of str
        Classes of the problem's formulations, such as "MILP"; empty if it has none.
    sense : "min" or "max"
    sizes : dict
        Counts by which instances of the problem are compared.
    instance : Drawn or Shipped
    fingerprint : str
        SHA-256 of the problem and the instance's data.
    source, licence, reference : str
        Where the instance comes from, the terms of its use, the publication of the problem.
    status : "closed", "open" or "infeasible"
        Closed: the bound meets the objective; infeasible: proved to have no solution.
    best_objective : str or None
        The evaluator's value of the solution, exactly.
    best_bound : str or None
        The dual bound that the certificate proves, exactly.
    gap : float or None
        abs(objective - bound) / abs(objective).
    solution, certificate : Kept or None
    history : tuple of Step
        The steps that led here, in order; the last of each kind is the present one.
    """

    gadgetopt_record: Literal[1]
    name: Name
    problem: Name
    problem_class: tuple[Line, ...]
    sense: Literal["min", "max"]
    sizes: dict[str, int | float]
    instance: Drawn | Shipped
    fingerprint: Digest
    source: Line
    licence: Line
    reference: Line
    status: Literal["closed", "open", "infeasible"]
    best_objective: NumberText | None
    best_bound: NumberText | None
    gap: NonNegativeFloat | None
    solution: Kept | None
    certificate: Kept | None
    history: Annotated[tuple[Step, ...], Field(min_length=1)]

    def last(self, what: str) -> Step | None:
        """Return the step that reached the present objective or bound."""
        return next((step for step in reversed(self.history) if step.what == what), None)
