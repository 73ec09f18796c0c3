r"""Certificates of lower bounds on the weighted sum of completions, and their check.

* `Formula`: B0, B1 or B2, which the check computes (`relaxations`).
* `Prices`: a price of GPU-time; proves B5, and B4 where the prices are optimal duals
  (`price_checks`).
* `PreemptivePrices`: the same prices for jobs that may be interrupted; proves B3.
* `PartPrices`: prices of parts of servers, which see fragmentation and communication
  (`server_prices`).
* `SizePrices`: prices by size of job, which see that jobs are whole (`size_prices`).
* `SizeBranches`: the same, and cuts of the jobs' windows of starts, down to branches that hold no
  cheaper schedule of the pool than is claimed (`size_branches`).
* `PoolStates`, `ClusterStates`: prices of GPU-time, and a cost below which there is no schedule of
  the pool, or of (F). The check looks at all schedules that the prices leave
  (`pool_exhaustion`, `cluster_exhaustion`), up to a number of them; it proves that cost, or what
  the prices prove alone.

All are checked in whole numbers; durations are the shortest that the exact search of `mapping`
proves. An optimum is a multiple of the weights' greatest common divisor: with `attainable`, the
bound is raised to the next one (`relaxations.lattice_ceiling`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import (
    Certificate,
    Data,
    NonNegativeInt,
    NonNegativeRational,
    PositiveInt,
)

from ...instance import ASrptInstance
from ...relaxations import (
    Pool,
    busy_time_bound,
    lattice_ceiling,
    pool_of,
    release_bound,
    srpt_bound,
    whole_sum,
)
from . import (
    cluster_exhaustion,
    pool_exhaustion,
)
from .price_checks import (
    INT64_SAFE,
    as_steps,
    preemptive_price_bound,
    price_bound,
)
from .server_prices import bound_of_parts
from .size_branches import Branch
from .size_branches import none_cheaper as none_cheaper_in_branches
from .size_prices import bound_of_sizes

FORMULAS = {"release": release_bound, "srpt": srpt_bound, "busy_time": busy_time_bound}

#: Steps that a check of states of the pool may take, about a quarter of a microsecond each: some
#: eight for a state. Tuned: `benchmarks/constants.py`.
MOST_STEPS = 100_000_000
#: Prices and denominators stay below this, so that checks take a predictable time. By definition.
MOST_PRICE = 10**40
Price = Annotated[int, Field(ge=0, le=MOST_PRICE)]
Denominator = Annotated[PositiveInt, Field(le=MOST_PRICE)]
Tick = Annotated[NonNegativeInt, Field(le=2**53)]
Times = Annotated[tuple[Tick, ...], Field(min_length=2)]


class Formula(Data):
    """The bound B0, B1 or B2."""

    kind: Literal["closed_form"] = "closed_form"
    formula: Literal["release", "srpt", "busy_time"]


class _Timed(Data):
    """What has one entry for every interval between `times`, which rise.

    Attributes
    ----------
    times : tuple of int, shape (K + 1,)
        Ticks.
    denominator : int
        Prices are whole multiples of 1 / `denominator`.
    """

    times: Times
    denominator: Denominator

    @model_validator(mode="after")
    def _times_rise(self) -> Self:
        for k in range(1, len(self.times)):
            if self.times[k] <= self.times[k - 1]:
                raise ValueError(
                    f"times[{k}]: {self.times[k]}, expected more than the {self.times[k - 1]} "
                    "before it"
                )
        return self

    def _one_each(self, where: str, prices: tuple[int, ...]) -> None:
        if len(prices) != len(self.times) - 1:
            raise ValueError(
                f"{where}: {len(prices)} prices, expected one for each of the "
                f"{len(self.times) - 1} intervals"
            )


class Prices(_Timed):
    """Price of a GPU-tick in each interval, shape (K,), times `denominator`."""

    kind: Literal["gpu_prices"] = "gpu_prices"
    prices: tuple[Price, ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        self._one_each("prices", self.prices)
        return self


class PreemptivePrices(Prices):
    """The same, for jobs that may be interrupted."""

    kind: Literal["preemptive_prices"] = "preemptive_prices"  # type: ignore[assignment]


class PoolStates(Prices):
    """The same, and a cost below which there is no schedule of the pool.

    Attributes
    ----------
    bound : Fraction
        What is claimed, in weighted ticks.
    """

    kind: Literal["pool_states"] = "pool_states"  # type: ignore[assignment]
    bound: NonNegativeRational


class ClusterStates(PoolStates):
    """The same of (F)."""

    kind: Literal["cluster_states"] = "cluster_states"  # type: ignore[assignment]


class PartPrices(_Timed):
    """Prices of parts of servers, times `denominator`.

    Attributes
    ----------
    prices : tuple, shape (classes, c_k, K)
        Of every class of servers with equally many GPUs, the smallest first, and every size of a
        part, 1 first: the price of a tick in each interval.
    """

    kind: Literal["part_prices"] = "part_prices"
    prices: tuple[tuple[tuple[Price, ...], ...], ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for k, table in enumerate(self.prices):
            for q, row in enumerate(table):
                self._one_each(f"prices[{k}][{q}]", row)
        return self


class SizePrices(_Timed):
    """Prices of jobs by their GPUs, times `denominator`.

    Attributes
    ----------
    in_time, late : tuple, shape (sizes, K)
        Of every number of GPUs that a job has, the smallest first: the price of a tick in each
        interval of a job that is in time or late there (`size_prices`).
    """

    kind: Literal["size_prices"] = "size_prices"
    in_time: tuple[tuple[Price, ...], ...]
    late: tuple[tuple[Price, ...], ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for name, table in (("in_time", self.in_time), ("late", self.late)):
            for q, row in enumerate(table):
                self._one_each(f"{name}[{q}]", row)
        return self


class SizeBranch(SizePrices):
    """The same, of schedules whose jobs start in windows.

    Attributes
    ----------
    earliest, latest : tuple of int, shape (jobs,)
        Ticks.
    cut : tuple of int, optional
        A job, and the tick before which it starts in the branches that follow first.
    """

    earliest: tuple[Tick, ...]
    latest: tuple[Tick, ...]
    cut: tuple[NonNegativeInt, Tick] | None = None


class SizeBranches(Data):
    """Branches that hold no schedule of the pool below a cost.

    Attributes
    ----------
    bound : Fraction
        What is claimed, in weighted ticks.
    branches : tuple of SizeBranch
        In the order in which they are looked at (`size_branches`).
    """

    kind: Literal["size_branches"] = "size_branches"
    bound: NonNegativeRational
    branches: Annotated[tuple[SizeBranch, ...], Field(min_length=1)]


Proof = (
    Formula
    | Prices
    | PreemptivePrices
    | PoolStates
    | ClusterStates
    | PartPrices
    | SizePrices
    | SizeBranches
)


class ASrptCertificate(Certificate):
    """A proof of a lower bound; with `attainable`, raised to the next value of an optimum."""

    proof: Annotated[Proof, Field(discriminator="kind")]
    attainable: bool = False


@checked_once
def check_bound(instance: ASrptInstance, certificate: ASrptCertificate) -> Fraction:
    """Return the lower bound, in weighted ticks, that a certificate proves.

    Raises
    ------
    ValueError
        If its prices are not those of the instance's servers, or would take too long to check.
    """
    bound = proved(instance, certificate.proof)
    if certificate.attainable:
        bound = lattice_ceiling(pool_of(instance), bound)
    return bound


def proved(instance: ASrptInstance, proof: Proof) -> Fraction:
    """Return the lower bound, in weighted ticks, that a proof gives; see `check_bound`."""
    if isinstance(proof, PartPrices):
        return _proved_by_parts(instance, proof)
    pool = pool_of(instance)
    if isinstance(proof, Formula):
        return FORMULAS[proof.formula](pool)
    if isinstance(proof, SizeBranches):
        return _proved_by_branches(pool, proof)
    if isinstance(proof, SizePrices):
        return bound_of_sizes(pool, proof.times, proof.in_time, proof.late, proof.denominator)
    steps = as_steps(proof.times, proof.prices, proof.denominator)
    if isinstance(proof, PreemptivePrices):
        return preemptive_price_bound(pool, steps)
    bound = price_bound(pool, steps)
    if isinstance(proof, PoolStates) and proof.bound > bound and _exhausted(instance, pool, proof):
        return proof.bound
    return bound


def _proved_by_branches(pool: Pool, proof: SizeBranches) -> Fraction:
    """Return what is claimed if the branches prove it, else what the first one's prices do."""
    claimed = lattice_ceiling(pool, proof.bound)
    branches = [
        Branch(
            np.array(b.times, dtype=np.int64),
            [*b.in_time, *b.late],
            b.denominator,
            np.array(b.earliest, dtype=np.int64),
            np.array(b.latest, dtype=np.int64),
            b.cut,
        )
        for b in proof.branches
    ]
    if none_cheaper_in_branches(pool, branches, int(claimed * pool.weight_scale)):
        return claimed
    b = proof.branches[0]
    return bound_of_sizes(pool, b.times, b.in_time, b.late, b.denominator)


def _exhausted(instance: ASrptInstance, pool: Pool, proof: PoolStates) -> bool:
    """Return True if all schedules below the cost that is claimed are looked at, and none is one.

    Costs of jobs that run one after the other are not claimed rightly; numbers that are larger than
    64 bits, and times beyond all tables, are not looked at.
    """
    below = math.ceil(proof.bound * pool.weight_scale)
    longest = int(pool.release.max()) + int(instance.max_ticks.sum())
    prices = [price * pool.weight_scale for price in proof.prices]
    total = sum(p * (b - a) for p, a, b in zip(prices, proof.times, proof.times[1:], strict=False))
    if below > whole_sum(pool.weight) * longest or total >= INT64_SAFE:
        return False
    ticks = np.minimum(
        np.array(proof.times, dtype=np.int64), min(longest, pool_exhaustion.MOST_STARTS)
    )
    common = math.gcd(proof.denominator, *prices)  # perhaps beyond 64 bits where all prices are 0
    whole = [price // common for price in (0, *prices)]
    per_tick = np.repeat(np.array(whole, dtype=np.int64), np.diff(ticks, prepend=0))
    denominator = proof.denominator // common
    if isinstance(proof, ClusterStates):
        return cluster_exhaustion.none_cheaper(instance, per_tick.tolist(), denominator, below)
    return pool_exhaustion.none_cheaper(pool, per_tick, denominator, below, MOST_STEPS)


def _proved_by_parts(instance: ASrptInstance, proof: PartPrices) -> Fraction:
    capacities = sorted(set(instance.gpus_per_server))
    if len(proof.prices) != len(capacities):
        raise ValueError(
            f"prices: {len(proof.prices)} tables, expected one for each of the "
            f"{len(capacities)} classes of servers"
        )
    for k, (table, c) in enumerate(zip(proof.prices, capacities, strict=True)):
        if len(table) != c:
            raise ValueError(f"prices[{k}]: {len(table)} rows, expected {c}, one a GPU of a server")
    return bound_of_parts(instance, proof.times, proof.prices, proof.denominator)
