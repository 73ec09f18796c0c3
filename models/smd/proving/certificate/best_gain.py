r"""Largest utility less price over a job's pairs, computed for the check of a certificate.

The completion time is a sum of seven terms,

.. math::
    \tau(w, p) = c_0 + c_1 w + c_2 p + c_3 w / p + c_4 p / w + c_5 / w + c_6 / p,
    \qquad c \ge 0 ,

so that over a box of pairs it is at least the sum of the terms, each at its own best corner; the
price is at least that of the corner with the fewest workers and servers. Boxes are halved, the most
promising first, until a single pair is left. All numbers are integers; utilities are rounded up,
prices and times down.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import count
from operator import mul

from gadgetopt.numbers.exact import ROUNDING, ceiling, rationals, whole_numbers
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.utility import part_above

from ...instance import Job

#: Most boxes of one job that are examined; the rest are bounded as they are.
#: Tuned: `benchmarks/constants.py`.
MOST_BOXES = 20_000

#: Answers that are kept: a proof is made from those that its check asks for again, with the same
#: prices. By definition.
KEPT = 8_192

#: Times and utilities are counted in these parts of the largest. By definition.
TIME_BITS, UTILITY_BITS = 200, 100

#: One with the rounding of doubles, as numerator and denominator.
_UP = (1 + ROUNDING).as_integer_ratio()

#: Least and most workers, least and most servers.
Box = tuple[int, int, int, int]


@lru_cache(KEPT)
def gain_above(job: Job, prices: tuple[Fraction, ...], *, used: bool) -> Fraction:
    """Return an upper bound, at least 0, on the utility less the price of any pair.

    Parameters
    ----------
    prices : tuple of Fraction
        Of the resources, per unit; not negative.
    used : bool
        True if a job pays for what its workers and servers use, False if for its reservation.
    """
    room = _Room.of(job)
    start = room.shrunk((1, room.most_workers(1), 1, room.most_servers(1)))
    if start is None:
        return Fraction(0)
    payoff = _Payoff(job, prices, used)
    number = count()
    open_boxes = [(payoff.loss(start), next(number), start)]
    while open_boxes:
        loss, _, box = open_boxes[0]
        if payoff.none_left(loss) or _is_pair(box) or next(number) > MOST_BOXES:
            return payoff.gain(loss)
        heapq.heappop(open_boxes)
        for half in _halves(box):
            part = room.shrunk(half)
            if part is not None:
                heapq.heappush(open_boxes, (payoff.loss(part), next(number), part))
    return Fraction(0)


@lru_cache(KEPT)
def pairs_above(
    job: Job, prices: tuple[Fraction, ...], least: Fraction, unit: Fraction
) -> tuple[tuple[int, int, int], ...]:
    """Return all pairs that may gain so much where use is charged, and perhaps a few others.

    Parameters
    ----------
    prices : tuple of Fraction
        As for `gain_above`.
    least : Fraction
        Least utility less price of interest.
    unit : Fraction
        What utilities are counted in.

    Returns
    -------
    tuple of (int, int, int)
        Workers, servers, and the utility in whole units, rounded up.

    Raises
    ------
    ValueError
        If more boxes than `MOST_BOXES` would have to be examined.
    """
    room = _Room.of(job)
    start = room.shrunk((1, room.most_workers(1), 1, room.most_servers(1)))
    payoff = _Payoff(job, prices, used=True)
    least_gain = payoff.whole(least)
    boxes, found = [] if start is None else [start], []
    examined = 0
    while boxes:
        box = boxes.pop()
        examined += 1
        if examined > MOST_BOXES:
            raise ValueError(f"more than {MOST_BOXES:,} boxes of pairs of one job gain enough")
        worth = payoff.worth(box)
        if worth - payoff.price(box) < least_gain:
            continue
        if _is_pair(box):
            found.append((box[0], box[2], payoff.in_units(worth, unit)))
            continue
        parts = (room.shrunk(half) for half in _halves(box))
        boxes += [part for part in parts if part is not None]
    return tuple(found)


def _is_pair(box: Box) -> bool:
    return box[0] == box[1] and box[2] == box[3]


def _halves(box: Box) -> tuple[Box, Box]:
    """Halve a box along the count that has the wider range."""
    w, most_w, p, most_p = box
    if most_w * p >= most_p * w and w < most_w:
        middle = (w + most_w) // 2
        return (w, middle, p, most_p), (middle + 1, most_w, p, most_p)
    middle = (p + most_p) // 2
    return (w, most_w, p, middle), (w, most_w, middle + 1, most_p)


@dataclass(frozen=True)
class _Room:
    """Numbers of workers and servers that fit the reservation of a job.

    Attributes
    ----------
    rows : list of (int, int, int)
        O, G and v of every resource in integers.
    """

    rows: list[tuple[int, int, int]]

    @classmethod
    def of(cls, job: Job) -> _Room:
        rows = []
        for amounts in zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True):
            (worker, server, limit), _ = whole_numbers(rationals(amounts))
            if worker or server:
                rows.append((worker, server, limit))
        return cls(rows)

    def most_workers(self, servers: int) -> int:
        """Return the most workers beside so many servers; less than 1 if there are none."""
        return min((v - b * servers) // a for a, b, v in self.rows if a)

    def most_servers(self, workers: int) -> int:
        """Return the most servers beside so many workers; less than 1 if there are none."""
        return min((v - a * workers) // b for a, b, v in self.rows if b)

    def shrunk(self, box: Box) -> Box | None:
        """Cut off pairs that do not fit; None if no pair of the box fits."""
        w, most_w, p, most_p = box
        for a, b, v in self.rows:
            left = v - a * w - b * p
            if left < 0:
                return None
            # Not by min, which takes twice the time: a check is here for most of its time.
            if a and w + left // a < most_w:
                most_w = w + left // a
            if b and p + left // b < most_p:
                most_p = p + left // b
        return w, most_w, p, most_p


class _Payoff:
    """Utility less price of the pairs of one job, in small parts of gamma_1.

    Where all pairs cost the same, the fastest is the best, and `loss` compares times only.
    """

    def __init__(self, job: Job, prices: Sequence[Fraction], used: bool):
        mu = job.utility
        height, steepness, middle = rationals((mu.gamma1, mu.gamma2, mu.gamma3))
        self._unit = height / (1 << UTILITY_BITS)
        coefficients, scale = whole_numbers(_coefficients(job))
        largest = sum(coefficients) or scale  # 1 second where nothing takes time
        self._coefficients = [(c << TIME_BITS) // largest for c in coefficients]
        # The exponent of the utility of a time is (slope * time - start) / whole.
        unit_s = Fraction(largest, scale << TIME_BITS)
        of_unit = unit_s / decimal_rational(mu.time_unit_s)
        (self._slope, self._start), self._whole = whole_numbers(
            [steepness * of_unit * (1 - ROUNDING), steepness * middle * (1 + ROUNDING)]
        )
        bundles = (job.worker_demand, job.ps_demand, job.reservation_limit)
        worker, server, limit = (_priced(prices, rationals(x), self._unit) for x in bundles)
        self._each = (worker, server) if used else (0, 0)
        self._same = self._each == (0, 0)
        self._rest = 0 if used else limit

    def loss(self, box: Box) -> int:
        """Return a lower bound on the loss of a box's pairs: time, or price less utility."""
        return self._time(box) if self._same else self.price(box) - self.worth(box)

    def price(self, box: Box) -> int:
        """Return a lower bound on the price of every pair of a box."""
        return self._each[0] * box[0] + self._each[1] * box[2]

    def worth(self, box: Box) -> int:
        """Return an upper bound on the utility of every pair of a box."""
        return self._worth(self._time(box))

    def none_left(self, loss: int) -> bool:
        """Return True if the loss shows that no pair gains anything."""
        return not self._same and loss >= 0

    def gain(self, loss: int) -> Fraction:
        """Return the utility less price that belongs to a loss; at least 0."""
        left = self._worth(loss) - self._rest if self._same else -loss
        return max(0, left) * self._unit

    def whole(self, amount: Fraction) -> int:
        """Return an amount of utility in small parts, rounded up."""
        return ceiling(amount / self._unit)

    def in_units(self, worth: int, unit: Fraction) -> int:
        """Return a utility in whole units, rounded up."""
        parts = worth * self._unit.numerator * unit.denominator
        return -(-parts // (self._unit.denominator * unit.numerator))

    def _time(self, box: Box) -> int:
        """Return a lower bound on the time of every pair of a box."""
        w, most_w, p, most_p = box
        c = self._coefficients
        time = c[0] + c[1] * w + c[2] * p + c[3] * w // most_p + c[4] * p // most_w
        return time + c[5] // most_w + c[6] // most_p

    def _worth(self, time: int) -> int:
        """Return an upper bound on the utility of a time."""
        part, of = part_above(self._slope * time - self._start, self._whole)
        return -((-(part * _UP[0]) << UTILITY_BITS) // (of * _UP[1]))


def _priced(prices: Sequence[Fraction], amounts: Sequence[Fraction], unit: Fraction) -> int:
    """Return the price of amounts in whole units, rounded down."""
    if not any(prices):
        return 0
    exact, scale = whole_numbers(prices)
    whole, parts = whole_numbers(amounts)
    total = sum(map(mul, exact, whole))
    return total * unit.denominator // (scale * parts * unit.numerator)


def _coefficients(job: Job) -> list[Fraction]:
    """Return the coefficients of 1, w, p, w/p, p/w, 1/w and 1/p, in seconds."""
    t_f, t_b = job.fp_time_per_sample_s, job.bp_time_s
    forward = sum(rationals(x.fp_s for x in job.layers)) if t_f is None else decimal_rational(t_f)
    backward = sum(rationals(x.bp_s for x in job.layers)) if t_b is None else decimal_rational(t_b)
    eta_1, eta_2, eta_3 = rationals(job.eta)
    steps, overhead_w, overhead_p = rationals(
        (job.iterations, job.overhead_per_worker_s, job.overhead_per_ps_s)
    )
    size, bandwidth = rationals((job.model_size_mb, job.ps_bandwidth_gbps))
    transfer = steps * eta_3 * 2 * size * 8 / (1000 * bandwidth)
    zero = Fraction(0)
    if job.sgd_mode == "sync":
        samples = decimal_rational(job.global_batch_size or 0)
        return [
            steps * eta_2 * backward,
            steps * overhead_w,
            steps * overhead_p,
            transfer,
            zero,
            steps * eta_1 * samples * forward,
            zero,
        ]
    samples, at_once = rationals((job.minibatch_size or 0, job.concurrency_fraction))
    return [
        steps * overhead_w,
        zero,
        zero,
        zero,
        steps * overhead_p,
        steps * (eta_1 * samples * forward + eta_2 * backward),
        transfer * at_once,
    ]
