"""The double oracle: few sequences and a policy for them, until best responses meet."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome, Status, TracePoint

from ..certificate import check_bound
from ..instance import AdversarialOnlinePolicyInstance, AdversarialOnlinePolicySolution
from ..subproblems.exactly import within_capacity
from ..subproblems.master import Master
from ..subproblems.seller import longest_lasting_share, tree_policy
from ..subproblems.sizes import check_kept_share

#: Histories of a tree that is still walked through.
MOST_HISTORIES = 200_000
#: Rounds without a new history or a better policy after which rounding has the last word.
PATIENCE = 12


def double_oracle(
    instance: AdversarialOnlinePolicyInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    seller: Literal["tree", "share"] = "tree",
    rounds: int = 1000,
) -> MethodOutcome:
    r"""Return a policy whose worst sequence is no worse than the best response allows.

    The game is played on few sequences by the program (2). Its optimal policy is extended to all
    histories; the worst sequence for it joins the program. The program's duals are a lottery over
    sequences, to which no policy responds better than the certificate says, and the worst sequence
    says how good the policy is: a bracket of the game's value from both sides.

    Parameters
    ----------
    instance : AdversarialOnlinePolicyInstance
    limits : Limits
        `time_s` stops between two rounds, `rel_gap` closes the bracket earlier.
    rng
        Not used: nothing is drawn.
    seller : "tree" or "share", default "tree"
        A sale probability of every history; or a share of OPT that is kept, for ratio games whose
        histories nobody can list. Its worst sequence is found by dynamic programming.
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
    best: Floats | Fraction | None = None
    best_value = np.inf
    bound = -np.inf
    trace: list[TracePoint] = []
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
        bound = master.value
        with clock.phase("worst sequence"):
            policy: Floats | Fraction
            if seller == "tree":
                policy, response = tree_policy(instance, master)
            else:
                response = longest_lasting_share(instance)
                policy = 1 / Fraction(response.value)
        stale += 1
        if response.value < best_value:
            best, best_value, stale = policy, float(response.value), 0
        trace.append(TracePoint(clock.elapsed_s, best_value, bound))
        if best_value - bound <= gap * max(abs(best_value), CLOSED_GAP):
            break
        before = len(master.trie)
        master.add(response.sequence)
        if len(master.trie) == before and stale > PATIENCE:
            break  # nothing is left to learn from the sequence
    return _outcome(instance, master, best, clock, trace, limit_hit, played)


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
