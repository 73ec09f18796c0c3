r"""Algorithm 1: a grid over the values of the ratios solves the continuous problem of one job.

All ratios but the one of the widest range, J*, are bounded by grid values
:math:`\nu_j \in Q_j = \{l_j (1 + \epsilon)^n\}`, and the least value of that one is found by a
linear program. The sum of the bounds and that value is :math:`\Psi(\nu)`, equations (19)-(22) of
the technical report (TR, arXiv 2105.13855).

The printed grid ends at the last power not above the greatest value phi_j. It may miss the optimum
or have no feasible point; the repaired grid, the default, appends phi_j
(reconstructed). With it :math:`\Psi \le (1 + \epsilon)\min_\Omega \zeta`.

There are two routes: the linear programs, as printed, and closed forms (reconstructed), because all
ratios are monomials: a bound on 1/w or on 1/p fixes how small w or p may be, and the other number
follows. Where w is fixed (sync), Psi falls with the bound on theta_2 p down to
:math:`\min\{\sqrt{\theta_2 \theta_4 w}, \theta_2 P(w)\}` and rises beyond, so that the two grid
values around it are all that have to be looked at: O(sum |Q_j|) instead of O(prod |Q_j|).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.search.clock import Clock

from ..instance import Job
from ..subproblems.inner import (
    Point,
    largest_p,
    largest_real_p,
    largest_real_w,
    real_rows,
)
from ..subproblems.ratios import (
    COUPLING,
    Ratio,
    optimum,
    ranges,
    ratios,
)

Grid = Literal["repaired", "as_printed"]
Objective = Literal["upper", "actual"]
Route = Literal["fast", "lp"]

#: Most linear programs of one job; more are refused. Tuned: `benchmarks/constants.py`.
MOST_PROGRAMS = 10**4

#: Most grid values of one ratio; more are refused.
MOST_VALUES = MOST_CELLS // 2

#: Relative rounding error up to which a value equals a grid value. By definition.
ROUNDING = 1e-12


@dataclass(frozen=True)
class GridOptimum:
    """Result of the grid search.

    Attributes
    ----------
    point : Point
        The point and its true completion time.
    value_s : float
        What was minimised, constant included: Psi, or the completion time ("actual").
    grid_points : int
        Linear programs that the printed algorithm solves on this grid.
    """

    point: Point
    value_s: float
    grid_points: int


@dataclass(frozen=True)
class RatioGrid:
    """l_j (1 + eps)^n for n = 0, ..., last, and phi_j where the grid is repaired and ends below."""

    least: float
    eps: float
    last: int
    greatest: float | None

    @property
    def size(self) -> int:
        """Grid values."""
        return self.last + 1 + (self.greatest is not None)

    def values(self) -> Floats:
        """Grid values, increasing."""
        if self.size > MOST_VALUES:
            raise ModelRefused(f"eps {self.eps} means {self.size} grid values of one ratio")
        powers: Floats = self.least * (1 + self.eps) ** np.arange(self.last + 1, dtype=np.float64)
        return powers if self.greatest is None else np.append(powers, self.greatest)


@dataclass(frozen=True)
class SearchGrid:
    """The ratios with their grids, and the ratio left out of the grid, J*."""

    bounded: tuple[Ratio, ...]
    grids: tuple[RatioGrid, ...]
    pursued: Ratio

    @property
    def size(self) -> int:
        """Grid points: linear programs of the printed algorithm."""
        return math.prod(grid.size for grid in self.grids)

    def values(self) -> dict[str, Floats]:
        """Grid values by the shape of the ratio."""
        return {
            ratio.shape: grid.values() for ratio, grid in zip(self.bounded, self.grids, strict=True)
        }


def search_grid(
    job: Job,
    eps: float,
    grid: Grid = "repaired",
    known: Sequence[tuple[float, float]] | None = None,
) -> SearchGrid:
    """Return the grid of a job whose (1, 1) fits, steps 2-4 of Algorithm 1.

    Parameters
    ----------
    job : Job
    eps : float
        epsilon_1.
    grid : "repaired" or "as_printed"
    known : sequence of (l_j, phi_j), optional
        Ranges of the job's ratios; in closed form if left out.

    Raises
    ------
    ModelRefused
        If eps is not positive.
    """
    if not eps > 0:
        raise ModelRefused(f"eps: {eps}, expected a positive number")
    of = ratios(job)
    span = list(known) if known is not None else ranges(job, of)
    if not all(0 < least <= greatest < math.inf for least, greatest in span):
        raise ModelRefused("the terms of a completion time are too large or small for a grid")
    widest = _widest(of, span)
    others = [j for j in range(len(of)) if j != widest]
    return SearchGrid(
        tuple(of[j] for j in others),
        tuple(_ratio_grid(*span[j], eps, grid) for j in others),
        of[widest],
    )


def _widest(of: Sequence[Ratio], span: Sequence[tuple[float, float]]) -> int:
    """J*, step 3: the greatest phi_j / l_j; ties go to the coupling ratio, then to the first."""
    widths = [greatest / least for least, greatest in span]
    enough = max(widths) * (1 - ROUNDING)
    tied = [j for j, width in enumerate(widths) if width >= enough]
    return next((j for j in tied if of[j].shape in COUPLING), tied[0])


def _ratio_grid(least: float, greatest: float, eps: float, grid: Grid) -> RatioGrid:
    last = math.floor(math.log(greatest / least) / math.log1p(eps) + ROUNDING)
    ends_below = least * (1 + eps) ** last < greatest * (1 - ROUNDING)
    return RatioGrid(least, eps, last, greatest if grid == "repaired" and ends_below else None)


def grid_search(
    job: Job,
    eps: float,
    *,
    grid: Grid = "repaired",
    objective: Objective = "upper",
    route: Route = "fast",
    most_programs: int = MOST_PROGRAMS,
    clock: Clock | None = None,
) -> GridOptimum | None:
    r"""Return a point whose completion time is within (1 + eps) of the continuous optimum.

    This is Algorithm 1. The ratio holds for the repaired grid; the printed one may find no point.

    Parameters
    ----------
    job : Job
    eps : float
        epsilon_1, 0.01 in the paper's runs.
    grid : "repaired" or "as_printed"
    objective : "upper" or "actual"
        Compare grid points by Psi, as in the paper, or by the completion time of their points
        (reconstructed), which is never worse.
    route : "fast" or "lp"
        The exact equivalent in closed forms (reconstructed), or the linear programs of the paper.
    most_programs : int
        The route "lp" refuses more linear programs than this.
    clock : Clock, optional
        Clock of the run; for the route "lp".

    Returns
    -------
    GridOptimum or None
        None if not even (1, 1) fits, or no grid point is feasible.

    Raises
    ------
    ModelRefused
        If eps would mean too many linear programs or grid values; the message has the count.
    TimeoutError
        If time is up before the last linear program.
    """
    if largest_p(job) == 0:
        return None
    if not ratios(job):
        # The time is a constant: all pairs are equally good.
        constant = float(job.completion_time.constant)
        return GridOptimum(Point(1.0, 1.0, constant), constant, 0)
    if route == "lp":
        return _by_programs(job, eps, grid, objective, most_programs, clock or Clock())
    search = search_grid(job, eps, grid)
    w, p, psi = _candidates(job)(job, search)
    tau = job.completion_time
    value = psi + tau.constant
    if objective == "actual":
        value = np.where(np.isfinite(psi), tau.at(w, p), np.inf)
    k = int(np.argmin(value))
    if not np.isfinite(value[k]):
        return None
    point = Point(float(w[k]), float(p[k]), float(tau.at(w[k], p[k])))
    return GridOptimum(point, float(value[k]), search.size)


def _by_programs(
    job: Job, eps: float, grid: Grid, objective: Objective, most_programs: int, clock: Clock
) -> GridOptimum | None:
    """Algorithm 1 with the linear programs it names."""
    of = ratios(job)
    # Step 2: 2J linear-fractional programs.
    known = []
    for ratio in of:
        least = optimum(job, ratio, limits=clock.limits())
        greatest = optimum(job, ratio, sense="max", limits=clock.limits())
        assert least is not None
        assert greatest is not None
        known.append((least[2], greatest[2]))
    # Steps 3 and 4.
    search = search_grid(job, eps, grid, known)
    if search.size > most_programs:
        raise ModelRefused(
            f"eps {eps} means {search.size} linear programs for one job, more than {most_programs}"
        )
    # Steps 5 to 10.
    tau = job.completion_time
    best: GridOptimum | None = None
    for nu in itertools.product(*(values.values() for values in search.grids)):
        found = optimum(job, search.pursued, search.bounded, nu, limits=clock.limits())
        if found is None:
            continue
        w, p, z = found
        point = Point(w, p, float(tau.at(w, p)))
        value = point.tau_s if objective == "actual" else float(sum(nu)) + z + tau.constant
        if best is None or value < best.value_s:
            best = GridOptimum(point, value, search.size)
    return best


def _candidates(job: Job) -> Callable[[Job, SearchGrid], tuple[Floats, Floats, Floats]]:
    """Return the function that lists the useful grid points of jobs like this one."""
    if job.sgd_mode == "async":
        return _async
    return _sync if job.completion_time.w_over_p > 0 else _sync_without_transfers


def _least_w(job: Job, Q: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Return the least w for each bound on 1/w, and the bounds; (1, nothing) without that ratio."""
    if "1/w" not in Q:
        return np.ones(1), np.zeros(1)
    w = job.completion_time.one_over_w / Q["1/w"]
    return np.clip(w, 1.0, largest_real_w(job, 1.0)), Q["1/w"]


def _sync(job: Job, search: SearchGrid) -> tuple[Floats, Floats, Floats]:
    """w, p and Psi without the constant of the grid points worth looking at."""
    tau, Q = job.completion_time, search.values()
    # The bound on 1/w says how small w may be, and the smallest leaves most room for servers.
    w, psi = _least_w(job, Q)
    most_p = _real_p(job, w)
    if "w" in Q:
        psi = psi + _least_bound(Q["w"], tau.per_w * w)
    p = most_p
    if "p" in Q:
        # The two grid values around the least of nu_B + theta_4 w / p, for every w.
        nu_B = Q["p"]
        least_at = np.minimum(np.sqrt(tau.per_p * tau.w_over_p * w), tau.per_p * most_p)
        above = np.searchsorted(nu_B, least_at)
        around = np.concatenate([above - 1, above]).clip(0, len(nu_B) - 1)
        w, psi, most_p = np.tile(w, 2), np.tile(psi, 2) + nu_B[around], np.tile(most_p, 2)
        p = np.clip(nu_B[around] / tau.per_p, 1.0, most_p)
    return w, p, psi + tau.w_over_p * w / p


def _sync_without_transfers(job: Job, search: SearchGrid) -> tuple[Floats, Floats, Floats]:
    """The same if all transfers overlap, eta_3 = 0: one server is best, whatever w is."""
    tau, Q, most_w = job.completion_time, search.values(), largest_real_w(job, 1.0)
    if "1/w" in Q:
        w, psi = _least_w(job, Q)
        if "w" in Q:
            psi = psi + _least_bound(Q["w"], tau.per_w * w)
    elif "w" in Q:
        psi = Q["w"]
        w = np.clip(psi / tau.per_w, 1.0, most_w)
    else:
        w, psi = np.array([1.0, most_w]), np.zeros(2)
    if "p" in Q:
        psi = psi + Q["p"][0]
    p = np.ones(len(w))
    return w, p, psi + search.pursued.at(w, p)


def _async(job: Job, search: SearchGrid) -> tuple[Floats, Floats, Floats]:
    """w, p and Psi without the constant of the grid points worth looking at."""
    tau, Q = job.completion_time, search.values()
    if search.pursued.shape == "1/p":
        w, psi = _least_w(job, Q)
        p = _real_p(job, w)
        return w, p, psi + search.pursued.at(w, p)
    # The fewest servers that the bound on 1/p allows leave most room for workers.
    p, psi = np.ones(1), np.zeros(1)
    if "1/p" in Q:
        psi = Q["1/p"]
        p = np.clip(tau.one_over_p / psi, 1.0, largest_real_p(job))
    w = _real_w(job, p)
    if "1/w" in Q:
        psi = psi + _least_bound(Q["1/w"], tau.one_over_w / w)
    return w, p, psi + search.pursued.at(w, p)


def _least_bound(grid: Floats, value: Floats) -> Floats:
    """Return the smallest grid value not below each value; infinite if there is none."""
    return np.append(grid, np.inf)[np.searchsorted(grid * (1 + ROUNDING), value)]


def _real_w(job: Job, p: Floats) -> Floats:
    rows = [(v_r - G_r * p) / O_r for O_r, G_r, v_r in real_rows(job) if O_r]
    return np.maximum(1.0, np.minimum.reduce(rows))


def _real_p(job: Job, w: Floats) -> Floats:
    rows = [(v_r - O_r * w) / G_r for O_r, G_r, v_r in real_rows(job) if G_r]
    return np.maximum(1.0, np.minimum.reduce(rows))
