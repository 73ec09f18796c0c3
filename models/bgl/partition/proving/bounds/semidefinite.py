"""The bound of the semidefinite program over which training nodes are in the same part."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...heuristics.annealing import annealed
from ...heuristics.multi_start import best_start
from ...instance import BglPartitionInstance
from ...subproblems.local_search import Weighted
from ..certificate.check import BglPartitionCertificate, Stars, check_bound
from ..certificate.same_part import (
    GAIN_DIGITS,
    Group,
    Semidefinite,
    Weights,
    doubled_slack,
    kept_by_pairs,
    weights_in_units,
)
from ..semidefinite_program import Prices, SamePartProgram

#: Binary digits of the mean weight of a training node in units, and the most of an X's row.
#: Tuned: `benchmarks/constants.py`.
DIGITS = 21
#: Least margins of other nodes, of their mean, from the first program to the last.
#: Tuned: `benchmarks/constants.py`.
MARGINS = (0.3, 0.2, 0.5)
#: Training nodes up to which the program is solved; a step takes their cube.
#: Tuned: `benchmarks/constants.py`.
MOST_TRAINED = 400
#: Proposals for each node of the annealing that finds the reference.
#: Tuned: `benchmarks/constants.py`.
SWEEPS = 1_000


@method(kind="relaxation", reference="this project", formulation="semidefinite")
def semidefinite_bound(
    instance: BglPartitionInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """A semidefinite relaxation over the training nodes, from a partition that is found first.

    Return the bound of the program over which training nodes are in the same part.

    Parameters
    ----------
    instance : BglPartitionInstance
    limits : Limits
        `time_s` ends it with the best bound so far.
    rng : numpy.random.Generator
        Draws the partition around which the bound is built.

    Raises
    ------
    ModelRefused
        If a pair of nodes with weight has no training node, or there are too many of them.
    """
    clock = Clock(limits)
    if not len(instance.pair_weights):
        return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
    weighted = Weighted.of(instance)
    start = best_start(instance, weighted, 1, clock, rng, memory=False)
    part = annealed(instance, weighted, start, SWEEPS, clock, rng)
    proof = semidefinite_proof(instance, part, clock)
    return MethodOutcome(
        certificate=BglPartitionCertificate(proof=Stars() if proof is None else proof),
        limit_hit="time_s" if clock.expired else None,
    )


def semidefinite_proof(
    instance: BglPartitionInstance, part: Ints, clock: Clock
) -> Semidefinite | None:
    """Return the best proof around a partition, None if none is found in time.

    Raises
    ------
    ModelRefused
        If a pair of nodes with weight has no training node, or there are too many of them.
    """
    if not 0 < len(instance.train_nodes) <= MOST_TRAINED:
        raise ModelRefused(
            f"{len(instance.train_nodes)} training nodes, expected 1 to {MOST_TRAINED}"
        )
    pairs = instance.pair_weights
    mean = Fraction(int(pairs.scaled.sum()), len(instance.train_nodes))
    unit = Fraction(math.ceil(mean), 2**DIGITS)
    if not unit:
        return None
    try:
        weights = weights_in_units(instance, unit)
    except ValueError as error:
        raise ModelRefused(str(error)) from None
    reference = part[sorted(instance.train_nodes)]
    best, least = None, -1.0
    for share in MARGINS:
        proof = _around(instance, weights, unit, reference, share, clock)
        if proof is None:
            break
        bound = check_bound(instance, BglPartitionCertificate(proof=proof))
        if bound is not None and float(bound) > least:
            best, least = proof, float(bound)
        if clock.expired:
            break
    return best


def _around(
    instance: BglPartitionInstance,
    weights: Weights,
    unit: Fraction,
    reference: Ints,
    share: float,
    clock: Clock,
) -> Semidefinite | None:
    """Return the proof with margins of the other nodes of at least a share of their mean."""
    parts = instance.used_parts
    levels, gains = levels_and_gains(weights.others, reference, parts, share)
    try:
        kept = kept_by_pairs(weights, parts, reference.tolist(), levels, gains)
    except ValueError:  # numbers too large
        return None
    same = np.equal.outer(reference, reference).astype(np.float64)
    cap = min(instance.train_cap, len(reference))
    program = SamePartProgram(kept.matrix.astype(np.float64), cap, same)
    prices = program.solve(lambda: clock.expired)
    return _whole(unit, reference, levels, gains, prices, kept.matrix)


def levels_and_gains(
    others: Ints, reference: Ints, parts: int, share: float
) -> tuple[list[int], list[int]]:
    """Return levels and gains that lose little where the reference is right.

    A node's margin d is what it has more to its part than to the next one, but at least a share of
    the mean; its level lies d below, and its gain is 1/d.
    """
    sums = np.stack([others[:, reference == i].sum(axis=1) for i in range(parts)], axis=1)
    ordered = np.sort(sums, axis=1)
    top, second = ordered[:, -1], ordered[:, -2]
    mean = float(top.sum()) / max(1, len(top))
    margin = np.maximum(top - second, int(share * mean) + 1)
    gains = [max(1, round(2**GAIN_DIGITS / d)) for d in margin.tolist()]
    return (top - margin).tolist(), gains


def _whole(
    unit: Fraction,
    reference: Ints,
    levels: Sequence[int],
    gains: Sequence[int],
    prices: Prices,
    matrix: Ints,
) -> Semidefinite | None:
    """Return the proof in whole numbers, with a slack that doubles can factor."""
    trained = len(reference)

    def proof(more: int) -> Semidefinite:
        return Semidefinite(
            unit=unit,
            reference=tuple(reference.tolist()),
            levels=tuple(levels),
            gains=tuple(gains),
            diagonal=tuple((_up(prices.diagonal) + more).tolist()),
            caps=tuple(_up(prices.caps).tolist()),
            groups=tuple(
                Group(nodes=tuple(nodes.tolist()), price=math.ceil(p)) for nodes, p in prices.groups
            ),
            apart=tuple(
                np.floor(prices.apart[np.triu_indices(trained, 1)]).astype(np.int64).tolist()
            ),
        )

    slack = doubled_slack(matrix, proof(0)).astype(np.float64)
    lowest = float(np.linalg.eigvalsh(slack)[0]) / 2
    # Beyond the rounding of a factorisation in doubles.
    beyond = 1 + trained * 2.0**-50 * float(np.abs(slack).max()) * trained
    return proof(math.ceil(max(0.0, beyond - lowest)))


def _up(numbers: Floats) -> Ints:
    """Return numbers rounded up."""
    return np.ceil(numbers).astype(np.int64)
