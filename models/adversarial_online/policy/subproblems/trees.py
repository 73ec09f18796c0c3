r"""Sets of histories as trees: all of them, the non-decreasing ones, and those of a chain.

Reductions of (2). Fewer histories are fewer constraints, hence a relaxation.

* Non-decreasing histories: exact for the ratio without predictions, whatever the horizon (see
  `chains`; reconstructed). Not for the regret: on the grid 1, 7, 14 with k = 3 and N = 5 it is
  94/13 and the relaxation's 7.
* At most k copies of a level in a row: with more, neither OPT grows nor need anything be sold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.errors import ModelRefused

from ...subproblems.offline import largest
from ...subproblems.responses import Trie
from ..instance import AdversarialOnlinePolicyInstance
from .chains import hardest_sequence


@dataclass(frozen=True)
class Tree:
    """A set of histories with all their prefixes; parents stand before children.

    Attributes
    ----------
    trie : Trie
    histories : list of tuple of int
    optimum : list of Fraction
        OPT of each history.
    leaves : list of int
        Histories that no other one of the set begins with.
    """

    trie: Trie
    histories: list[tuple[int, ...]]
    optimum: list[Fraction]
    leaves: list[int]

    def path(self, h: int) -> Iterator[int]:
        """Yield a history and its prefixes, from the longest."""
        while h >= 0:
            yield h
            h = self.trie.parent[h]


def tree_of(instance: AdversarialOnlinePolicyInstance, trie: Trie) -> Tree:
    """Return a trie of levels with the offline optimum of each history."""
    histories: list[tuple[int, ...]] = []
    inner = set(trie.parent)
    for parent, level in zip(trie.parent, trie.level, strict=True):
        histories.append((*(histories[parent] if parent >= 0 else ()), level))
    k = instance.capacity_units
    return Tree(
        trie,
        histories,
        [largest(instance.values(h), k) for h in histories],
        [h for h in range(len(histories)) if h not in inner],
    )


def full_tree(instance: AdversarialOnlinePolicyInstance, most: int) -> Tree:
    """Return all histories, in the order of a solution's `sale_probability`.

    Raises
    ------
    ModelRefused
        If there are more than `most`.
    """
    J, N = len(instance.levels), instance.horizon
    total = 0
    for t in range(1, N + 1):
        total += J**t
        if total > most:
            raise ModelRefused(f"horizon: more than {most} histories of {N} buyers, expected fewer")
    trie = Trie()
    front = [-1]
    for _ in range(N):
        front = [trie.child(h, j) for h in front for j in range(J)]
    return tree_of(instance, trie)


def monotone_tree(instance: AdversarialOnlinePolicyInstance, most: int) -> Tree:
    """Return the non-decreasing histories with at most k copies of a level, and all predictions.

    Raises
    ------
    ModelRefused
        If there are more than `most`.
    """
    J, k = len(instance.levels), instance.capacity_units
    trie = Trie()
    front = [(-1, 0, 0)]  # history, its last level, copies of it
    for _ in range(instance.horizon):
        longer = []
        for h, last, copies in front:
            if copies < k:
                longer.append((trie.child(h, last), last, copies + 1))
            longer += [(trie.child(h, j), j, 1) for j in range(last + 1, J)]
        front = longer
        if len(trie) > most:
            raise ModelRefused(f"horizon: more than {most} non-decreasing histories")
    for sequence in instance.predictions:
        trie.add(sequence)
    return tree_of(instance, trie)


def chain_tree(instance: AdversarialOnlinePolicyInstance) -> Tree:
    """Return the prefixes of the hardest non-decreasing sequence, and of the predictions."""
    trie = Trie()
    trie.add(hardest_sequence(instance))
    for sequence in instance.predictions:
        trie.add(sequence)
    return tree_of(instance, trie)
