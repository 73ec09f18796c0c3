r"""Certificates that no seller is better: a lottery over sequences, and the best response to it.

With weights :math:`\lambda_h \ge 0` of sequences h, no seller earns more from them in all than

.. math:: B = \max_\pi \sum_h \lambda_h ALG_\pi(h),

so that some sequence has :math:`OPT/ALG \ge \sum_h \lambda_h OPT(h) / B`. A sale at a history is
worth its value times the weight of all sequences that begin with it; the seller knows the weights
and sees what has come, so that a dynamic program over histories and stocks, from the longest back,
has B. No draw is of use against a lottery.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.exact import common_denominator
from gadgetopt.search.checked import checked_once

from ..instance import AdversarialBundlesCertificate, AdversarialBundlesInstance
from ..subproblems.tree import ROOT, Tree

#: Pairs of histories and stocks that a check looks at. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 2_000_000


@checked_once
def check_bound(
    instance: AdversarialBundlesInstance, certificate: AdversarialBundlesCertificate
) -> Fraction | None:
    """Return the lower bound on every seller's worst ratio; None if none is proved.

    Raises
    ------
    ValueError
        If a sequence is none of the instance's, a weight is negative, or the check would take too
        long.
    """
    tree, offline = Tree(instance), Fraction(0)
    scale = common_denominator(s.weight for s in certificate.sequences)
    money = common_denominator(kind.value for kind in instance.types)
    ending: dict[int, int] = {}
    pairs = 0
    for i, sequence in enumerate(certificate.sequences):
        _check_fit(instance, certificate, i)
        before = len(tree)
        h = tree.add(sequence.types)[-1]
        pairs += sum(map(len, tree.best[before:]))
        if pairs > MOST_PAIRS:
            raise ValueError(f"sequences: more than {MOST_PAIRS} histories with their stocks")
        ending[h] = ending.get(h, 0) + int(sequence.weight * scale)
        offline += sequence.weight * tree.optimum(h)
    passing = [ending.get(h, 0) for h in range(len(tree))]
    for h in reversed(range(len(tree))):
        if tree.parent[h] != ROOT:
            passing[tree.parent[h]] += passing[h]
    # later[h][s]: the most that is earned after h with stock s, in units of 1/(scale money).
    later: list[dict[int, int]] = [dict.fromkeys(best, 0) for best in tree.best]
    earned = 0
    for h in reversed(range(len(tree))):
        sale = passing[h] * int(tree.value(h) * money)
        for s in tree.before(h):
            kept, sold = tree.moves(h, s)
            most = later[h][kept]
            if sold >= 0:
                most = max(most, sale + later[h][sold])
            if tree.parent[h] == ROOT:
                earned += most
            else:
                later[tree.parent[h]][s] += most
    return offline * scale * money / earned if earned > 0 else None


def _check_fit(
    instance: AdversarialBundlesInstance, certificate: AdversarialBundlesCertificate, i: int
) -> None:
    sequence, J = certificate.sequences[i], len(instance.types)
    if len(sequence.types) > instance.horizon:
        raise ValueError(
            f"sequences[{i}].types: {len(sequence.types)} requests, the horizon is "
            f"{instance.horizon}"
        )
    if max(sequence.types) >= J:
        raise ValueError(f"sequences[{i}].types: type {max(sequence.types)} of {J}")
    if sequence.weight < 0:
        raise ValueError(f"sequences[{i}].weight: {sequence.weight} is negative")
