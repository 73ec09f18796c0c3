"""PyTorch's CSV of a schedule: the cells of each device are those of a rank, as they are."""

from __future__ import annotations

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.runtimes.torch_csv import read_schedule, write_schedule
from gadgetopt.system.declaring import exporter

from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution


def kept(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> PipelineSchedulesSolution:
    """Return the solution without the order of transfers."""
    return solution.model_copy(update={"link_orders": None})


@exporter(
    name="torch-csv",
    suffixes=(".csv",),
    drops="the order of transfers: each channel serves what comes first",
)
def write(instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution) -> Exported:
    """A schedule that PyTorch's pipelines execute.

    Raises
    ------
    InputError
        If there are several routes, or cells that PyTorch does not know.
    """
    if len(instance.routes) > 1:
        raise InputError(
            f"torch-csv: {len(instance.routes)} routes, but torch runs one pipeline; solve an "
            "instance of one route, such as a V"
        )
    for d, cells in enumerate(solution.cells):
        for op in (op for cell in cells for op in cell):
            if op.kind in "ROL":
                raise InputError(
                    f"torch-csv: device {d}, {op}: torch has no recomputation and no copies to the "
                    "host as cells; solve without recompute_act_bytes and offload_s"
                )
    return Exported({".csv": write_schedule(solution.orders)}, _notes(instance, solution))


def _notes(
    instance: PipelineSchedulesInstance, solution: PipelineSchedulesSolution
) -> tuple[str, ...]:
    """Return what torch does otherwise: the stage before waits for a whole backward."""
    early = sum(
        op.kind == "B" and instance.stages[op.stage].fused_saving_s is None and op.stage > 0
        for cells in solution.cells
        for cell in cells
        for op in cell
    )
    if not early:
        return ()
    return (
        f"torch sends the gradient at the end of B, the instance after its I, in {early} cells; "
        "fused_saving_s = 0 says the same as torch",
    )


def read_back(instance: PipelineSchedulesInstance, exported: Exported) -> PipelineSchedulesSolution:
    """Return the orders of a CSV.

    Raises
    ------
    InputError
        If no pipeline runs it, or it is one of other devices, stages or microbatches.
    """
    schedule = read_schedule(exported.text(".csv"))
    of_instance = (
        instance.num_devices,
        tuple(stage.device for stage in instance.stages),
        instance.microbatches[0],
    )
    of_file = len(schedule.rows), schedule.rank_of_stage, schedule.num_microbatches
    for name, wanted, found in zip(
        ("ranks", "ranks of the stages", "microbatches"), of_instance, of_file, strict=True
    ):
        if wanted != found:
            raise InputError(f"torch-csv: {name}: {found}, expected {wanted} as in the instance")
    return PipelineSchedulesSolution(orders=schedule.rows)
