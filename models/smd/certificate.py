r"""Certificates of bounds on the total utility: prices of the resources.

For any :math:`\lambda \ge 0` the Lagrangian bound

.. math::
    L(\lambda) = \lambda^\top C + \sum_i \max\Big(0, \max_{(w,p) \in \mathcal F_i}
        \mu_i(\tau_i(w, p)) - \lambda^\top a_{iwp}\Big), \qquad
    a_{iwp} = v_i \text{ or } O_i w + G_i p,

is no less than the optimum. The check goes through all pairs of every job by itself and takes
every utility from the raw data, rounded up: pairs are decided in integers, the error of the
sigmoid's exponent is bounded and taken off it, and the rest is rounded up too. With all prices zero
the bound is the sum of all utilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt
from pydantic import Field

from gadgetopt.data import Certificate, Rational
from gadgetopt.numbers import decimal_rational
from gadgetopt.utility import NEGLIGIBLE

from .instance import Job, SmdInstance

Floats = npt.NDArray[np.float64]

#: More than the relative error of a sum of a thousand positive doubles, and of exp.
ROUNDING = 2.0**-42

#: Pairs of one job that the check goes through.
MOST_PAIRS = 10**7


class SmdCertificate(Certificate):
    """Prices of the resources, per unit; not negative."""

    prices: Annotated[tuple[Rational, ...], Field(min_length=1)]


def check_bound(instance: SmdInstance, certificate: SmdCertificate) -> float:
    """Return the Lagrangian bound of the prices, rounded up, without a solver.

    Raises
    ------
    ValueError
        If the number of prices is not that of the resources, or one is negative.
    """
    prices = certificate.prices
    if len(prices) != len(instance.capacity):
        raise ValueError(f"prices: {len(prices)} for {len(instance.capacity)} resources")
    for r, price in enumerate(prices):
        if price < 0:
            raise ValueError(f"prices[{r}]: {price} is negative")
    pairs = zip(prices, instance.capacity, strict=True)
    cluster = sum((price * decimal_rational(C) for price, C in pairs), Fraction(0))
    gains = (_gain(job, prices, instance.charging == "used") for job in instance.jobs)
    total = math.fsum([float(cluster), *gains])
    return total * (1 + ROUNDING)


def pairs_can_be_listed(instance: SmdInstance) -> bool:
    """Say whether `check_bound` can go through the pairs of every job."""
    return all(most_w * most_p <= MOST_PAIRS for most_w, most_p in map(_most, instance.jobs))


def _gain(job: Job, prices: Sequence[Fraction], used: bool) -> float:
    """Return the most utility that a job leaves after paying, rounded up; at least 0."""
    w, p = _feasible_pairs(job)
    if not len(w):
        return 0.0
    worth = _utility_above(job, w, p)
    if used:
        worker, server = (_price(prices, d) for d in (job.worker_demand, job.ps_demand))
        paid = worker * w + server * p
    else:
        paid = np.full(len(w), _price(prices, job.reservation_limit))
    # Both are rounded in the direction that leaves more.
    return max(0.0, float((worth - paid * (1 - ROUNDING)).max(initial=0.0)))


def _price(prices: Sequence[Fraction], amounts: Sequence[float]) -> float:
    """Return what a bundle costs."""
    pairs = zip(prices, amounts, strict=True)
    return float(sum((price * decimal_rational(x) for price, x in pairs if price), Fraction(0)))


def _rows(job: Job) -> list[tuple[int, int, int]]:
    """Return O, G and v of every resource in integers."""
    rows = []
    for amounts in zip(job.worker_demand, job.ps_demand, job.reservation_limit, strict=True):
        exact = [decimal_rational(x) for x in amounts]
        scale = math.lcm(*(x.denominator for x in exact))
        worker, server, limit = (int(x * scale) for x in exact)
        rows.append((worker, server, limit))
    return rows


def _most(job: Job) -> tuple[int, int]:
    """Return the most workers beside one server and the most servers beside one worker."""
    rows = _rows(job)
    if any(a + b > v for a, b, v in rows):
        return 0, 0
    return min((v - b) // a for a, b, v in rows if a), min((v - a) // b for a, b, v in rows if b)


def _feasible_pairs(job: Job) -> tuple[Floats, Floats]:
    """Return workers and servers of all pairs that fit the reservation, decided in integers."""
    _, most_p = _most(job)
    if not most_p:
        return np.empty(0), np.empty(0)
    if most_p > MOST_PAIRS:
        raise ValueError(f"more than {MOST_PAIRS} pairs of workers and servers fit for one job")
    p = np.arange(1, most_p + 1).astype(object)  # whole numbers of any size
    most_w = np.min([(v - b * p) // a for a, b, v in _rows(job) if a], axis=0)
    if most_w.sum() > MOST_PAIRS:
        raise ValueError(f"more than {MOST_PAIRS} pairs of workers and servers fit for one job")
    each_w = [np.arange(1.0, w + 1) for w in most_w.tolist()]
    return np.concatenate(each_w), np.repeat(p.astype(np.float64), most_w.astype(np.int64))


@np.errstate(over="ignore", invalid="ignore")
def _utility_above(job: Job, w: Floats, p: Floats) -> Floats:
    """Return utilities from the raw data of the job, rounded up."""
    t_f, t_b = job.fp_time_per_sample_s, job.bp_time_s
    t_f = math.fsum(layer.fp_s for layer in job.layers) if t_f is None else t_f
    t_b = math.fsum(layer.bp_s for layer in job.layers) if t_b is None else t_b
    eta_1, eta_2, eta_3 = job.eta
    sync = job.sgd_mode == "sync"
    samples = (job.global_batch_size or 0) / w if sync else np.float64(job.minibatch_size or 0)
    sharing = w if sync else job.concurrency_fraction * w
    transfer = 2 * (job.model_size_mb * 8 / 1000) / job.ps_bandwidth_gbps * sharing / p
    overhead = job.overhead_per_worker_s * w + job.overhead_per_ps_s * p
    iteration = eta_1 * samples * t_f + eta_2 * t_b + eta_3 * transfer + overhead
    tau = job.iterations * iteration if sync else job.iterations * iteration / w
    mu = job.utility
    # Of a time beyond all doubles it is known that it is late, and of none that is undefined.
    tau = np.nan_to_num(tau, nan=0.0, posinf=1e308)
    units = tau / mu.time_unit_s * (1 - ROUNDING)
    # Beyond the range of exp there is no utility either way.
    exponent = np.clip(mu.gamma2 * (units - mu.gamma3 * (1 + ROUNDING)), -700.0, 700.0)
    part = (1 + ROUNDING) / (1 + np.exp(exponent))
    return np.where(part < NEGLIGIBLE, 0.0, mu.gamma1 * (1 + ROUNDING) * part)
