"""Limits of a solve, the outcome that a method returns, and the judged result."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from gadgetopt.errors import InputError, SolverError
from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.display import Displayed

if TYPE_CHECKING:
    import pandas as pd

    from gadgetopt.solvers.outcome import SolverOutcome
    from gadgetopt.system.data import Certificate, Solution
    from gadgetopt.system.declaration import Sense
    from gadgetopt.system.files import Document

#: Solver logs go through this logger; `gadgetopt solve --log` prints it.
solver_log: logging.Logger = logging.getLogger("gadgetopt.solver")


#: The limit of a search that ended by a bound of its own, such as the most labels that it keeps.
OWN_LIMIT = "method"


@dataclass(frozen=True)
class Limits:
    """Resources that a solve may use.

    Attributes
    ----------
    time_s : float or None
        Wall-clock seconds; None is unlimited.
    threads : int
        Solver threads.
    memory_mb : float or None
        Memory the solver may use, if the backend can limit it.
    rel_gap : float
        Relative gap |objective - bound| / |objective| at which a solve may stop. Its
        status is then `feasible` and its limit "gap"; `optimal` means closed.
    no_improvement_s : float or None
        Seconds without a better objective after which a solve ends that has one; its limit is then
        "no_improvement".
    target : float or None
        Objective at which a solve ends, or any better one; its limit is then "target".
    """

    time_s: float | None = None
    threads: int = 1
    memory_mb: float | None = None
    rel_gap: float = 0.0
    no_improvement_s: float | None = None
    target: float | None = None

    def __repr__(self) -> str:
        """Return the limits without criteria that nobody asked for."""
        return f"Limits({', '.join(f'{name}={x!r}' for name, x in self.asked().items())})"

    def asked(self) -> dict[str, float | None]:
        """Return the limits by name, without criteria that nobody asked for.

        Runs are keyed by them, so a criterion of a later version changes the key of no older run.
        """
        criteria = ("no_improvement_s", "target")
        return {k: x for k, x in vars(self).items() if not (x is None and k in criteria)}


class Status(StrEnum):
    """What is known at the end of a solve. A limit that was hit is a separate field."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NO_SOLUTION = "no_solution"
    NOT_APPLICABLE = "not_applicable"
    ERROR = "error"


class Voucher(StrEnum):
    """Who vouches for a dual bound, from the weakest to the strongest."""

    SOLVER = "solver"
    CROSS_CHECKED = "cross-checked"
    VERIFIED = "verified"


@dataclass(frozen=True)
class TracePoint:
    """Incumbent objective and dual bound at a moment of a solve."""

    time_s: float
    incumbent: Number | None
    bound: Number | None


@dataclass(frozen=True)
class Violation:
    """A violated constraint: its name, place and amount of violation."""

    constraint: str
    where: str
    amount: Number

    def __str__(self) -> str:
        return f"{self.constraint} at {self.where}: by {self.amount}"


@dataclass(frozen=True, repr=False)
class Evaluation(Displayed):
    """Objective and violations of a solution, recomputed from the decision alone.

    `objective` is None where the violations leave it undefined.
    """

    objective: Number | None
    violations: tuple[Violation, ...] = ()
    components: Mapping[str, Number] = field(default_factory=dict)

    @property
    def feasible(self) -> bool:
        """True if no constraint is violated."""
        return not self.violations


@dataclass
class MethodOutcome:
    """The unchecked claims that a method returns.

    Attributes
    ----------
    solution : Solution or None
        The incumbent decision.
    claimed_objective : Number or None
        The method's value of the solution; compared with the evaluator's if given.
    dual_bound : Number or None
        A bound on the optimum (lower when minimising), already on the scale of the objective.
    voucher : Voucher
        Left to the toolkit: it says `VERIFIED` after it has checked the certificate, of no bound
        without one, whatever a method writes here.
    certificate : Certificate or None
        Proof of a bound. The bound of the run is then the value that the certificate's check
        returns, with the voucher `VERIFIED`; `dual_bound` need not be given.
    proved : Status or None
        `INFEASIBLE` or `UNBOUNDED` if the method claims to have proved it.
    limit_hit : str or None
        Name of the limit that stopped the run: "time_s", "memory_mb", "gap", "no_improvement",
        "target", "interrupted", or `OWN_LIMIT`, which the toolkit names for an exact method that
        names none and leaves a gap.
    formulation : str or None
        The formulation that the bound rests on, if it is not the declared one.
    trace, phases_s, versions, notes
        Incumbents and bounds over time; seconds per phase; solver versions; remarks of interest to
        a reader, such as "closed by rung: CP-U".
    further_notes : callable or None
        Returns notes that take time to make; called when the run's time has been taken.
    solved : SolverOutcome or None
        The outcome on the model of `formulation` from which the bound comes. A proof is made of its
        relaxation, and checked against a model built anew.
    """

    solution: Solution | None = None
    claimed_objective: Number | None = None
    dual_bound: Number | None = None
    voucher: Voucher = Voucher.SOLVER
    certificate: Certificate | None = None
    proved: Status | None = None
    limit_hit: str | None = None
    formulation: str | None = None
    trace: tuple[TracePoint, ...] = ()
    phases_s: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    further_notes: Callable[[], Mapping[str, Any]] | None = None
    solved: SolverOutcome | None = None

    @classmethod
    def of(
        cls,
        solved: SolverOutcome,
        solution: Solution | None = None,
        *,
        scale: Number = 1,
        bound_of: Callable[[Number], Number] | None = None,
        phases_s: Mapping[str, float] | None = None,
        **more: Any,
    ) -> MethodOutcome:
        """Return a solver's outcome on a model as the outcome of a method.

        Parameters
        ----------
        solved : SolverOutcome
        solution : Solution or None
            Its incumbent, decoded.
        scale : Number
            The model's objective divided by the problem's.
        bound_of : callable, optional
            Converts the model's bounds into the problem's, if the scale is not enough.
        phases_s : mapping, optional
            Seconds of phases before the solver's own.
        **more
            Further fields.

        Raises
        ------
        SolverError
            If the solver failed.
        """
        if solved.status is Status.ERROR:
            raise SolverError(solved.reason)

        def unscaled(value: Number) -> Number:
            return value if scale == 1 else float(value) / float(scale)

        def known(value: Number | None, turned: Callable[[Number], Number]) -> Number | None:
            finite = value is not None and not (isinstance(value, float) and math.isinf(value))
            return turned(value) if value is not None and finite else None

        to_bound = bound_of or unscaled
        given: dict[str, Any] = {
            "solution": solution,
            "dual_bound": known(solved.bound, to_bound),
            "limit_hit": solved.limit_hit,
            "trace": tuple(
                TracePoint(p.time_s, known(p.incumbent, unscaled), known(p.bound, to_bound))
                for p in solved.trace
            ),
            "phases_s": {**(phases_s or {}), **solved.phases_s},
            "versions": solved.versions,
        }
        told = solved.measures(to_bound)
        if told:
            more["notes"] = {**more.get("notes", {}), "model": told}
        return cls(**{**given, **more})


@dataclass(frozen=True, repr=False)
class Result(Displayed):
    """The judged result of a solve: every number is recomputed or labelled with its voucher.

    Attributes
    ----------
    objective : Number or None
        The evaluator's value of a feasible solution.
    claimed_objective : Number or None
        The objective that the method claimed.
    bound, bound_voucher : Number, Voucher or None
        Dual bound on the optimum and who vouches for it.
    certificate : Certificate or None
        Proof of the bound, which `gadgetopt verify --bound` checks again.
    gap : float or None
        |objective - bound| / |objective|; an objective of 0 counts as 1e-10.
    limit_hit : str or None
        The limit that stopped the run.
    seed : int or None
        None for a deterministic method.
    reason : str or None
        Why the status is `error`, or `not_applicable`: the method does not support the instance.
    formulation, backend : str or None
        The formulation and backend that the bound rests on.
    sense : "min", "max" or None
        That of the instance; None in the results of older stores, where it is the problem's.
    document : Document or None
        The instance that was solved, for its picture; None for a run read from a store.
    """

    problem: str
    instance: str
    fingerprint: str
    method: str
    kind: str
    parameters: Mapping[str, Any]
    formulation: str | None
    backend: str | None
    status: Status
    objective: Number | None
    claimed_objective: Number | None
    bound: Number | None
    bound_voucher: Voucher | None
    gap: float | None
    limit_hit: str | None
    time_s: float
    seed: int | None
    solution: Solution | None = None
    certificate: Certificate | None = None
    evaluation: Evaluation | None = None
    reason: str | None = None
    trace: tuple[TracePoint, ...] = ()
    phases_s: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    sense: Sense | None = None
    document: Document | None = field(default=None, compare=False)

    @property
    def refused(self) -> bool:
        """True if the method does not support the instance."""
        return self.status is Status.NOT_APPLICABLE

    @property
    def state(self) -> str:
        """The status in words; "bound only" for a bound without a solution."""
        if self.status is Status.NO_SOLUTION and self.bound is not None:
            return "bound only"
        return str(self.status).replace("_", " ")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return each list of the solution as a DataFrame, a list of records with their fields.

        Raises
        ------
        InputError
            If there is no feasible solution.
        """
        from gadgetopt.system.reading.tables import tables_of

        if self.solution is None or self.objective is None:
            name = f"result of {self.method} on {self.instance}"
            raise InputError(f"{name}: has no feasible solution")
        return tables_of(self.solution)

    def to_document(self) -> Document:
        """Return the solution with its header, as `gadgetopt.write` writes it to a file.

        Raises
        ------
        InputError
            If there is no feasible solution, or the instance is not at hand.
        """
        name = f"result of {self.method} on {self.instance}"
        if self.solution is None or self.objective is None:
            raise InputError(f"{name}: has no feasible solution")
        if self.document is None:
            raise InputError(f"{name}: was read without its instance")
        return type(self.document)(
            problem=self.document.problem,
            kind="solution",
            name=self.instance,
            data=self.solution,
            origin={"method": self.method, "seed": self.seed or 0, "instance": self.fingerprint},
            instance=self.document,
        )
