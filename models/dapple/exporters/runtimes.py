"""PyTorch, torchtitan, Megatron and DeepSpeed: the files of a plan, and the plan of the files.

They run a grid, so every stage has to have equally many GPUs (`options.uniform_replicas`). PyTorch
and torchtitan run the plan's own orders, the others 1F1B.
"""

from __future__ import annotations

from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.runtimes import plans
from gadgetopt.pieces.runtimes.grids import RANKS
from gadgetopt.pieces.runtimes.plans import (
    ARGUMENTS,
    HELP,
    MODULE,
    SCHEDULE,
    SECTION,
    TORCHTITAN_HELP,
    Ordered,
)
from gadgetopt.pieces.runtimes.stage_orders import FIRST_COME, ONE_F_ONE_B, with_channels
from gadgetopt.system.declaring import exporter

from ..evaluate import block_lists
from ..instance import DappleInstance, DappleSolution
from .one_pipeline import plan_of


@exporter(
    suffixes=(SCHEDULE, RANKS),
    drops=FIRST_COME,
    kept="own_orders",
    help=HELP,
)
def torch_csv(
    instance: DappleInstance, solution: DappleSolution, *, microbatch: int = 0
) -> Exported:
    """A schedule that PyTorch's pipelines execute, and the rank file."""
    orders = [order or [] for order in block_lists(instance, solution)[::2]]
    return plans.write_torch_csv(instance, plan_of("torch-csv", solution), orders, microbatch)


def read_torch_csv(instance: DappleInstance, exported: Exported) -> DappleSolution:
    """Return the solution that the files say."""
    return solution_of(plans.read_torch_csv(instance, exported))


@exporter(
    suffixes=(SECTION, SCHEDULE, RANKS),
    drops=FIRST_COME,
    kept="own_orders",
    help=TORCHTITAN_HELP,
)
def torchtitan(
    instance: DappleInstance,
    solution: DappleSolution,
    *,
    microbatch: int = 0,
    csv: str = "schedule.csv",
) -> Exported:
    """Lines of torchtitan's configuration, the schedule that they name, and the rank file."""
    orders = [order or [] for order in block_lists(instance, solution)[::2]]
    return plans.write_torchtitan(
        instance, plan_of("torchtitan", solution), orders, microbatch, csv
    )


def read_torchtitan(instance: DappleInstance, exported: Exported) -> DappleSolution:
    """Return the solution that the files say."""
    return solution_of(plans.read_torchtitan(instance, exported))


@exporter(
    suffixes=(ARGUMENTS, RANKS),
    drops=ONE_F_ONE_B,
    kept="in_1f1b",
    help=HELP,
)
def megatron(
    instance: DappleInstance, solution: DappleSolution, *, microbatch: int = 0
) -> Exported:
    """Megatron's pipeline-model-parallel-layout, and the rank file."""
    return plans.write_megatron(instance, plan_of("megatron", solution), microbatch)


def read_megatron(instance: DappleInstance, exported: Exported) -> DappleSolution:
    """Return the solution that the files say."""
    return solution_of(plans.read_megatron(instance, exported))


@exporter(
    suffixes=(MODULE, RANKS),
    drops=ONE_F_ONE_B,
    kept="in_1f1b",
    help=HELP,
)
def deepspeed(
    instance: DappleInstance, solution: DappleSolution, *, microbatch: int = 0
) -> Exported:
    """A DeepSpeed module whose stages begin at the plan's layers, and the rank file."""
    return plans.write_deepspeed(instance, plan_of("deepspeed", solution), microbatch)


def read_deepspeed(instance: DappleInstance, exported: Exported) -> DappleSolution:
    """Return the solution that the files say."""
    return solution_of(plans.read_deepspeed(instance, exported))


@exporter(suffixes=(RANKS,), drops=ONE_F_ONE_B, kept="in_1f1b", help=HELP)
def ranks(instance: DappleInstance, solution: DappleSolution, *, microbatch: int = 0) -> Exported:
    """The rank file: stage, replica, layers, host and GPU of each rank."""
    return plans.write_rank_file(instance, plan_of("ranks", solution), microbatch)


def read_ranks(instance: DappleInstance, exported: Exported) -> DappleSolution:
    """Return the solution that the file says."""
    return solution_of(plans.read_rank_file(instance, exported))


def own_orders(instance: DappleInstance, solution: DappleSolution, **_: object) -> DappleSolution:
    """Return the solution with the orders of its stages, where channels serve what comes first."""
    orders = [order or [] for order in block_lists(instance, solution)[::2]]
    channels = with_channels("export", instance, solution.plan, orders)
    return solution_of((solution.plan, channels))


def in_1f1b(instance: DappleInstance, solution: DappleSolution, **_: object) -> DappleSolution:
    """Return the plan of the solution with the orders of 1F1B."""
    return solution_of((solution.plan, plans.in_1f1b("export", instance, solution.plan)))


def solution_of(found: Ordered) -> DappleSolution:
    """Return a plan with its orders as a solution."""
    return DappleSolution.of(found[0], orders=found[1])
