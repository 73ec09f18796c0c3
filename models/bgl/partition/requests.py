r"""Pair weights: the requests that a sampler sends over every pair of nodes, exactly.

A sampler expands a node on the server that owns it. From a training node t, of multiplicity
:math:`m^{(0)}_t(t) = 1`, each node u of the frontier sends
:math:`m \min(f_l, \deg u) / \deg u` to every neighbour. The nodes that it reaches in hops 1 to
L - 1 are expanded in turn, by a request to their server; those of the last hop are only fetched:

.. math:: q_{tu} = \sum_{l=1}^{L-1} m^{(l)}_t(u) \quad (u \ne t) \qquad (1)

Reconstructed. What several training nodes send over a pair adds up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS

#: Terms of the recursion, and pairs, of a table.
MOST_TERMS = MOST_CELLS
#: The sum of all scaled weights stays below this. By definition.
MOST_TOTAL = 2**52


@dataclass(frozen=True, eq=False)
class PairWeights:
    """Weights of pairs of nodes, ascending, each pair once and its smaller node first.

    Attributes
    ----------
    first, second : ndarray of int, shape (pairs,)
    weight : tuple of Fraction, shape (pairs,)
    """

    first: Ints
    second: Ints
    weight: tuple[Fraction, ...]

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def total(self) -> Fraction:
        """Sum of all weights."""
        return _sum(self.weight)

    @cached_property
    def scale(self) -> int:
        """Factor that makes all weights whole numbers, or if that is too large, a power of two."""
        most = MOST_TOTAL // max(1, math.ceil(self.total))
        common = 1
        for d in {w.denominator for w in self.weight}:
            common = math.lcm(common, d)
            if common > most:
                return 1 << (most.bit_length() - 1) if most else 1
        return common

    @cached_property
    def exact(self) -> bool:
        """True if `scaled` is not rounded."""
        return all(self.scale % w.denominator == 0 for w in self.weight)

    @cached_property
    def scaled(self) -> Ints:
        """Weights times `scale`, rounded down: what is proved of them holds for the weights."""
        whole = [w.numerator * self.scale // w.denominator for w in self.weight]
        if sum(whole) > 2**62:
            raise ModelRefused("pair weights add up to more than 62 bits")
        return np.array(whole, dtype=np.int64)

    def cut(self, part: Sequence[int] | Ints) -> Fraction:
        """Return the weight of the pairs whose nodes lie in different parts."""
        parts = np.asarray(part)
        apart = parts[self.first] != parts[self.second]
        if self.exact:
            return Fraction(int(self.scaled[apart].sum()), self.scale)
        return _sum(self.weight[e] for e in np.flatnonzero(apart).tolist())


def _sum(values: Iterable[Fraction]) -> Fraction:
    """Return a sum of many fractions of few denominators."""
    numerators: dict[int, int] = {}
    for w in values:
        numerators[w.denominator] = numerators.get(w.denominator, 0) + w.numerator
    return sum((Fraction(p, d) for d, p in numerators.items()), Fraction(0))


def request_weights(
    num_nodes: int,
    neighbours: Sequence[Sequence[int]],
    train_nodes: Sequence[int],
    fanouts: Sequence[int],
) -> PairWeights:
    """Return the weights of (1).

    Parameters
    ----------
    num_nodes : int
    neighbours : sequence of sequence of int
        What each node samples.
    train_nodes, fanouts : sequence of int

    Raises
    ------
    ModelRefused
        If the recursion has too many terms.
    """
    found: dict[int, Fraction] = {}
    terms = 0
    share = [
        [Fraction(min(f, len(near)), len(near)) if near else Fraction(0) for near in neighbours]
        for f in sorted(set(fanouts[:-1]))
    ]
    of_fanout = dict(zip(sorted(set(fanouts[:-1])), share, strict=True))
    for t in train_nodes:
        frontier = {t: Fraction(1)}
        for f in fanouts[:-1]:
            reached: dict[int, Fraction] = {}
            for u, m in frontier.items():
                terms += len(neighbours[u])
                if terms > MOST_TERMS:
                    raise ModelRefused(f"the requests have more than {MOST_TERMS} terms")
                sent = m * of_fanout[f][u]
                for v in neighbours[u]:
                    reached[v] = reached[v] + sent if v in reached else sent
            for u, m in reached.items():
                if u != t:
                    key = t * num_nodes + u if t < u else u * num_nodes + t
                    found[key] = found[key] + m if key in found else m
            frontier = reached
    return _table(num_nodes, found)


def edge_weights(num_nodes: int, edges: Sequence[tuple[int, ...]]) -> PairWeights:
    """Return weight 1 for every pair with an edge, in either direction."""
    keys = {min(e) * num_nodes + max(e) for e in edges}
    return _table(num_nodes, dict.fromkeys(keys, Fraction(1)))


def _table(num_nodes: int, found: dict[int, Fraction]) -> PairWeights:
    keys = np.array(sorted(found), dtype=np.int64)
    first, second = np.divmod(keys, num_nodes)
    return PairWeights(first, second, tuple(found[key] for key in keys.tolist()))
