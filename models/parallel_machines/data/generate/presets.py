"""Presets: uniform and non-uniform processing times, and the worst cases of Graham's theorems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import ParallelMachinesInstance


@generator()
def quickstart(
    rng: np.random.Generator, *, jobs: int = 12, machines: int = 4
) -> ParallelMachinesInstance:
    """A few jobs on which LPT is rarely optimal.

    Return an instance on which LPT is rarely optimal and every exact method is fast.
    """
    return uniform(rng, jobs=jobs, machines=machines, shortest_s=5, longest_s=30)


@generator()
def paper(
    rng: np.random.Generator, *, jobs: int = 100, machines: int = 25, longest_s: int = 100
) -> ParallelMachinesInstance:
    """França et al.'s: processing times from 1 to 100, 1000 or 10,000.

    Return an instance as França, Gendreau, Laporte and Müller (1994) generate them.

    Processing times are drawn from 1 to 100, 1000 or 10,000, for 5, 10 or 25 machines and 10, 50,
    100, 500 or 1000 jobs (reconstructed: recalled).
    """
    return uniform(rng, jobs=jobs, machines=machines, shortest_s=1, longest_s=longest_s)


@generator()
def uniform(
    rng: np.random.Generator,
    *,
    jobs: int = 100,
    machines: int = 40,
    shortest_s: int = 1,
    longest_s: int = 100,
) -> ParallelMachinesInstance:
    """Processing times from a range; few jobs a machine are hard.

    From 1 to 20 nearly every load can be had and the mean load is the makespan; from 50 to 100 and
    100 to 200 all jobs are alike and their number on a machine decides.
    """
    _check_range(shortest_s, longest_s)
    return _instance(machines, rng.integers(shortest_s, longest_s + 1, size=jobs).tolist())


@generator()
def non_uniform(
    rng: np.random.Generator, *, jobs: int = 100, machines: int = 10, longest_s: int = 1000
) -> ParallelMachinesInstance:
    """Frangioni et al.'s: mostly long jobs and a few short ones.

    Of the jobs 98 % are drawn from 0.9 (b - a) to b, with a = 1 and b the longest, and the rest
    from a to 0.2 (b - a) (reconstructed: recalled).
    """
    if longest_s < 11:
        raise InputError(f"longest_s: {longest_s}, expected at least 11")
    short = round(0.02 * jobs)
    span = longest_s - 1
    times = [
        *rng.integers(-(-9 * span // 10), longest_s + 1, size=jobs - short).tolist(),
        *rng.integers(1, span // 5 + 1, size=short).tolist(),
    ]
    rng.shuffle(times)
    return _instance(machines, times)


@generator()
def graham_lpt(rng: np.random.Generator, *, machines: int = 3) -> ParallelMachinesInstance:
    """The worst case of LPT, 4/3 - 1/(3m) times the optimum.

    Two jobs each of 2m - 1, 2m - 2, ..., m + 1, and three of m. Nothing is drawn.
    """
    m = machines
    return _instance(m, [*(x for x in range(2 * m - 1, m, -1) for _ in range(2)), m, m, m])


@generator()
def graham_list(rng: np.random.Generator, *, machines: int = 3) -> ParallelMachinesInstance:
    """A worst case of list scheduling, 2 - 1/m times the optimum.

    m (m - 1) jobs of 1 and, last in order, one of m. Nothing is drawn.
    """
    return _instance(machines, [*[1] * (machines * (machines - 1)), machines])


def _instance(machines: int, times_s: list[int]) -> ParallelMachinesInstance:
    from ...instance import ParallelMachinesInstance

    return ParallelMachinesInstance(machines=machines, processing_s=tuple(times_s))


def _check_range(shortest_s: int, longest_s: int) -> None:
    if not 1 <= shortest_s <= longest_s:
        raise InputError(f"shortest_s: {shortest_s}, expected 1 to longest_s, {longest_s}")
