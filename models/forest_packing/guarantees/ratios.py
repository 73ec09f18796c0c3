r"""Theorems on the rates and times of forest packing; the numbering T1 to T6 is our own.

T4. With exact cheapest columns the rate of A1 in theory scaling is at least
:math:`(1-\varepsilon)^2 R^*`. Derivation: each step multiplies the capital by at most
:math:`1 + \varepsilon z / R^*`, so that a packing of rate f before scaling has
:math:`R^* / f \le \varepsilon / \ln(1/(M\delta))`; no row is loaded by more than
:math:`\log_{1+\varepsilon}((1+\varepsilon)/\delta)` times its capacity; the choice of delta makes
the product of the two at most :math:`(1-\varepsilon)^{-2}`. Congestion scaling divides by the
largest relative load itself and is at least as good. It may also stop at a gap that its own bound
proves, and pruning removes at most a part eta of the rate.

T1. In a symmetric network without switches :math:`R^* = \tau(G) = \min_P
\mathrm{cross}(P)/(|P|-1)` over partitions into two or more parts, whatever the root shares.

T2. Without switches an allreduce of sums of single elements, by trees or not, takes
:math:`T \ge D \cdot 2(|P|-1) / \sum_{a \text{ crossing } P} c_a` for every partition P.

T3. :math:`T_{ov} \le T_{seq} \le 2\,T_{ov}` for every network and root mode.

T5. Without latency a pipeline of m chunks takes :math:`T \le T^* (1 + (h-1)/m)`, h <= 2(N-1).

T6 (reconstructed form of the paper's bound, whose own statement was not seen). The chain of
packing, pruning by a part eta of the rate and pipelining takes at most
:math:`\frac{1}{(1-\varepsilon)^2} \frac{1}{1-\eta} \Big(1 + \frac{h-1}{m}\Big) T^*`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import guarantee

from ..instance import ForestPackingInstance

#: Defaults of `forest_packing`, for parameters that are not given. By definition.
EPS, TARGET_GAP, PRUNE = 0.1, 0.0, 1e-3


def unrestricted(instance: ForestPackingInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if the number, depth and rates of the trees are not restricted."""
    return not instance.restricted


@guarantee(
    name="T4",
    statement="R* <= R / ((1 - eps)^2 (1 - eta)), or the target gap if that is more",
    reference="T4 (our own numbering; derived here)",
    methods=("forest_packing", "packing_to_gap"),
    assumptions={"the number, depth and rates of the trees are not restricted": unrestricted},
)
def packing_ratio(instance: ForestPackingInstance, parameters: Mapping[str, Any]) -> Fraction:
    """Return the guaranteed R*/R of A1 and A2 with these parameters (T4).

    The scheme ends by its theorem, with 1/(1-eps)^2, or at the target gap, with 1 + gap: the
    larger of the two counts. Pruning multiplies it by 1/(1-eta).
    """
    gap = decimal_rational(parameters.get("target_gap", TARGET_GAP))
    ratio = max(unpolished_ratio(instance, parameters), 1 + gap)
    return ratio / (1 - decimal_rational(parameters.get("prune", PRUNE)))


@guarantee(
    name="T4, A1 alone",
    statement="R* <= R / (1 - eps)^2",
    reference="T4 (our own numbering; derived here)",
    methods=("unpolished_packing",),
    assumptions={"the number, depth and rates of the trees are not restricted": unrestricted},
)
def unpolished_ratio(instance: ForestPackingInstance, parameters: Mapping[str, Any]) -> Fraction:
    """Return the guaranteed R*/R of A1 alone, 1/(1-eps)^2 (T4 without pruning)."""
    return 1 / (1 - decimal_rational(parameters.get("eps", EPS))) ** 2


def crossing_bound(instance: ForestPackingInstance, parts: Sequence[Sequence[int]]) -> Fraction:
    """Return the bound of a partition on the rate of an overlapped allreduce (T2), GB/s.

    Parameters
    ----------
    instance : ForestPackingInstance
        Without switches, full duplex.
    parts : sequence of parts
        Nodes of the network (0..N-1), each once; two parts or more.
    """
    network = instance.network
    part_of = {v: k for k, part in enumerate(parts) for v in part}
    crossing = sum(
        (
            c
            for (u, v), c in zip(network.arcs, network.capacity, strict=True)
            if part_of[u] != part_of[v]
        ),
        Fraction(0),
    )
    return crossing / (2 * (len(parts) - 1))


def partitions(num_nodes: int) -> Iterator[list[list[int]]]:
    """Return every partition of 0..num_nodes-1 into non-empty parts; there are Bell(num_nodes)."""
    if num_nodes == 0:
        yield []
        return
    last = num_nodes - 1
    for parts in partitions(last):
        for k in range(len(parts)):
            yield [*parts[:k], [*parts[k], last], *parts[k + 1 :]]
        yield [*parts, [last]]
