"""Instances and solutions: workers that train a model, and the policy by which they commit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.system.data import (
    Data,
    Instance,
    NonNegativeFloat,
    NonNegativeInt,
    NonNegativeSize,
    PositiveInt,
    PositiveSize,
    Solution,
)

from ..subproblems.workers import Worker

#: Steps of all workers within the horizon: what a simulation takes at most.
MOST_STEPS = 2 * 10**7

#: Numbers in the rows of all workers.
MOST_CELLS = TABLE_CELLS

Momentum = Annotated[float, Field(ge=0, lt=1)]


class Ridge(Data):
    r"""Ridge regression on drawn rows, :math:`y = x^T w + \text{noise} \cdot \xi`.

    Attributes
    ----------
    rows_per_worker, dimension : int
    noise : float
        Standard deviation of the error of y.
    l2 : float
        :math:`\lambda` of the loss, the mean of :math:`\frac12 (x^T w - y)^2` plus
        :math:`\frac\lambda2 |w|^2`.
    seed : int
        Of the rows.
    """

    kind: Literal["ridge"] = "ridge"
    rows_per_worker: Annotated[int, Field(gt=0, le=100_000)] = 400
    dimension: Annotated[int, Field(gt=0, le=1000)] = 20
    noise: Annotated[float, Field(gt=0, le=1e6)] = 0.1
    l2: Annotated[float, Field(ge=0, le=1e6)] = 0.001
    seed: NonNegativeInt = 0


class Digits(Data):
    """Softmax regression on the digits that scikit-learn brings along; rows go round the workers.

    Attributes
    ----------
    l2 : float
        Weight of half the squared norm in the loss, a mean of logarithms.
    """

    kind: Literal["digits"] = "digits"
    l2: Annotated[float, Field(ge=0, le=1e6)] = 0.001


class Below(Data):
    """Training ends when so many losses in a row are no larger than the target."""

    kind: Literal["below"] = "below"
    evaluations: Annotated[int, Field(gt=0, le=10_000)] = 1


class Settled(Data):
    """Training ends when the last losses vary less than some variance, as the authors' code does.

    Only losses within the target count, so that a run that never learns has not settled.
    """

    kind: Literal["settled"] = "settled"
    evaluations: Annotated[int, Field(gt=1, le=10_000)] = 10
    variance: PositiveSize


class Choices(Data):
    """The policies from which one is to be chosen.

    Attributes
    ----------
    max_commits : int
        Largest equal number of commits in a check period.
    momenta, lr_factors : tuple of float
        Explicit momenta and factors of the global learning rate that go with a rate (ADSP++).
    slacks : tuple of int
        Steps by which a worker may be ahead under SSP.
    local_steps : tuple of int
        Local steps between two averages; ADACOMM tries them for its first.
    """

    max_commits: Annotated[int, Field(gt=0, le=1000)] = 12
    momenta: Annotated[tuple[Momentum, ...], Field(min_length=1)] = (0.0,)
    lr_factors: Annotated[tuple[PositiveSize, ...], Field(min_length=1)] = (1.0,)
    slacks: tuple[NonNegativeInt, ...] = (40,)
    local_steps: tuple[PositiveInt, ...] = (1, 5, 10, 20, 40, 60, 80, 100)


class AdspTrainingInstance(Instance):
    r"""A model to be trained by distributed SGD, as soon as possible.

    Attributes
    ----------
    workers : tuple of Worker
    check_period_s : float
        :math:`\Gamma`.
    task : Ridge or Digits
    batch_size : int
        Rows of a step; each worker divides its rows into batches once and goes through them in an
        order that is drawn anew every time.
    local_lr : float
        :math:`\eta'`.
    global_lr : float or None
        :math:`\eta`; 1/m if there is none.
    target_loss, target_factor : float or None
        Loss to reach, or for ridge regression how many times the least loss; one of them.
    convergence : Below or Settled
    horizon_s : float
        When a run that has not converged has failed.
    epoch_s : float
        Seconds after which ADSP searches again.
    initial_commits : int
        From where its first search climbs.
    min_interval_s : float
        Least seconds of a timer; 10 in the authors' code.
    catch_up : bool
        True if targets are totals, so that a worker behind commits more often; False for equal
        increments.
    choices : Choices
    seed : int
        Of the batches' orders.
    """

    workers: Annotated[tuple[Worker, ...], Field(min_length=1, max_length=2000)]
    check_period_s: PositiveSize = 60.0
    task: Annotated[Ridge | Digits, Field(discriminator="kind")]
    batch_size: Annotated[int, Field(gt=0, le=100_000)] = 8
    local_lr: Annotated[float, Field(gt=0, le=1e6)] = 0.05
    global_lr: Annotated[float, Field(gt=0, le=1e6)] | None = None
    target_loss: NonNegativeFloat | None = None
    target_factor: Annotated[float, Field(ge=1, le=1e6)] | None = None
    convergence: Annotated[Below | Settled, Field(discriminator="kind")] = Below()
    horizon_s: PositiveSize
    epoch_s: PositiveSize = 1000.0
    initial_commits: PositiveInt = 1
    min_interval_s: NonNegativeSize = 0.0
    catch_up: bool = True
    choices: Choices = Choices()
    seed: NonNegativeInt = 0

    @model_validator(mode="after")
    def _runs_end(self) -> AdspTrainingInstance:
        steps = sum(self.horizon_s / w.step_time_s for w in self.workers)
        steps += 2 * self.horizon_s / self.check_period_s
        if steps > MOST_STEPS:
            raise ValueError(
                f"horizon_s: {self.horizon_s:g} s have {steps:.3g} steps and half periods of all "
                f"workers, expected at most {MOST_STEPS}"
            )
        if isinstance(self.task, Ridge):
            cells = len(self.workers) * self.task.rows_per_worker * self.task.dimension
            if cells > MOST_CELLS:
                raise ValueError(
                    f"task.rows_per_worker: {cells} numbers of all workers, "
                    f"expected at most {MOST_CELLS}"
                )
        return self

    @model_validator(mode="after")
    def _there_is_one_target(self) -> AdspTrainingInstance:
        if (self.target_loss is None) == (self.target_factor is None):
            given = "none" if self.target_loss is None else "both"
            raise ValueError(f"target_loss: {given} of this and target_factor, expected one")
        if self.target_factor is not None and self.task.kind != "ridge":
            raise ValueError(
                f"target_factor: {self.target_factor:g}, expected target_loss: "
                "the least loss is known for ridge regression only"
            )
        return self

    @property
    def evaluations(self) -> int:
        """Losses that have to be seen before training can end."""
        return self.convergence.evaluations


# -- policies ----------------------------------------------------------------------------------


class Rate(Data):
    """Every worker commits equally often, by timers: ADSP with a given rate (ADSP+, ADSP++)."""

    kind: Literal["rate"] = "rate"
    commits: PositiveInt
    momentum: Momentum = 0.0
    lr_factor: PositiveSize = 1.0


class Adsp(Data):
    """The rate is searched for while training goes on (Algorithm 1)."""

    kind: Literal["adsp"] = "adsp"


class Bsp(Data):
    """Every step ends with a barrier."""

    kind: Literal["bsp"] = "bsp"


class Ssp(Data):
    """Every step is committed; a worker waits if it is more than `slack` commits ahead."""

    kind: Literal["ssp"] = "ssp"
    slack: NonNegativeInt


class FixedAdacomm(Data):
    """A barrier after every `local_steps` steps."""

    kind: Literal["fixed_adacomm"] = "fixed_adacomm"
    local_steps: PositiveInt


class Adacomm(Data):
    """A barrier after fewer steps as the loss falls; the first number by trial."""

    kind: Literal["adacomm"] = "adacomm"


Policy = Rate | Adsp | Bsp | Ssp | FixedAdacomm | Adacomm


class AdspTrainingSolution(Solution):
    """The policy by which the workers commit."""

    policy: Annotated[Policy, Field(discriminator="kind")]


def all_policies(instance: AdspTrainingInstance) -> list[Policy]:
    """Return every policy from which one is to be chosen."""
    choices = instance.choices
    rates = [
        Rate(commits=c, momentum=momentum, lr_factor=factor)
        for c in range(1, choices.max_commits + 1)
        for momentum in choices.momenta
        for factor in choices.lr_factors
    ]
    return [
        Adsp(),
        *rates,
        *(Ssp(slack=slack) for slack in choices.slacks),
        *([Adacomm()] if choices.local_steps else []),
        *(FixedAdacomm(local_steps=tau) for tau in choices.local_steps),
        Bsp(),
    ]


def size(instance: AdspTrainingInstance) -> dict[str, int]:
    """Return the numbers that describe the size of an instance."""
    return {"workers": len(instance.workers), "policies": len(all_policies(instance))}
