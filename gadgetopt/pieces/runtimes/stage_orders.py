"""The orders in which stages work, as runtimes say and run them; transfers go as they come."""

from __future__ import annotations

from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.dispatch import channels_first_come, dispatch
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.orders import one_forward_one_backward
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.pieces.pipeline.simulator import DeadlockError
from gadgetopt.pieces.runtimes.torch_csv import TorchSchedule, actions_of

#: Of each stage: +m is the forward of microbatch m = 1..M, -m its backward.
StageOrders = Sequence[Sequence[int]]

#: What exporters of these orders say that they drop.
FIRST_COME = "the order of transfers: each channel serves what comes first"
#: What exporters of cuts only say.
ONE_F_ONE_B = "orders: stages run 1F1B, and each channel serves what comes first"


def with_channels(
    form: str, instance: PipelineInstance, plan: Plan, orders: StageOrders
) -> list[list[int]]:
    """Return the orders of stages and channels, where channels serve what comes first.

    Raises
    ------
    InputError
        If the stages wait for each other.
    """
    try:
        return dispatch(shop_of(instance, plan), channels_first_come(orders)).orders
    except DeadlockError:
        raise InputError(
            f"{form}: stages wait for each other in these orders; expected some that can be run"
        ) from None


def one_f_one_b(form: str, instance: PipelineInstance, plan: Plan) -> list[list[int]]:
    """Return 1F1B: stage n of S has S - n microbatches in flight at most.

    Raises
    ------
    InputError
        If a stage may not have so many.
    """
    stages, M = plan.num_stages, instance.num_microbatches
    for n, most in enumerate(shop_of(instance, plan).max_in_flight):
        if most < min(stages - n, M):
            raise InputError(
                f"{form}: its 1F1B keeps {min(stages - n, M)} microbatches on stage {n}, which "
                f"may have {most}; torch-csv writes the plan's own orders"
            )
    return [one_forward_one_backward(M, stages - n) for n in range(stages)]


def cells_of(orders: StageOrders) -> list[list[str]]:
    """Return PyTorch's cells of stages, each alone on its rank, whose backward is whole."""
    return [
        [f"{n}{'F' if code > 0 else 'B'}{abs(code) - 1}" for code in order]
        for n, order in enumerate(orders)
    ]


def orders_of(schedule: TorchSchedule, plan: Plan, num_microbatches: int) -> list[list[int]]:
    """Return the orders of a plan's stages that a schedule says.

    Raises
    ------
    InputError
        If it has other stages or microbatches, two stages on a rank, or a backward in parts.
    """
    wanted = list(range(plan.num_stages))
    if list(schedule.rank_of_stage) != wanted:
        raise InputError(
            f"torch-csv: ranks of the stages: {list(schedule.rank_of_stage)}, expected {wanted}: "
            "stage n on rank n of the pipeline"
        )
    if schedule.num_microbatches != num_microbatches:
        raise InputError(
            f"torch-csv: microbatches: {schedule.num_microbatches}, expected {num_microbatches}"
        )
    orders: list[list[int]] = []
    for rank, row in enumerate(schedule.rows):
        orders.append([])
        for cell in row:
            actions = actions_of(cell)
            if len(actions) > 1 or actions[0].kind in "IW":
                raise InputError(
                    f"torch-csv: row {rank}: {cell}: expected F and whole backwards B only; "
                    "pipeline_schedules splits backwards and overlaps"
                )
            number = actions[0].microbatch + 1
            orders[-1].append(number if actions[0].kind == "F" else -number)
    return orders
