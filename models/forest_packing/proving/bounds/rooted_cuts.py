"""Bounds of the tightest cut of one stage with given root shares (A6.1, F6)."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ForestPackingInstance
from ...packing import required_shares
from ...subproblems.rooted_cuts import single_cut_outcome


@method(kind="relaxation", reference="F6", formulation="min_cut")
def min_cut(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    r"""Broadcast from one root: the smallest cut.

    Bound a broadcast or reduce by :math:`\min_v` maxflow(r, v) (F6).

    This is the optimum without switches, and with switches on Eulerian networks.

    Raises
    ------
    ModelRefused
        If there is not exactly one root, or the collective has two stages.
    """
    shares = required_shares(instance)
    if shares is None or len(shares) != 1:
        raise ModelRefused("minimum cut: there is not exactly one root")
    return single_cut_outcome(instance, limits)


@method(kind="relaxation", reference="A6.1", formulation="forestcoll_bound")
def forestcoll_bound(instance: ForestPackingInstance, limits: Limits) -> MethodOutcome:
    r"""Uniform-share allgather and its tight cut.

    Bound an allgather or reduce-scatter with given shares by its tightest cut (A6.1).

    With uniform shares that is :math:`N x^*`,
    :math:`1/x^* = \max_Q |Q \cap W| / c(\delta^+(Q))`: the optimum without switches, and with
    switches on Eulerian networks.

    Raises
    ------
    ModelRefused
        If the shares are free or the collective has two stages.
    """
    if required_shares(instance) is None:
        raise ModelRefused("single-cut bound: the root shares are free, give root_mode 'uniform'")
    return single_cut_outcome(instance, limits)
