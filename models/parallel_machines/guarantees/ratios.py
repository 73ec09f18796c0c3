r"""Proven ratios of list scheduling, LPT, MULTIFIT and differencing.

With m machines the makespan is at most this many times the optimum:

* list scheduling, :math:`2 - \frac1m` (Graham 1966). When the job that ends last starts, all
  machines are busy; so it starts no later than the mean load of the others.
* LPT, :math:`\frac43 - \frac1{3m}` (Graham 1969). If the job that ends last is longer than a third
  of the optimum, every machine has at most two jobs in an optimal schedule, and LPT finds one.
* MULTIFIT with k steps, :math:`\frac{13}{11} + 2^{-k}` (Yue 1990), first proven with 1.22 for
  13/11 (Coffman, Garey and Johnson 1978). The second term is what bisection leaves open.
* Differencing, :math:`\frac43 - \frac1{3m}` for at least two machines (Fischetti and Martello 1987
  for two; Michiels, Korst, Aarts and van Leeuwen 2007).

The first two are tight: `graham_list` and `graham_lpt` of `data.generate.presets` are their worst
cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import ParallelMachinesInstance


@guarantee(
    name="Graham 1966",
    statement="makespan <= (2 - 1/m) OPT in any order of the jobs",
    reference="Graham 1966",
    methods=("list_scheduling",),
)
def list_scheduling_ratio(
    instance: ParallelMachinesInstance, _parameters: Mapping[str, Any]
) -> Fraction:
    """Return 2 - 1/m."""
    return 2 - Fraction(1, instance.machines)


@guarantee(
    name="Graham 1969",
    statement="makespan <= (4/3 - 1/(3m)) OPT, longest job first",
    reference="Graham 1969",
    methods=("lpt",),
)
@guarantee(
    name="Michiels et al.",
    statement="makespan <= (4/3 - 1/(3m)) OPT; 7/6 for two machines",
    reference="Michiels, Korst, Aarts and van Leeuwen 2007; Fischetti and Martello 1987",
    methods=("differencing",),
)
def lpt_ratio(instance: ParallelMachinesInstance, _parameters: Mapping[str, Any]) -> Fraction:
    """Return 4/3 - 1/(3m), for LPT and for differencing."""
    return Fraction(4, 3) - Fraction(1, 3 * instance.machines)


@guarantee(
    name="Yue",
    statement="makespan <= (13/11 + 2^-k) OPT after k steps",
    reference="Yue 1990",
    methods=("multifit",),
)
def multifit_ratio(_instance: ParallelMachinesInstance, parameters: Mapping[str, Any]) -> Fraction:
    """Return 13/11 + 2^-k after k steps of bisection."""
    return Fraction(13, 11) + _left_open(parameters)


@guarantee(
    name="Coffman-Garey-Johnson",
    statement="makespan <= (1.22 + 2^-k) OPT after k steps",
    reference="Coffman, Garey and Johnson 1978",
    methods=("multifit",),
)
def multifit_first_ratio(
    _instance: ParallelMachinesInstance, parameters: Mapping[str, Any]
) -> Fraction:
    """Return 1.22 + 2^-k after k steps of bisection."""
    return Fraction(122, 100) + _left_open(parameters)


def _left_open(parameters: Mapping[str, Any]) -> Fraction:
    """Return 2^-k for k steps; of more than 60 steps no more is promised than of 60."""
    return Fraction(1, 2 ** min(60, int(parameters["steps"])))
