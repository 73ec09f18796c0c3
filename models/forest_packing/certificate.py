r"""Certificates of upper bounds on the rate, and their check in exact arithmetic.

Every check is a sum, a cut, a minimum arborescence or a cheapest shallow tree in rational numbers;
no linear program is solved. Node numbers are the instance's. The checks, with their proofs, are in
`checks.cuts_and_prices`, those of restricted trees in `checks.restricted_trees`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.system.data import (
    Certificate,
    Data,
    NonNegativeInt,
    Rational,
)

from .checks.cuts_and_prices import (
    cut_family_bound,
    partition_bound,
    prices_bound,
)
from .checks.restricted_trees import (
    bottleneck_bound,
    equal_trees_bound,
    shallow_prices_bound,
)
from .instance import ForestPackingInstance, Stage

Nodes = tuple[NonNegativeInt, ...]


class Partition(Data):
    r"""Parts of the nodes, each with a worker: at least :math:`2(|P|-1)` crossings a byte (T2).

    :math:`R \le` capacity that crosses between parts, both directions, over :math:`2(|P|-1)`; for
    one stage alone over :math:`|P|-1`. Nodes may be left out (a subpartition): a broadcast then has
    to enter the parts and a reduction to leave them. With given root shares w, :math:`|P|-1` is
    :math:`|P|-w(\bigcup P)`, and a single part can prove something.
    """

    kind: Literal["partition"] = "partition"
    parts: tuple[Nodes, ...]


class CutFamily(Data):
    r"""Multipliers of cut rows and of switch balances: a rational dual of the cut LP (F3).

    Attributes
    ----------
    cuts : tuple of Cut
        Q with the multiplier of its row :math:`g(\delta^-(Q)) + w(Q) \ge R` (broadcast) or
        :math:`h(\delta^+(Q)) + w(Q) \ge R` (reduce).
    potentials : tuple of Potential
        Multipliers, of either sign, of the balances (3) of switches: load in minus load out.
        None where switches copy and sum.
    prices : dict, optional
        Prices of rows by name. Only those of NICs matter: the row of an arc or cable always gets
        the least price that its arcs still need.
    reduce_prices : dict, optional
        Where the stages take turns, the prices in the reduce stage; left out, those of `prices`.
    """

    class Cut(Data):
        """One cut row."""

        stage: Stage
        nodes: Nodes
        multiplier: Rational

    class Potential(Data):
        """One balance of a switch in one stage."""

        stage: Stage
        switch: NonNegativeInt
        value: Rational

    kind: Literal["cut_family"] = "cut_family"
    cuts: tuple[Cut, ...]
    potentials: tuple[Potential, ...] = ()
    prices: dict[str, Rational] | None = None
    reduce_prices: dict[str, Rational] | None = None


class Prices(Data):
    r"""Prices of the rows: a rational dual y of the tree-pair LP (F1).

    :math:`R \le \sum_a c_a y_a / \pi(y)` with :math:`\pi` the price of the cheapest pair, found by
    minimum arborescences in exact arithmetic.

    Attributes
    ----------
    reduce, broadcast : dict
        Price of each row by name, 0 where left out, in each stage. The two must be equal unless
        the stages take turns; a stage the collective lacks has none.
    """

    kind: Literal["prices"] = "prices"
    reduce: dict[str, Rational] = Field(default_factory=dict)
    broadcast: dict[str, Rational] = Field(default_factory=dict)


class EqualTrees(Data):
    r"""A partition for every number of equal tree pairs that matters (F8a).

    Of j pairs of rate x, :math:`s j (|P| - 1)` crossings have to fit in
    :math:`\sum_a \lfloor c_a / x \rfloor`, s being the number of stages.

    Attributes
    ----------
    partitions : tuple of tuple of nodes
        For each j, ascending, with K/2 < j <= K and a whole number of pairs at every root.
    """

    kind: Literal["equal_trees"] = "equal_trees"
    partitions: tuple[tuple[Nodes, ...], ...]


class Bottleneck(Data):
    """Nodes that every tree enters or leaves: R is at most K of the widest arcs there (F8b)."""

    kind: Literal["bottleneck"] = "bottleneck"
    nodes: Nodes


class ShallowPrices(Data):
    r"""Prices of the rows, as `Prices`, for pairs of at most `max_depth` hops (F8f).

    Attributes
    ----------
    prices : dict
        Price of each row by name, 0 where left out.
    """

    kind: Literal["shallow_prices"] = "shallow_prices"
    prices: dict[str, Rational] = Field(default_factory=dict)


class ForestPackingCertificate(Certificate):
    """A proof of an upper bound on the rate."""

    proof: Annotated[
        Partition | CutFamily | Prices | EqualTrees | Bottleneck | ShallowPrices,
        Field(discriminator="kind"),
    ]


def check_bound(
    instance: ForestPackingInstance, certificate: ForestPackingCertificate
) -> Fraction | None:
    """Return the upper bound on the rate, GB/s, that a certificate proves; None if it proves none.

    Notes
    -----
    The bounds of `Partition`, `CutFamily` and `Prices` hold with any restriction of the trees, the
    others with the one they are about. They cover trees whose
    logical arcs run through other workers: every such tree loads the links at least as much as
    some tree whose logical arcs do not.

    Raises
    ------
    ValueError
        If the certificate names nodes, rows or stages that the instance does not have, if parts
        overlap, a part or cut has no worker, or a multiplier or price is negative.
    """
    proof = certificate.proof
    if isinstance(proof, Partition):
        return partition_bound(instance, proof)
    if isinstance(proof, CutFamily):
        return cut_family_bound(instance, proof)
    if isinstance(proof, EqualTrees):
        return equal_trees_bound(instance, proof)
    if isinstance(proof, Bottleneck):
        return bottleneck_bound(instance, proof)
    if isinstance(proof, ShallowPrices):
        return shallow_prices_bound(instance, proof)
    return prices_bound(instance, proof)
