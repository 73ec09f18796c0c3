"""The double oracle: few sequences and a policy for them, until best responses meet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import Trace
from gadgetopt.solvers import seed_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status, TracePoint

from ...instance import (
    AdversarialOnlinePolicyInstance,
    AdversarialOnlinePolicySolution,
)
from ...subproblems.exactly import within_capacity
from ...subproblems.sizes import check_kept_share
from ..certificate import (
    check_bound,
    total_optimum,
)
from .master import Master
from .seller import (
    Response,
    longest_lasting_share,
    tree_policy,
)
from .seller_program import best_policy_program
from .worst_program import (
    least_ratio,
    worst_of_master_program,
    worst_of_share_program,
)

#: Histories of a tree that is still walked through. Tuned: `benchmarks/constants.py`.
MOST_HISTORIES = 200_000
#: Rounds without a new history or a better policy after which rounding has the last word.
#: Tuned: `benchmarks/constants.py`.
PATIENCE = 12


@method(
    kind="exact",
    reference="McMahan, Gordon and Blum 2003; Bosansky et al. 2014",
    formulation="double_oracle",
    backend="highs",
)
def double_oracle(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    *,
    seller: Literal["tree", "share"] = "tree",
    oracle: Literal["dp", "milp"] = "dp",
    rounds: int = 1000,
) -> MethodOutcome:
    r"""Program (2) on few sequences, to which worst sequences are added.

    Return a policy whose worst sequence is no worse than the best response allows.

    The game is played on few sequences by the program (2). Its optimal policy is extended to all
    histories; the worst sequence for it joins the program. The program's duals are a lottery over
    sequences, to which no policy responds better than the certificate says, and the worst sequence
    says how good the policy is: a bracket of the game's value from both sides.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits : Limits
        `time_s` stops between two rounds, `rel_gap` closes the bracket earlier.
    seller : "tree" or "share", default "tree"
        A sale probability of every history; or a share of OPT that is kept, for ratio games whose
        histories nobody can list. Its worst sequence is found by dynamic programming.
    oracle : "dp" or "milp", default "dp"
        Best responses by dynamic programming and enumeration; or the worst sequence by an integer
        program and the best policy against the lottery by a linear one, by HiGHS. Where the integer
        program is not closed in time, its bound says how good the policy is at least.
    rounds : int, default 1000

    Raises
    ------
    ModelRefused
        If there are too many histories, or too many sets of k levels for a share; or a share is
        asked for in a game of regret or with predictions.

    References
    ----------
    H. B. McMahan, G. J. Gordon, A. Blum, "Planning in the Presence of Cost Functions Controlled by
    an Adversary", ICML 2003, 536-543. B. Bosansky, C. Kiekintveld, V. Lisy, M. Pechoucek, "An Exact
    Double-Oracle Algorithm for Zero-Sum Extensive-Form Games with Imperfect Information", Journal
    of Artificial Intelligence Research 51 (2014) 829-866.
    """
    rng = fixed_rng()
    if rounds < 1:
        raise ModelRefused(f"rounds: {rounds}, expected at least 1")
    if seller == "tree":
        _check_histories(instance)
    elif instance.predictions or instance.payoff == "regret":
        raise ModelRefused("seller: a share is kept in ratio games without predictions; take tree")
    else:
        check_kept_share(instance)
    clock, gap = Clock(limits), max(limits.rel_gap, CLOSED_GAP)
    master = Master(instance)
    for j in range(len(instance.levels)):
        master.add([j])
    game = _Game(instance, master, clock, seller, oracle, seed_of(rng))
    best: Floats | Fraction | None = None
    best_value = np.inf
    bound = -np.inf
    # No `Search`: only the last round's bound has a certificate, and another may be the best.
    trace = Trace(limits, clock)
    limit_hit, stale, played = None, 0, 0
    while played < rounds:
        played += 1
        with clock.phase("program"):
            status = master.solve(clock.limits())
        if status is Status.INFEASIBLE:
            return MethodOutcome(proved=Status.INFEASIBLE, phases_s=clock.phases_s)
        if status is not Status.OPTIMAL or clock.expired:
            limit_hit = "time_s"
            break
        with clock.phase("best policy"):
            bound = game.value_of_lottery()
        with clock.phase("worst sequence"):
            policy, response = game.worst_sequence(best_value)
        stale += 1
        if policy is not None and response.value < best_value:
            best, best_value, stale = policy, float(response.value), 0
        trace.note(best_value, bound)
        if best is not None and best_value - bound <= gap * max(abs(best_value), CLOSED_GAP):
            break
        before = len(master.trie)
        if response.sequence:
            master.add(response.sequence)
        if len(master.trie) == before and (stale > PATIENCE or oracle == "milp"):
            # Nothing is left to learn from the sequence.
            limit_hit = "time_s" if clock.expired else None
            break
    return _outcome(instance, master, best, clock, trace.points, limit_hit, played)


@dataclass(frozen=True)
class _Game:
    """The best responses of both players to what the master program plays."""

    instance: AdversarialOnlinePolicyInstance
    master: Master
    clock: Clock
    seller: Literal["tree", "share"]
    oracle: Literal["dp", "milp"]
    seed: int

    def value_of_lottery(self) -> float:
        """Return what the best policy against the adversary's lottery leaves to the adversary."""
        if self.oracle == "dp":
            return self.master.value
        instance, certificate = self.instance, self.master.certificate()
        weighted = [(s.levels, s.weight) for s in certificate.sequences]
        priced = list(zip(instance.predictions, certificate.prediction_prices, strict=False))
        earned = best_policy_program(instance, [*weighted, *priced], self.clock)
        offline = total_optimum(instance, weighted)
        earned -= float((instance.consistency or 0) * total_optimum(instance, priced))
        weight = float(sum((w for _, w in weighted), Fraction(0)))
        if weight <= 0 or (instance.payoff == "ratio" and earned <= 0):
            return -np.inf
        if instance.payoff == "regret":
            return (float(offline) - earned) / weight
        return float(offline) / earned

    def worst_sequence(self, known: float) -> tuple[Floats | Fraction | None, Response]:
        """Return the master's policy and its worst sequence; no policy if it is not below `known`.

        All histories of a tree are written down for a policy that is to be kept.
        """
        instance, master = self.instance, self.master
        if self.oracle == "dp":
            if self.seller == "tree":
                return tree_policy(instance, master)
            response = longest_lasting_share(instance)
            return 1 / Fraction(response.value), response
        if self.seller == "tree":
            answer = worst_of_master_program(instance, master, self.clock, self.seed)
            kept = tree_policy(instance, master)[0] if answer.value < known else None
            return kept, Response(answer.sequence, answer.value)
        answer = worst_of_share_program(instance, self.clock, self.seed)
        if not math.isfinite(answer.value):
            return None, Response(answer.sequence, answer.value)
        ratio = least_ratio(instance, answer)
        return 1 / ratio, Response(answer.sequence, ratio)


def _check_histories(instance: AdversarialOnlinePolicyInstance) -> None:
    total = 0
    for t in range(1, instance.horizon + 1):
        total += len(instance.levels) ** t
        if total > MOST_HISTORIES:
            raise ModelRefused(
                f"horizon: more than {MOST_HISTORIES} histories of {instance.horizon} buyers; "
                "seller=share needs none of them"
            )


def _outcome(
    instance: AdversarialOnlinePolicyInstance,
    master: Master,
    best: Floats | Fraction | None,
    clock: Clock,
    trace: list[TracePoint],
    limit_hit: str | None,
    rounds: int,
) -> MethodOutcome:
    solution = None
    if isinstance(best, np.ndarray):
        solution = AdversarialOnlinePolicySolution(
            sale_probability=within_capacity(instance, best.tolist())
        )
    elif best is not None:
        solution = AdversarialOnlinePolicySolution(kept_share=best)
    certificate = master.certificate() if trace else None
    proved: Fraction | None = None
    if certificate is not None:
        proved = check_bound(instance, certificate)
    return MethodOutcome(
        solution=solution,
        dual_bound=proved,
        certificate=None if proved is None else certificate,
        limit_hit=limit_hit,
        trace=tuple(trace),
        phases_s=clock.phases_s,
        notes={"rounds": rounds, "histories in the program": len(master.trie)},
    )
