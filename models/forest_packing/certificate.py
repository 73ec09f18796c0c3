r"""Certificates: what proves an upper bound on the rate, and their check in exact arithmetic.

Every check is a sum, a cut or a minimum arborescence in rational numbers; no linear program is
solved. Node numbers are the instance's.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.data import Certificate, Data, NonNegativeInt, Rational

from .instance import ForestPackingInstance, Stage

Nodes = tuple[NonNegativeInt, ...]


class Partition(Data):
    r"""Parts of the nodes, each with a worker: at least :math:`2(|P|-1)` crossings a byte (T2).

    :math:`R \le` capacity that crosses between parts, both directions, over :math:`2(|P|-1)`; for
    one stage alone over :math:`|P|-1`, and for two stages that take turns likewise.
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
        Multipliers of the balances (3) of switches, of either sign.
    prices : dict
        Price of each row of the network by name, for the networks where a row has several arcs;
        left out, a row's price is the least its one arc needs.
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
    reduce: dict[str, Rational] = {}
    broadcast: dict[str, Rational] = {}


class ForestPackingCertificate(Certificate):
    """A proof of an upper bound on the rate."""

    proof: Annotated[Partition | CutFamily | Prices, Field(discriminator="kind")]


def certified_bound(
    instance: ForestPackingInstance, certificate: ForestPackingCertificate
) -> Fraction | None:
    """Return the upper bound on the rate, GB/s, that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If the certificate speaks of nodes or rows that the network does not have.
    """
    raise NotImplementedError  # written with the evaluator
