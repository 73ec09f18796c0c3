"""Instances, solutions and certificates of forest packing, as files hold them.

A network of workers; trees with their rates; what proves an upper bound on the rate. The checks of
certificates, with their proofs, are in `proving.certificate`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from gadgetopt.numbers.standards import ETHERNET_GBYTE_PER_S
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.data import (
    Certificate,
    Data,
    Instance,
    NonNegativeFloat,
    NonNegativeInt,
    NonNegativeSize,
    PositiveInt,
    PositiveSize,
    Rational,
    Solution,
)

from .network import Network, make_network

Collective = Literal["allreduce", "allgather", "reduce_scatter", "broadcast", "reduce"]
Stage = Literal["reduce", "broadcast"]

NodeLimits = dict[NonNegativeInt, PositiveSize]

#: The stages each collective consists of.
STAGES: dict[str, tuple[Stage, ...]] = {
    "allreduce": ("reduce", "broadcast"),
    "allgather": ("broadcast",),
    "broadcast": ("broadcast",),
    "reduce_scatter": ("reduce",),
    "reduce": ("reduce",),
}


class Link(Data):
    """A link from `src` to `dst`, or a cable with both directions.

    Attributes
    ----------
    src, dst : int
        Node numbers.
    bandwidth_gbyte_per_s : float
        Capacity c_a of each direction; of both together in a half-duplex network. Parallel links
        add up, links of bandwidth 0 do not exist.
    both : bool
        True if the link has both directions.
    """

    src: NonNegativeInt
    dst: NonNegativeInt
    bandwidth_gbyte_per_s: Annotated[NonNegativeSize, ETHERNET_GBYTE_PER_S]
    both: bool = False


class ForestPackingInstance(Instance):
    """A collective on a network.

    Attributes
    ----------
    workers, switches : tuple of int
        Nodes that hold data (W, two or more) and nodes that only forward (S). Node numbers are
        arbitrary and distinct.
    links : tuple of Link
    duplex : "full" or "half"
        If a cable's two directions have its bandwidth each (full) or share it (half).
    nic_in_gbyte_per_s, nic_out_gbyte_per_s : dict
        C_v^in and C_v^out: most that may enter or leave a node, for the nodes that have a limit.
    model_size_gbyte : float
        D, the data to synchronise; of an allgather or reduce-scatter the gathered size.
    collective : str
        "allreduce", "allgather", "reduce_scatter", "broadcast" or "reduce".
    stage_mode : "overlap" or "sequential"
        If an allreduce's two stages share the links all the time (overlap) or take turns.
    root_mode : "free", "uniform", "fixed" or "weights"
        The shares w_r: to be decided, 1/N each, 1 at `root`, or `root_share`.
    root : int, optional
        The root of mode "fixed".
    root_share : tuple of float, optional
        w_r of each worker of mode "weights", in the order of `workers`.
    hop_latency_s : float
        alpha, the fixed cost of a chunk's hop. It does not enter the objective, which is the rate
        of the fluid limit; the evaluator reports the chunked time beside it.
    in_network : bool
        True if switches can copy and sum.
    tree_budget : int, optional
        K: most trees that may be used.
    equal_share : bool
        True if all trees must carry the same share.
    max_depth : int, optional
        H: most hops, counted between workers, that the two heights of a tree pair may add up to.
    """

    workers: Annotated[tuple[NonNegativeInt, ...], Field(min_length=2)]
    switches: tuple[NonNegativeInt, ...] = ()
    links: tuple[Link, ...]
    duplex: Literal["full", "half"] = "full"
    nic_in_gbyte_per_s: NodeLimits = Field(default_factory=dict)
    nic_out_gbyte_per_s: NodeLimits = Field(default_factory=dict)
    model_size_gbyte: PositiveSize = 1.0
    collective: Collective = "allreduce"
    stage_mode: Literal["overlap", "sequential"] = "overlap"
    root_mode: Literal["free", "uniform", "fixed", "weights"] = "free"
    root: NonNegativeInt | None = None
    root_share: tuple[NonNegativeFloat, ...] | None = None
    hop_latency_s: NonNegativeSize = 0.0
    in_network: bool = False
    tree_budget: PositiveInt | None = None
    equal_share: bool = False
    max_depth: PositiveInt | None = None

    @cached_property
    def network(self) -> Network:
        """The network in arrays, its nodes numbered from 0: workers first, then switches."""
        return make_network(self)

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages of the collective, in order."""
        return STAGES[self.collective]

    @property
    def sequential(self) -> bool:
        """True if there are two stages that take turns."""
        return self.stage_mode == "sequential" and len(self.stages) == 2

    @property
    def restricted(self) -> bool:
        """True if the trees are restricted in number, share or depth (F8)."""
        return self.tree_budget is not None or self.equal_share or self.max_depth is not None

    @model_validator(mode="after")
    def _check(self) -> Self:
        nodes = (*self.workers, *self.switches)
        known = set(nodes)
        if len(known) < len(nodes):
            twice = sorted(v for v in known if nodes.count(v) > 1)[0]
            raise ValueError(f"workers: node {twice} is named twice in workers and switches")
        for k, link in enumerate(self.links):
            for end, v in (("src", link.src), ("dst", link.dst)):
                if v not in known:
                    raise ValueError(f"links[{k}].{end}: {v} is neither a worker nor a switch")
            if link.src == link.dst:
                raise ValueError(f"links[{k}].dst: {link.dst} is also src, expected another node")
            if self.duplex == "half" and not link.both:
                raise ValueError(f"links[{k}].both: false, expected true in a half-duplex network")
        for name in ("nic_in_gbyte_per_s", "nic_out_gbyte_per_s"):
            for v in getattr(self, name):
                if v not in known:
                    raise ValueError(f"{name}.{v}: is neither a worker nor a switch")
        self._check_roots()
        return self

    def _check_roots(self) -> None:
        if self.collective in ("broadcast", "reduce") and self.root_mode != "fixed":
            raise ValueError(
                f"root_mode: {self.root_mode!r}, expected 'fixed' for a {self.collective}"
            )
        if (self.root is not None) != (self.root_mode == "fixed"):
            wrong = (
                "missing, expected a worker" if self.root is None else f"{self.root}, expected none"
            )
            raise ValueError(f"root: {wrong} for root_mode {self.root_mode!r}")
        if self.root is not None and self.root not in self.workers:
            raise ValueError(f"root: {self.root} is not a worker")
        if (self.root_share is not None) != (self.root_mode == "weights"):
            missing = self.root_share is None
            wrong = "missing, expected one share a worker" if missing else "given, expected none"
            raise ValueError(f"root_share: {wrong} for root_mode {self.root_mode!r}")
        if self.root_share is not None:
            if len(self.root_share) != len(self.workers):
                raise ValueError(
                    f"root_share: {len(self.root_share)} shares, expected {len(self.workers)}"
                )
            total = sum(decimal_rational(w) for w in self.root_share)
            if total != 1:
                raise ValueError(f"root_share: the sum is {float(total):g}, expected 1")


#: A logical arc of a tree as the nodes it runs through. The ends are nodes of the tree; those in
#: between only forward.
Path = Annotated[tuple[NonNegativeInt, ...], Field(min_length=2)]


class TreePair(Data):
    """An in-tree and an out-tree with a common root, and the rate reserved for them.

    Attributes
    ----------
    root : int
    in_tree : tuple of Path
        (child, ..., parent) for every worker but the root; empty if the collective does not reduce.
    out_tree : tuple of Path, optional
        (parent, ..., child) for every worker but the root; empty if the collective does not
        broadcast. None: the in-tree backwards.
    rate_gbyte_per_s : Rational
        x_p: the slice it serves over the time of the whole collective.
    """

    root: NonNegativeInt
    in_tree: tuple[Path, ...] = ()
    out_tree: tuple[Path, ...] | None = None
    rate_gbyte_per_s: Rational

    @property
    def broadcast_tree(self) -> tuple[tuple[int, ...], ...]:
        """The out-tree, spelled out."""
        if self.out_tree is not None:
            return self.out_tree
        return tuple(path[::-1] for path in self.in_tree)


class ForestPackingSolution(Solution):
    """Trees and their rates.

    Attributes
    ----------
    trees : tuple of TreePair
        None where no tree spans the workers: nothing can be synchronised, the rate is 0.
    chunks : int, optional
        m: the equal chunks each tree's slice is cut into. The evaluator then also simulates the
        pipeline.
    """

    trees: tuple[TreePair, ...]
    chunks: PositiveInt | None = None


#: Numbers of the instance.
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


def size(instance: ForestPackingInstance) -> dict[str, int]:
    """Return the size of an instance: nodes and links."""
    network = instance.network
    return {
        "workers": network.num_workers,
        "switches": network.num_nodes - network.num_workers,
        "arcs": len(network.arcs),
    }
