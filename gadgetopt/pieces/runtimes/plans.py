"""The files of a plan for what executes pipelines, and the plan with its orders read from them."""

from __future__ import annotations

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.runtimes import deepspeed, megatron, torchtitan
from gadgetopt.pieces.runtimes.grids import (
    RANKS,
    note_on_replicas,
    read_ranks,
    replicas_of,
    write_ranks,
)
from gadgetopt.pieces.runtimes.stage_orders import (
    StageOrders,
    cells_of,
    one_f_one_b,
    orders_of,
    with_channels,
)
from gadgetopt.pieces.runtimes.torch_csv import read_schedule, write_schedule

#: How the names of the files end; beside each is a rank file.
SCHEDULE = ".csv"
SECTION = ".toml"
ARGUMENTS = ".args"
MODULE = ".py"
#: The option of all of them, and of torchtitan.
HELP_OF_MICROBATCH = "samples of the instance's microbatches; 0: unknown, replicas are not checked"
HELP = {"microbatch": HELP_OF_MICROBATCH}

TORCHTITAN_HELP = {
    "microbatch": HELP_OF_MICROBATCH,
    "csv": "where torchtitan finds the schedule",
}

#: A plan, and the orders of stage 0, channel 0, stage 1, ...
Ordered = tuple[Plan, list[list[int]]]


def write_torch_csv(
    instance: PipelineInstance, plan: Plan, orders: StageOrders, microbatch: int
) -> Exported:
    """Return PyTorch's schedule of the orders, and the rank file.

    Raises
    ------
    InputError
        If stages have different numbers of GPUs, or replicas cannot share a microbatch.
    """
    notes = _notes("torch-csv", plan, microbatch)
    schedule = write_schedule(cells_of(orders))
    return Exported({SCHEDULE: schedule, RANKS: write_ranks(instance, plan)}, notes)


def read_torch_csv(instance: PipelineInstance, exported: Exported) -> Ordered:
    """Return what the files of `write_torch_csv` say.

    Raises
    ------
    InputError
        If no pipeline runs it, or it is none of the instance's.
    """
    plan = read_ranks(instance, exported.text(RANKS))
    schedule = read_schedule(exported.text(SCHEDULE))
    orders = orders_of(schedule, plan, instance.num_microbatches)
    return plan, with_channels("torch-csv", instance, plan, orders)


def write_torchtitan(
    instance: PipelineInstance, plan: Plan, orders: StageOrders, microbatch: int, csv: str
) -> Exported:
    """Return a section of torchtitan's configuration, the schedule that it names, and the ranks.

    Raises
    ------
    InputError
        As `write_torch_csv`, and if the chain is none of embedding, blocks and head.
    """
    M, notes = instance.num_microbatches, _notes("torchtitan", plan, microbatch)
    section = torchtitan.write_lines(plan, instance.num_layers, M, csv)
    schedule = write_torch_csv(instance, plan, orders, microbatch)
    where = f"the schedule is expected at {csv}, relative to where torchtitan is started"
    return Exported({SECTION: section, **schedule.files}, (*notes, where))


def read_torchtitan(instance: PipelineInstance, exported: Exported) -> Ordered:
    """Return what the files of `write_torchtitan` say.

    Raises
    ------
    InputError
        As `read_torch_csv`, or if the section says other stages than the ranks.
    """
    layers = torchtitan.read_lines(
        exported.text(SECTION), instance.num_layers, instance.num_microbatches
    )
    plan, orders = read_torch_csv(instance, exported)
    _check_same("torchtitan", layers, plan)
    return plan, orders


def write_megatron(instance: PipelineInstance, plan: Plan, microbatch: int) -> Exported:
    """Return Megatron's arguments for the stages of a plan, and the rank file.

    Raises
    ------
    InputError
        If stages have different numbers of GPUs, replicas cannot share a microbatch, the chain is
        none of embedding, decoder layers and head, or a stage may not keep as many as 1F1B does.
    """
    notes = _notes("megatron", plan, microbatch)
    one_f_one_b("megatron", instance, plan)
    arguments = megatron.write_arguments(plan, instance.num_layers)
    return Exported({ARGUMENTS: arguments, RANKS: write_ranks(instance, plan)}, notes)


def read_megatron(instance: PipelineInstance, exported: Exported) -> Ordered:
    """Return what the files of `write_megatron` say; stages run 1F1B.

    Raises
    ------
    InputError
        If they break a rule, or say other stages than the ranks.
    """
    layers = megatron.read_arguments(exported.text(ARGUMENTS))
    plan = read_ranks(instance, exported.text(RANKS))
    _check_same("megatron", layers, plan)
    return plan, in_1f1b("megatron", instance, plan)


def write_deepspeed(instance: PipelineInstance, plan: Plan, microbatch: int) -> Exported:
    """Return a DeepSpeed module of the stages of a plan, and the rank file.

    Raises
    ------
    InputError
        If stages have different numbers of GPUs, replicas cannot share a microbatch, or a
        stage may not keep as many as 1F1B does.
    """
    notes = _notes("deepspeed", plan, microbatch)
    one_f_one_b("deepspeed", instance, plan)
    files = {MODULE: deepspeed.write_module(plan), RANKS: write_ranks(instance, plan)}
    return Exported(files, notes)


def read_deepspeed(instance: PipelineInstance, exported: Exported) -> Ordered:
    """Return what the files of `write_deepspeed` say; stages run 1F1B.

    Raises
    ------
    InputError
        If the module is another, or says other stages than the ranks.
    """
    layers = deepspeed.read_module(exported.text(MODULE))
    plan = read_ranks(instance, exported.text(RANKS))
    _check_same("deepspeed", layers, plan)
    return plan, in_1f1b("deepspeed", instance, plan)


def write_rank_file(instance: PipelineInstance, plan: Plan, microbatch: int) -> Exported:
    """Return the rank file alone.

    Raises
    ------
    InputError
        If stages have different numbers of GPUs, replicas cannot share a microbatch, or a
        stage may not keep as many as 1F1B does.
    """
    notes = _notes("ranks", plan, microbatch)
    one_f_one_b("ranks", instance, plan)
    return Exported({RANKS: write_ranks(instance, plan)}, notes)


def read_rank_file(instance: PipelineInstance, exported: Exported) -> Ordered:
    """Return what a rank file says; stages run 1F1B.

    Raises
    ------
    InputError
        If it is no grid of the instance's GPUs and layers.
    """
    plan = read_ranks(instance, exported.text(RANKS))
    return plan, in_1f1b("ranks", instance, plan)


def in_1f1b(form: str, instance: PipelineInstance, plan: Plan) -> list[list[int]]:
    """Return the orders of 1F1B, where channels serve what comes first.

    Raises
    ------
    InputError
        If a stage may not keep so many microbatches.
    """
    return with_channels(form, instance, plan, one_f_one_b(form, instance, plan))


def _notes(form: str, plan: Plan, microbatch: int) -> tuple[str, ...]:
    return note_on_replicas(form, replicas_of(form, plan), microbatch)


def _check_same(form: str, layers: tuple[tuple[int, int], ...], plan: Plan) -> None:
    if layers != plan.stage_layers:
        raise InputError(
            f"{form}: stages of layers {layers}, expected those of the ranks, {plan.stage_layers}"
        )
