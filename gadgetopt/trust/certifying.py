"""Searches for proofs of the bounds of finished runs, as far as the time goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import NamedTuple

from gadgetopt.errors import BetterPoint, InputError, Unproved
from gadgetopt.numbers.text import show_apart
from gadgetopt.numbers.tolerance import Number, closes, refutes
from gadgetopt.search.alarm import TimeUp, ended_after, late
from gadgetopt.search.clock import Clock
from gadgetopt.search.steps import FIRST_S, between
from gadgetopt.system.data import ModelProof
from gadgetopt.system.declaration import Problem
from gadgetopt.system.files import Document
from gadgetopt.system.result import OWN_LIMIT, Limits, Result, Status, Voucher
from gadgetopt.trust.certificate import (
    certified_bound,
    is_infinite,
)
from gadgetopt.trust.exactness import with_exact_bound
from gadgetopt.trust.infeasibility import is_verified, status_proved
from gadgetopt.trust.judgement import relative_gap
from gadgetopt.trust.proving import (
    CERTIFY,
    PROOF,
    may_replace_claim,
    why_none,
    with_reason,
)
from gadgetopt.trust.refuting import refuted_by_point
from gadgetopt.trust.run import solve
from gadgetopt.trust.searches import (
    Proved,
    infeasibility_proofs,
    proofs_of,
    unboundedness_proofs,
)

#: Parts of the time left that methods with certificates have together after the first round of
#: trees on the formulation of a run, or `FIRST_S` for each up to the second part, and after the
#: second round. Tuned: `benchmarks/constants.py`.
OF_METHODS = 0.025, 0.5
#: Part of the time in which a run with a bound, but without a solution, is tried for having none.
#: Tuned: `benchmarks/constants.py`.
OF_INFEASIBILITY = 0.25


class Turn(NamedTuple):
    """A time during which one source is searched for proofs.

    Attributes
    ----------
    name : str
        The formulation or method.
    search : callable
        Yields proofs; called with a function that returns the seconds that are left.
    part : float
        Part of the time left that the search gets.
    until_round : bool
        Whether the turn ends when the search yields None, which it does after each of its rounds.
        It goes on in a later turn.
    ends : bool
        Whether the search gets its turn without time, too, to say what it has proved by then.
    """

    name: str
    search: Callable[[Callable[[], float]], Iterator[Proved | None]]
    part: float = 1.0
    until_round: bool = False
    ends: bool = False


def certify(
    document: Document,
    result: Result,
    seconds: float,
    stop: Callable[[], bool] = lambda: False,
    tell: Callable[[str], None] = lambda doing: None,
    keep: Callable[[Result], None] = lambda result: None,
) -> Result:
    """Return a result whose bound is proved as far as that many seconds of searching allow.

    Where the run said that there is no solution, or no optimum, that is what is proved, and a run
    without a solution is tried for the former. Else the target is the bound of the run, which meets
    the objective if the run is optimal. The run of a formulation that ended by itself claims its
    objective, even where its bound was not believed and what its root proves took its place. The
    formulation of the run comes first, then, while there is time, its system's default exact
    methods, whose bounds may have certificates of their own, and its exact formulations.
    What cannot be proved in time is proved as far as it was: a weaker bound. Ctrl-C ends the
    search, too, and so does `stop` when it returns True. `tell` is told what is tried, and `keep`
    is given each result that is better than those before, in case this one never comes.
    Where the search meets a solution that refutes the bound of the run, the result is an error with
    that solution. A bound that is within tolerance of an exact objective is made that objective.
    """
    closed = result.status in (Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED)
    if result.status is Status.ERROR:
        return result
    if closed and is_verified(result):
        return with_exact_bound(document, result, seconds)
    ended = (
        result.formulation is not None
        and result.limit_hit in (None, OWN_LIMIT)
        and result.kind == "exact"
    )
    claims = result.status is Status.OPTIMAL or (ended and is_verified(result))
    first, second = result.objective, result.bound
    if not claims:
        first, second = second, first
    target = second if first is None else first
    begin = time.perf_counter()

    @cache
    def improves(bound: Number) -> bool:
        # What the run's own certificate proves does not reach the target, or it were verified.
        return (
            target is not None
            and not is_infinite(bound)
            and not is_verified(result)
            and may_replace_claim(document.problem, bound, target, result.objective)
        ) or _improves(document, result, bound)

    def improved(best: Proved | None, why: Mapping[str, str]) -> Result:
        if best is None or not improves(best.bound):
            # What the notes say of a proof that the run has already stays.
            return with_reason(result, why)
        settled = status_proved(best.certificate, best.bound)
        out = replace(
            result,
            certificate=best.certificate,
            notes={**result.notes, PROOF: {**best.told, **why}},
            phases_s={**result.phases_s, CERTIFY: time.perf_counter() - begin},
        )
        if settled is not None:
            status, note = settled
            out = replace(out, status=status, notes={**out.notes, **note})
            return replace(out, bound=None, bound_voucher=None, gap=None)
        if not may_replace_claim(document.problem, best.bound, result.bound, result.objective):
            return out
        return _with_bound(document.problem, out, best.bound)

    def found(best: Proved) -> None:
        keep(improved(best, {}))

    search = _Search(document, result, target, seconds, stop, tell, found)
    search.run()
    if search.refuted is not None:
        return search.refuted
    left_s = 0.0 if search.interrupted or stop() else seconds - (time.perf_counter() - begin)
    return with_exact_bound(document, improved(search.best, search.why), left_s)


def _with_bound(problem: Problem, result: Result, proved: Number) -> Result:
    closed = result.objective is not None and closes(
        result.objective, proved, integral=problem.integral_objective
    )
    return replace(
        result,
        bound=proved,
        bound_voucher=Voucher.VERIFIED,
        gap=relative_gap(result.objective, proved),
        status=Status.OPTIMAL if closed else result.status,
    )


def _improves(document: Document, result: Result, proved: Number) -> bool:
    """Return True if a proof is stronger than that which a result has."""
    if result.certificate is None:
        return True
    try:
        before = certified_bound(document.problem, document.data, result.certificate)
    except (InputError, ValueError):
        # Made by another version, as stored ones may be. What that version verified is not taken
        # for less than is proved now unless the new proof reaches it.
        before = result.bound if result.bound_voucher is Voucher.VERIFIED else None
    return before is None or _stronger(document.problem, proved, before)


def _hold_against(problem: Problem, found: Proved, name: str, objective: Number | None) -> None:
    """Raise `Unproved` if a run's own feasible solution refutes what was proved.

    The formulation is not the problem then, so none of its bounds is one.
    """
    if objective is None:
        return
    if is_infinite(found.bound):
        raise Unproved(f"{name}: a proof about it is refuted by the run's own solution")
    if refutes(objective, found.bound, minimise=problem.sense == "min"):
        bound, value = show_apart(found.bound, objective)
        raise Unproved(f"{name}: the proved bound {bound} is refuted by the solution of {value}")


def _stronger(problem: Problem, proved: Number, other: Number) -> bool:
    return proved > other if problem.sense == "min" else proved < other


# -- search ---------------------------------------------------------------------------------------


@dataclass
class _Search:
    """A search for the strongest proof that can be found in the time.

    Attributes
    ----------
    found : callable
        Given each proof that is stronger than those before.
    best : Proved or None
    why : dict of str to str
        Why there is not more: what the first search without a proof said, "refused", the first
        error that nobody expected, "failed", and what was tried when the search ended early,
        "ended".
    refuted : Result or None
        The result, if a solution was met that refutes its bound.
    """

    document: Document
    result: Result
    target: Number | None
    seconds: float
    stop: Callable[[], bool]
    tell: Callable[[str], None]
    found: Callable[[Proved], None]
    best: Proved | None = None
    why: dict[str, str] = field(default_factory=dict)
    refuted: Result | None = None
    doing: str = ""
    interrupted: bool = False

    def run(self) -> None:
        """Search for proofs until one reaches the target, or the time is up."""
        clock = Clock()

        def stopped() -> bool:
            return self.interrupted or clock.interrupted or self.stop()

        def left_s() -> float:
            return 0.0 if stopped() else self.seconds - clock.elapsed_s

        def over() -> str:
            # Who enforces the time from outside does it by Ctrl-C.
            in_time = clock.elapsed_s < self.seconds
            return "interrupted" if stopped() and in_time else "time was up"

        for k, turn in enumerate(_turns(self.document, self.result, self.target, left_s, self.say)):
            kept_s = left_s() * (1 - turn.part)

            def part_s(kept_s: float = kept_s) -> float:
                return left_s() - kept_s

            if k and not turn.ends and part_s() <= 0:
                continue
            try:
                if self._take(turn, part_s):
                    self.why.pop("ended", None)
                    return
            except TimeUp:  # Ctrl-C rings the alarm, too
                self.why.setdefault("ended", f"{over()} while {self.doing}")
            except KeyboardInterrupt:
                self.interrupted = True
            except BetterPoint as better:
                self.refuted = refuted_by_point(
                    self.document, self.result, turn.name, better.values
                )
                if self.refuted is not None:
                    return
            except Exception as error:  # the run stands without its proof
                for what, why in why_none(error).items():
                    self.why.setdefault(what, why)
        if stopped():  # whatever ended before
            self.why["ended"] = f"{over()} while {self.doing}"
        elif left_s() <= 0:
            self.why.setdefault("ended", f"{over()} while {self.doing}")

    def say(self, doing: str) -> None:
        """Remember what is tried, and tell it."""
        self.doing = doing
        self.tell(doing)

    def _take(self, turn: Turn, part_s: Callable[[], float]) -> bool:
        """Take a turn; return True if it proves the target."""
        problem, objective = self.document.problem, self.result.objective
        for proved in turn.search(part_s):
            if proved is None:
                if turn.until_round:
                    break
                continue
            _hold_against(problem, proved, turn.name, objective)
            if self.best is None or _stronger(problem, proved.bound, self.best.bound):
                self.best = proved
                self.found(proved)
            if is_infinite(proved.bound):
                return True
            if self.target is not None and may_replace_claim(
                problem, proved.bound, self.target, objective
            ):
                return True
        return False


def _turns(
    document: Document,
    result: Result,
    target: Number | None,
    left_s: Callable[[], float],
    tell: Callable[[str], None],
) -> Iterator[Turn]:
    """Yield what to search for proofs, one after the other.

    The run's own formulation comes first. Between its rounds the exact ones among the
    system's default methods are tried, whose bounds may have certificates of their own, for a short
    time and then for a long one. Then come the other exact formulations; which of them is strong is
    not known.
    """
    problem = document.problem
    linear = [f for f in problem.formulations if f.model_class in ("LP", "ILP", "MILP")]
    own = [f.name for f in linear if f.name == result.formulation and f.strength != "restriction"]
    others = [f.name for f in linear if f.strength == "exact" and f.name not in own]
    # A relaxation that has a bound has points, though they are no solutions.
    relaxed = [f.name for f in linear if f.name in own and f.strength == "relaxation"]
    if result.objective is None and (target is None or not relaxed):
        part = 1.0 if target is None else OF_INFEASIBILITY
        yield from _status_turns(document, result, (*own, *others), part, tell)
    if target is None:
        return
    of_kind = {method.name for method in problem.methods if method.kind == "exact"}
    exact = [name for name in problem.default_methods if name.partition(":")[0] in of_kind]
    methods = [name for name in exact if name != result.method]
    closed = result.status is Status.OPTIMAL
    claimed = result.bound is not None and (closed or target == result.bound)
    waiting = bool(methods)
    searches = {
        name: proofs_of(document, name, target, tell, left_s, claimed, waiting) for name in own
    }
    for part in OF_METHODS if methods else ():
        for name, search in searches.items():
            yield Turn(name, partial(_resumed, search), until_round=True)
        share = between(part, FIRST_S * len(methods), left_s(), OF_METHODS[-1]) / len(methods)
        for name in methods:
            yield Turn(name, partial(_certificates, document, name, tell), share)
    for name, search in searches.items():
        yield Turn(name, partial(_resumed, search), ends=True)
    for k, name in enumerate(others):
        other = partial(proofs_of, document, name, target, tell, is_claimed=claimed)
        yield Turn(name, other, 1 / (len(others) - k))


def _status_turns(
    document: Document,
    result: Result,
    names: Sequence[str],
    part: float,
    tell: Callable[[str], None],
) -> Iterator[Turn]:
    """Yield searches for a proof that a run without a solution has none, or is unbounded."""
    search: Callable[..., Iterator[Proved]] = unboundedness_proofs
    if result.status is not Status.UNBOUNDED:
        claimed = result.status is Status.INFEASIBLE
        search = partial(infeasibility_proofs, is_claimed=claimed)
    for k, name in enumerate(names):
        yield Turn(name, partial(search, document, name, tell), part / (len(names) - k))


def _resumed(
    search: Iterator[Proved | None], _left_s: Callable[[], float]
) -> Iterator[Proved | None]:
    """Return a search that has a clock of its own and goes on where it paused."""
    return search


def _certificates(
    document: Document, name: str, tell: Callable[[str], None], left_s: Callable[[], float]
) -> Iterator[Proved]:
    """Yield the certificate with which a run of an exact method proves its bound, if it does.

    A method that does not look at its clock, as while it builds a model, is ended as by Ctrl-C.
    """
    tell(f"running {name}")
    begin, time_s = time.perf_counter(), max(0.0, left_s())
    with ended_after(late(time_s)) as alarm:
        run = solve(document, name, Limits(time_s=time_s))
    certificate, bound = run.certificate, run.bound
    if bound is not None and certificate is not None and run.bound_voucher is Voucher.VERIFIED:
        kind = certificate.kind if isinstance(certificate, ModelProof) else "certificate"
        told = {
            "kind": kind,
            "method": name,
            "bound": str(bound) if not isinstance(bound, float) else repr(bound),
            "bytes": len(certificate.model_dump_json()),
            "prove_s": round(time.perf_counter() - begin, 3),
        }
        yield Proved(certificate, bound, told)
    if alarm.rang:
        raise TimeUp
    if run.limit_hit == "interrupted":
        raise KeyboardInterrupt
