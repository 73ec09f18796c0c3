"""The bound of cuts at prices, without branching."""

from __future__ import annotations

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...instance import BglPartitionInstance
from ..certificate.check import (
    BglPartitionCertificate,
    Stars,
)
from ..certificate.cuts import (
    Cuts,
    Leaf,
)
from ..cut_lp import CutLp
from ..cut_separation import separate


@method(
    kind="relaxation",
    reference="Barahona and Mahjoub 1986; Ferreira et al. 1998",
    formulation="cuts",
)
def cut_bound(instance: BglPartitionInstance, limits: Limits) -> MethodOutcome:
    """The linear program over pairs of nodes, with cycles, trees, stars and cliques.

    Return the bound of the linear program over pairs when no violated cut is found any more.

    Cycles are separated exactly, stars and cliques greedily.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends it with the bound of the cuts so far.

    Raises
    ------
    ModelRefused
        If there are too many pairs.

    References
    ----------
    F. Barahona, A. R. Mahjoub, "On the cut polytope", Mathematical Programming 36 (1986) 157-173.
    """
    clock = Clock(limits)
    if not len(instance.pair_weights):
        return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
    lp = CutLp(instance)
    leaf, rounds = close(lp, clock)
    return MethodOutcome(
        certificate=BglPartitionCertificate(proof=proof_of(lp, leaf)),
        limit_hit="time_s" if clock.expired else None,
        notes={"cuts": len(lp.cuts), "rounds": rounds},
    )


def close(lp: CutLp, clock: Clock) -> tuple[Leaf, int]:
    """Add violated cuts until there are none; return the prices of the best solve, and rounds."""
    leaf, best, rounds = Leaf(), 0.0, 0
    while not clock.expired and lp.solve(clock.limits()) is Status.OPTIMAL:
        rounds += 1
        rises = lp.lp.objective > best
        if rises or not leaf.cuts:
            leaf, best = lp.leaf() or leaf, max(best, lp.lp.objective)
        cuts = separate(lp)
        if not cuts:
            break
        if rises:
            lp.purge()
        if not lp.add(cuts):
            break
    return leaf, rounds


def proof_of(lp: CutLp, leaf: Leaf) -> Cuts:
    """Return the certificate of one leaf."""
    cuts, number = lp.used([leaf])
    renumbered = leaf.model_copy(update={"cuts": tuple(number[c] for c in leaf.cuts)})
    return Cuts(cuts=cuts, tree=(renumbered,), unit=lp.digits)
