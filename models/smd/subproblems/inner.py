r"""The problem of one job: the workers and servers that finish it first inside its reservation.

.. math::
    \min\ \tau(w, p) \quad \text{subject to} \quad O^r w + G^r p \le v^r \ \forall r, \quad
    w, p \in \mathbb Z_{\ge 1}

The paper calls it NP-hard and searches a grid. It has two variables and an exact solution in as
many steps as there are numbers of servers (reconstructed): for fixed p, tau is convex in w when
synchronous, with its minimum at :math:`\sqrt{\theta_5 / (\theta_1 + \theta_4 / p)}`, and falls
with w when asynchronous. Its relaxation to real :math:`w, p \ge 1` is a geometric program
(reconstructed): in :math:`a = \ln w, b = \ln p` all terms of tau are convex, and so are the
packing rows.

Demands and limits are read as the decimals they are written as, and pairs are compared with them in
integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.numbers.tolerance import decimal_rational

from ..instance import Job

#: Completion times that differ by less than this part are ties, which go to fewer servers, then
#: to fewer workers. By definition.
TIE = 1e-12

#: Most pairs of one job that are tabulated, and most numbers of servers that are tried.
MOST_PAIRS = MOST_CELLS // 2

#: Up to so many numbers of servers, trying all is quicker than leaving out the hopeless ones.
#: Tuned: `benchmarks/constants.py`.
FEW_LINES = 10**5

#: Interval of ln p at which the search for the continuous optimum ends.
#: Tuned: `benchmarks/constants.py`.
REAL_ACCURACY = 1e-13

#: Floating point does not tell apart numbers beyond this. By definition.
MOST_INSTANCES = 2**53


class Pair(NamedTuple):
    """Workers, servers and the completion time in seconds."""

    w: int
    p: int
    tau_s: float


class Point(NamedTuple):
    """Workers and servers as real numbers, and the completion time in seconds."""

    w: float
    p: float
    tau_s: float


@dataclass(frozen=True, eq=False)
class PairTable:
    """All pairs that fit, by p and then by w.

    Attributes
    ----------
    w, p : (pairs,) int array
    tau_s : (pairs,) float array
    """

    w: Ints
    p: Ints
    tau_s: Floats

    def __len__(self) -> int:
        return len(self.w)


class Row(NamedTuple):
    """A packing row O w + G p <= v in integers: O, G and v."""

    worker: int
    server: int
    limit: int


@lru_cache(maxsize=1024)
def _rows(
    worker_demand: tuple[float, ...], ps_demand: tuple[float, ...], limit: tuple[float, ...]
) -> tuple[Row, ...]:
    rows = []
    for amounts in zip(worker_demand, ps_demand, limit, strict=True):
        if not amounts[0] and not amounts[1]:
            continue
        if all(x.is_integer() for x in amounts):
            rows.append(Row(*map(int, amounts)))
            continue
        exact = [decimal_rational(x) for x in amounts]
        scale = math.lcm(*(x.denominator for x in exact))
        rows.append(Row(*(int(x * scale) for x in exact)))
    return tuple(rows)


def packing_rows(job: Job) -> tuple[Row, ...]:
    """Return constraint (3) of a job in integers, each row scaled by itself.

    Resources that neither workers nor servers need are left out.
    """
    return _rows(job.worker_demand, job.ps_demand, job.reservation_limit)


def fits(job: Job, w: int, p: int) -> bool:
    """Return True if w workers and p servers stay inside the reservation, (3)."""
    return all(row.worker * w + row.server * p <= row.limit for row in packing_rows(job))


def largest_w(job: Job, p: int) -> int:
    """Return W(p), the most workers that fit beside p servers; 0 where none does."""
    rows = packing_rows(job)
    if any(row.server * p > row.limit for row in rows):
        return 0
    return min((row.limit - row.server * p) // row.worker for row in rows if row.worker)


def largest_p(job: Job) -> int:
    """Return P, the most servers that fit beside one worker; 0 where none does."""
    rows = packing_rows(job)
    if any(row.worker > row.limit for row in rows):
        return 0
    return min((row.limit - row.worker) // row.server for row in rows if row.server)


def most_workers(job: Job, p: Ints) -> Ints:
    """Return W(p) of each number of servers, which has to be in 1..P."""
    return _most(p, [(row.worker, row.server, row.limit) for row in packing_rows(job)])


def _most(others: Ints, rows: Sequence[tuple[int, int, int]]) -> Ints:
    """The most of one kind beside a number of the other; rows are (one, other, limit)."""
    most: Any = None
    for one, other, limit in rows:
        if one:
            beside = others if limit < 2**62 else others.astype(object)
            here = (limit - other * beside) // one
            most = here if most is None else np.minimum(most, here)
    return np.asarray(most, dtype=np.int64)


def _refuse_too_many(job: Job) -> None:
    most = max(largest_w(job, 1), largest_p(job))
    if most > MOST_INSTANCES:
        raise ModelRefused(f"one job may have {most} workers or servers, too many to enumerate")


def best_pair(job: Job) -> Pair | None:
    """Return the pair of the least completion time, or None if not even (1, 1) fits.

    Tries all numbers of servers, O(P) (reconstructed). Among pairs whose times agree up to `TIE`,
    it takes the one with the fewest servers, then with the fewest workers.

    Raises
    ------
    ModelRefused
        If more than `MOST_PAIRS` numbers of servers are in question, or a count is beyond
        `MOST_INSTANCES`.
    """
    P = largest_p(job)
    if P == 0:
        return None
    _refuse_too_many(job)
    first, last = (1, P) if P <= FEW_LINES else _promising(job, P)
    if last - first >= MOST_PAIRS:
        raise ModelRefused(
            f"{last - first + 1} numbers of servers are possible for one job, too many to enumerate"
        )
    p = np.arange(first, last + 1)
    W = most_workers(job, p)
    tau = job.completion_time
    if job.sgd_mode == "async":
        w, tau_s = W, tau.at(W, p)
    else:
        with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 where w does not matter
            root = np.nan_to_num(np.sqrt(tau.one_over_w / (tau.per_w + tau.w_over_p / p)))
        lower = np.clip(np.minimum(root, W).astype(np.int64), 1, W)
        upper = np.minimum(lower + 1, W)
        tau_lower, tau_upper = tau.at(lower, p), tau.at(upper, p)
        more = tau_upper < tau_lower * (1 - TIE)
        w, tau_s = np.where(more, upper, lower), np.where(more, tau_upper, tau_lower)
    k = int(np.argmax(tau_s <= tau_s.min() * (1 + TIE)))
    return Pair(int(w[k]), int(p[k]), float(tau_s[k]))


def pairs(job: Job) -> PairTable:
    """Return all pairs that fit and their completion times; tests compare `best_pair` with it.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_PAIRS`.
    """
    P = largest_p(job)
    if P and max(P, largest_w(job, 1)) > MOST_PAIRS:
        raise ModelRefused(f"more than {MOST_PAIRS} pairs of workers and servers fit for one job")
    if P == 0:
        none = np.zeros(0, dtype=np.int64)
        return PairTable(none, none, np.zeros(0))
    each_p = np.arange(1, P + 1)
    W = most_workers(job, each_p)
    count = sum(W.tolist())
    if count > MOST_PAIRS:
        raise ModelRefused(f"{count} pairs of workers and servers fit for one job")
    p = np.repeat(each_p, W)
    w = np.arange(1, count + 1) - np.repeat(np.cumsum(W) - W, W)
    return PairTable(w, p, job.completion_time.at(w, p))


def largest_real_w(job: Job, p: float) -> float:
    """Return the most workers that fit beside p servers as a real number, at least 1."""
    return max(1.0, min((v_r - G_r * p) / O_r for O_r, G_r, v_r in real_rows(job) if O_r))


def largest_real_p(job: Job, w: float = 1.0) -> float:
    """Return the most servers that fit beside w workers as a real number, at least 1."""
    return max(1.0, min((v_r - O_r * w) / G_r for O_r, G_r, v_r in real_rows(job) if G_r))


def real_rows(job: Job) -> list[tuple[float, float, float]]:
    """Return O^r, G^r and v^r of every resource."""
    return list(zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True))


def continuous(job: Job) -> Point | None:
    """Return the optimum over the reals; None if not even (1, 1) fits.

    The best w of every p is known in closed form, and the rest is convex in ln p, which golden
    section minimises. The time is a lower bound on that of every pair, up to rounding.

    Raises
    ------
    ModelRefused
        If a count is beyond `MOST_INSTANCES`.
    """
    if largest_p(job) == 0:
        return None
    _refuse_too_many(job)
    best_at = best_real_w(job)
    most = largest_real_p(job)
    low, high = 0.0, math.log(most)
    ratio = (math.sqrt(5) - 1) / 2
    left, right = best_at(math.exp(low + (1 - ratio) * high)), best_at(math.exp(ratio * high))
    ends = best_at(1.0), best_at(most)
    while high - low > REAL_ACCURACY:
        if left.tau_s <= right.tau_s:
            high, right = math.log(right.p), left
            left = best_at(math.exp(high - ratio * (high - low)))
        else:
            low, left = math.log(left.p), right
            right = best_at(math.exp(low + ratio * (high - low)))
    return min(*ends, left, right, key=lambda point: point.tau_s)


def best_real_w(job: Job) -> Callable[[float], Point]:
    """Return the function that finds the best real w beside p servers, and its time."""
    tau = job.completion_time
    rows = [(v_r / O_r, G_r / O_r) for O_r, G_r, v_r in real_rows(job) if O_r]
    falls_with_w = job.sgd_mode == "async"

    def at(p: float) -> Point:
        w = max(1.0, min(limit - servers * p for limit, servers in rows))
        slope = tau.per_w + tau.w_over_p / p
        if not falls_with_w and slope > 0:
            w = min(w, max(1.0, math.sqrt(tau.one_over_w / slope)))
        return Point(w, p, float(tau.at(w, p)))

    return at


def _promising(job: Job, P: int) -> tuple[int, int]:
    """First and last number of servers whose relaxation is not worse than a pair at hand."""
    relaxed = continuous(job)
    assert relaxed is not None
    best_at = best_real_w(job)
    middle = min(P, max(1, int(relaxed.p)))
    w = min(largest_w(job, middle), max(1, int(relaxed.w)))
    enough = float(job.completion_time.at(w, middle)) * (1 + 1e-9)

    def first_outside(inside: int, outside: int) -> int:
        while abs(outside - inside) > 1:
            between = (inside + outside) // 2
            if best_at(between).tau_s <= enough:
                inside = between
            else:
                outside = between
        return outside

    return first_outside(middle, 0) + 1, first_outside(middle, P + 1) - 1
