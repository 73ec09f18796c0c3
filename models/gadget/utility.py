"""Utility functions of the iterations that a job has run by the end of the horizon."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.utility import sigmoid
from gadgetopt.system.data import Data, NonNegativeFloat, PositiveFloat


class Sigmoid(Data):
    r""":math:`\lambda_1 / (1 + e^{-\lambda_2 (x - \lambda_3)})`; neither concave nor convex.

    Attributes
    ----------
    priority, sensitivity, target_iterations : float
        lambda_1, lambda_2, lambda_3.
    """

    kind: Literal["sigmoid"] = "sigmoid"
    priority: PositiveFloat
    sensitivity: NonNegativeFloat
    target_iterations: NonNegativeFloat

    def over(self, iterations: Floats) -> Floats:
        """Return the utility of each number of iterations; 0 where negligible."""
        return sigmoid(self.priority, self.sensitivity, self.target_iterations, iterations)


class Sqrt(Data):
    r"""Excessive-training avoidance, :math:`C \sqrt x`: the error falls as its inverse."""

    kind: Literal["sqrt"] = "sqrt"
    scale: PositiveFloat

    def over(self, iterations: Floats) -> Floats:
        """Return the utility of each number of iterations."""
        return self.scale * np.sqrt(iterations)


class Log(Data):
    r"""Proportional fairness, :math:`C \log(1 + x)`; the 1 is added (reconstructed)."""

    kind: Literal["log"] = "log"
    scale: PositiveFloat = 1.0

    def over(self, iterations: Floats) -> Floats:
        """Return the utility of each number of iterations."""
        return self.scale * np.log1p(iterations)


class Linear(Data):
    """Linear utility: every iteration is worth the same."""

    kind: Literal["linear"] = "linear"
    slope: PositiveFloat

    def over(self, iterations: Floats) -> Floats:
        """Return the utility of each number of iterations."""
        return self.slope * iterations


class Energy(Data):
    r"""Energy efficiency: :math:`g x - c x^2`, a gain less a quadratic cost of power.

    With the cost alone, doing nothing would be optimal, so a gain is added (reconstructed).

    Attributes
    ----------
    gain, cost : float
        g and c.
    """

    kind: Literal["energy"] = "energy"
    gain: PositiveFloat
    cost: NonNegativeFloat

    def over(self, iterations: Floats) -> Floats:
        """Return the utility of each number of iterations."""
        return self.gain * iterations - self.cost * iterations**2


class Table(Data):
    """Utility of 0, 1, 2, ... worker-slots, constant from the last entry on.

    Attributes
    ----------
    values : tuple of float
        Non-decreasing.
    """

    kind: Literal["table"] = "table"
    values: Annotated[tuple[NonNegativeFloat, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if any(b < a for a, b in zip(self.values, self.values[1:], strict=False)):
            raise ValueError("values: decrease, expected a utility that grows with training")
        return self


Utility = Annotated[
    Sigmoid | Sqrt | Log | Linear | Energy | Table,
    Field(discriminator="kind"),
]


def utility_of_worker_slots(utility: Utility, iterations_each: float, count: int) -> Floats:
    """Return the utility of 0 to `count` worker-slots, shape (count + 1,).

    Parameters
    ----------
    utility : utility
    iterations_each : float
        zeta_i, iterations of a worker in a slot.
    count : int
    """
    k = np.arange(count + 1)
    if isinstance(utility, Table):
        return np.array(utility.values)[np.minimum(k, len(utility.values) - 1)]
    return utility.over(np.asarray(iterations_each * k, dtype=np.float64))


def ends_finite(utility: Utility, iterations_each: float, count: int) -> bool:
    """Return True if the utility of `count` worker-slots is finite."""
    if isinstance(utility, Table):
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        iterations = np.array([iterations_each]) * count
        return bool(np.isfinite(iterations).all() and np.isfinite(utility.over(iterations)).all())
