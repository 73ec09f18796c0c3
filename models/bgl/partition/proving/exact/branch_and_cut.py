"""Branch and cut over pairs of nodes (`cases.py`); eliminations close what it leaves open."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...heuristics.multi_start import best_start
from ...instance import (
    BglPartitionInstance,
    BglPartitionSolution,
)
from ...subproblems.local_search import Weighted
from ..certificate.check import (
    BglPartitionCertificate,
    Stars,
)
from .cases import Cases
from .ladder import elimination


@method(kind="exact", reference="this project, after Ferreira et al. 1998", formulation="cuts")
def branch_and_cut(
    instance: BglPartitionInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    starts: int = 1,
) -> MethodOutcome:
    """Cycle, tree, star and clique inequalities, branching on pairs of training nodes.

    Solve an instance exactly by cuts and cases; where these end early, by eliminations.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends it with the bound, and its certificate, of the cases that are open.
    rng : numpy.random.Generator
        Draws the first partitions and the centres of rounding.
    starts : int, default 1
        BGL's partitions that are improved at first.

    References
    ----------
    C. E. Ferreira, A. Martin, C. C. de Souza, R. Weismantel, L. A. Wolsey, "The node capacitated
    graph partitioning problem: a computational study", Mathematical Programming 81 (1998) 229-256.
    """
    search: Search[BglPartitionSolution] = Search("min", limits)
    search.prove(0, BglPartitionCertificate(proof=Stars()))
    weighted = Weighted.of(instance)
    if starts:
        with search.clock.phase("starts"):
            found = best_start(instance, weighted, starts, search.clock, rng, memory=False)
        search.offer(instance.pair_weights.cut(found), BglPartitionSolution.of(found.tolist()))
    notes: dict[str, int] = {}
    if not search.over and len(instance.pair_weights):
        with search.clock.phase("cuts"):
            cases = Cases(instance, weighted, search, search.clock, rng)
        cases.run()
        notes = {"cuts": len(cases.lp.cuts), "cases": len(cases.tree)}
    if not search.over:
        _finish(instance, search, rng)
    return search.outcome(search.best, **notes)


def _finish(
    instance: BglPartitionInstance, search: Search[BglPartitionSolution], rng: np.random.Generator
) -> None:
    """Let eliminations close what cuts and cases leave open.

    A point of the program without a fraction and without a violated cut may be no partition: its
    groups of nodes may not fit into the parts together, or go where no distance tells.
    """
    with search.clock.phase("elimination"):
        rest = elimination(instance, search.clock.limits(), rng, starts=0)
    if isinstance(rest.solution, BglPartitionSolution) and rest.claimed_objective is not None:
        search.offer(rest.claimed_objective, rest.solution)
    if rest.dual_bound is not None:
        search.prove(rest.dual_bound, rest.certificate)
    search.versions |= rest.versions
    search.limit_hit = search.limit_hit or rest.limit_hit
