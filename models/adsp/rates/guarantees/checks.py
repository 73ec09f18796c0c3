r"""What can be checked of the theorems.

**Equal window.** With all :math:`n_i = C`, S is linear and falling in C, so a/S is convex, and
:math:`\theta = \max_i (\Gamma / C - O_i) / t_i` is a maximum of convex functions. Under the error
bound the objective is convex in C, and the first rate that is no worse than the next is the best.
The time to accuracy is one over a product of two concave positive functions, whose logarithm is
concave. Under the momentum cap lost steps grow with C.

**Theorem 1** says that expected updates are those of momentum SGD with

.. math:: \mu = 1 - p, \qquad
    \frac1p = 1 + \Big(1 - \frac1m\Big) \sum_i \frac{\Gamma}{\Delta C^i v_i}.

Its units can be checked. With :math:`v_i` a speed, in steps a second (R1), a term is in square
seconds, and changing the unit of time changes the momentum. With :math:`v_i` the time of a step
(R2), a term is the number of local steps between two commits and has no unit. Whether the
expectation is right cannot be checked on an instance.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import AdspRatesInstance, Reading


def starts_low(_instance: AdspRatesInstance, parameters: Mapping[str, Any]) -> bool:
    """Return True if the climb starts at rate 1."""
    return int(parameters.get("initial", 1)) == 1


def terms_have_no_unit(instance: AdspRatesInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True unless the instance reads v as a speed."""
    return unit_of_terms(getattr(instance.model, "reading", "step_time")) == "1"


def more_than_one_worker(instance: AdspRatesInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if there is more than one worker: of one the momentum is 0."""
    return len(instance.workers) > 1


@guarantee(
    name="equal window",
    statement="the climb ends at the optimum where the window allows equal rates only",
    reference="this project; the objective is convex in an equal rate",
    methods=("adsp", "equal_commits"),
    assumptions={"starts at rate 1": starts_low},
)
def equal_window_ratio(
    instance: AdspRatesInstance, _parameters: Mapping[str, Any]
) -> Fraction | None:
    """Return 1 where all rates have to be equal."""
    return Fraction(1) if instance.window == 0 else None


@guarantee(
    name="Theorem 1",
    statement="mu = 1 - p is a momentum: terms have no unit in reading R2 only",
    reference="Hu, Wang and Wu 2020, Theorem 1 (recalled); no ratio",
    standing="claimed",
    methods=("adsp",),
    assumptions={
        "terms without a unit": terms_have_no_unit,
        "more than one worker": more_than_one_worker,
    },
)
def no_ratio(_instance: AdspRatesInstance, _parameters: Mapping[str, Any]) -> None:
    """Return None: the theorem promises no ratio."""
    return


def unit_of_terms(reading: Reading) -> str:
    """Return the unit of the terms of Theorem 1's sum in a reading."""
    return "1" if reading == "step_time" else "s^2"


# -- assumptions -------------------------------------------------------------------------------
