r"""Rates of trees as whole numbers of chunks.

With :math:`n_p` of N chunks on tree p, all N have crossed the fullest row after

.. math:: T(n) = \sum_{\text{runs}} \max_a \frac{1}{c_a} \sum_p k_{ap} n_p,

where :math:`k_{ap}` counts how often tree p crosses row a; there are two runs if the stages take
turns, else one. The file's rate is :math:`N / T(n)`. For each N a small integer program minimises
T(n) exactly; the best N is kept. Where that program is too large for CP-SAT or its time is over,
the largest remainders are given a chunk more.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import Limits, Status

from ..evaluate import read_links
from ..instance import ForestPackingInstance, TreePair

#: Largest coefficient of the program: sums over all trees stay within 64 bits. By definition.
MOST_COEFFICIENT = 2**40


@dataclass(frozen=True)
class ChunkCounts:
    """How many chunks each tree carries.

    Attributes
    ----------
    counts : tuple of int
    time : Fraction
        T(n), seconds times GB/s per chunk.
    exact : bool
        True if no counts of any number of chunks that was allowed have a larger rate.
    """

    counts: tuple[int, ...]
    time: Fraction
    exact: bool

    @property
    def num_chunks(self) -> int:
        """The number of chunks N."""
        return sum(self.counts)

    @property
    def rate(self) -> Fraction:
        """The rate of the plan with these counts, GB/s."""
        return self.num_chunks / self.time


def time_of(
    instance: ForestPackingInstance, trees: Sequence[TreePair], counts: Sequence[int]
) -> Fraction:
    """Return T(n)."""
    return _time(_runs(instance, trees), counts)


def best_counts(
    instance: ForestPackingInstance,
    trees: Sequence[TreePair],
    most_chunks: int,
    time_limit_s: float,
) -> ChunkCounts:
    """Return the counts of the largest rate with at most so many chunks.

    Raises
    ------
    InputError
        If no number of chunks keeps the shares of the roots.
    """
    runs, clock = _runs(instance, trees), Clock(Limits(time_s=time_limit_s))
    best: ChunkCounts | None = None
    exact = True
    for N in range(1, most_chunks + 1):
        if not _shares_fit(instance, trees, N):
            continue
        found = [_largest_remainders(instance, trees, N)]
        try:
            solved, closed = _solve(instance, trees, runs, N, best, clock)
            found.append(solved)
            exact = exact and closed
        except ModelRefused:
            exact = False
        for counts in found:
            if counts is None:
                continue
            time = _time(runs, counts)
            if best is None or N / time > best.rate:
                best = ChunkCounts(tuple(counts), time, exact)
    if best is None:
        raise InputError(
            f"msccl: no number of chunks up to {most_chunks} keeps the shares of the roots; "
            "export with more most_chunks, or solve with root_mode 'free'"
        )
    return ChunkCounts(best.counts, best.time, exact)


# -- rows --------------------------------------------------------------------------------------

#: The rows of a run: capacity, and how often each tree crosses it.
Rows = list[tuple[Fraction, dict[int, int]]]


def _runs(instance: ForestPackingInstance, trees: Sequence[TreePair]) -> list[Rows]:
    links = read_links(instance)
    stages = [[stage] for stage in instance.stages] if instance.sequential else [instance.stages]
    runs = []
    for together in stages:
        crossed: list[Counter[int]] = [Counter() for _ in links.names]
        for p, tree in enumerate(trees):
            for stage in together:
                for path in tree.in_tree if stage == "reduce" else tree.broadcast_tree:
                    for arc in pairwise(path):
                        for row in links.rows_of[arc]:
                            crossed[row][p] += 1
        rows = zip(links.capacity, crossed, strict=True)
        runs.append([(capacity, dict(counts)) for capacity, counts in rows if counts])
    return runs


def _time(runs: Sequence[Rows], counts: Sequence[int]) -> Fraction:
    return sum(
        (max(sum(k * counts[p] for p, k in on.items()) / c for c, on in rows) for rows in runs),
        Fraction(0),
    )


# -- shares of the roots -----------------------------------------------------------------------


def _shares(instance: ForestPackingInstance) -> dict[int, Fraction] | None:
    """Return the share of each root; None if they are free."""
    workers = instance.workers
    if instance.root_mode == "free":
        return None
    if instance.root_mode == "uniform":
        return {v: Fraction(1, len(workers)) for v in workers}
    if instance.root_share is not None:
        shares = map(decimal_rational, instance.root_share)
        return dict(zip(workers, shares, strict=True))
    return {v: Fraction(v == instance.root) for v in workers}


def _shares_fit(instance: ForestPackingInstance, trees: Sequence[TreePair], N: int) -> bool:
    if instance.equal_share and N % len(trees):
        return False
    shares = _shares(instance)
    return shares is None or all((N * w).denominator == 1 for w in shares.values())


def _groups(
    instance: ForestPackingInstance, trees: Sequence[TreePair], N: int
) -> Iterator[tuple[list[int], int]]:
    """Yield trees that have to carry so many chunks together."""
    shares = _shares(instance)
    if shares is None:
        yield list(range(len(trees))), N
        return
    for root, share in shares.items():
        at_root = [p for p, tree in enumerate(trees) if tree.root == root]
        if at_root or share:
            yield at_root, int(N * share)


def _largest_remainders(
    instance: ForestPackingInstance, trees: Sequence[TreePair], N: int
) -> list[int] | None:
    """Round the rates down, and give what is left to the largest remainders."""
    if instance.equal_share:
        return [N // len(trees)] * len(trees)
    counts = [0] * len(trees)
    for group, total in _groups(instance, trees, N):
        rate = sum((trees[p].rate_gbyte_per_s for p in group), Fraction(0))
        if not rate:
            if total:
                return None
            continue
        exact = {p: total * trees[p].rate_gbyte_per_s / rate for p in group}
        for p in group:
            counts[p] = math.floor(exact[p])
        left = total - sum(counts[p] for p in group)
        for p in sorted(group, key=lambda p: (counts[p] - exact[p], p))[:left]:
            counts[p] += 1
    return counts


# -- the program -------------------------------------------------------------------------------


def _solve(
    instance: ForestPackingInstance,
    trees: Sequence[TreePair],
    runs: Sequence[Rows],
    N: int,
    best: ChunkCounts | None,
    clock: Clock,
) -> tuple[list[int] | None, bool]:
    """Minimise T(n) for N chunks; counts that beat `best`, if any, and whether that is proved."""
    unit = math.lcm(*(c.numerator for rows in runs for c, _ in rows))
    if any(unit * k / c > MOST_COEFFICIENT for rows in runs for c, on in rows for k in on.values()):
        raise ModelRefused("coefficients of the chunk counts are too large")
    model = cp_model.CpModel()
    counts = [model.new_int_var(0, N, f"n{p}") for p in range(len(trees))]
    for group, total in _groups(instance, trees, N):
        model.add(sum(counts[p] for p in group) == total)
    if instance.equal_share:
        for n in counts[1:]:
            model.add(n == counts[0])
    times = []
    for rows in runs:
        most = max(sum(on.values()) * N * unit / c for c, on in rows)
        times.append(model.new_int_var(0, math.ceil(most), "t"))
        for c, on in rows:
            scaled = int(unit / c)
            model.add(sum(scaled * k * counts[p] for p, k in on.items()) <= times[-1])
    if best is not None:  # only what is better: N / T > best.rate
        model.add(sum(times) <= math.ceil(N * unit / best.rate) - 1)
    model.minimize(sum(times))
    outcome = solve_cp(model, clock.limits())
    closed = outcome.status in (Status.OPTIMAL, Status.INFEASIBLE)
    if outcome.values is None:
        return None, closed
    return [value_of(outcome.values, n) for n in counts], closed
