"""Chakra execution traces for simulators such as ASTRA-sim: one file a GPU."""

from __future__ import annotations

from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.pipelines.traces import first_come, read_traces, write_traces
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaring import exporter

from ..instance import DappleInstance, DappleSolution
from ..schedule import schedule_of
from .one_pipeline import plan_of


def kept(instance: DappleInstance, solution: DappleSolution) -> DappleSolution:
    """Return the solution with links that serve what comes first."""
    plan = solution.plan
    orders = first_come(shop_of(instance, plan), _stage_orders(instance, solution))
    return DappleSolution.of(plan, orders=orders)


@exporter(
    suffixes=(".*.et", ".groups.json"),
    drops="the order of transfers: each link serves what comes first",
)
def write(instance: DappleInstance, solution: DappleSolution) -> Exported:
    """Chakra execution traces of the GPUs, for simulators such as ASTRA-sim."""
    return write_traces(instance, plan_of("chakra", solution), _stage_orders(instance, solution))


def _stage_orders(instance: DappleInstance, solution: DappleSolution) -> list[list[int]]:
    return schedule_of(shop_of(instance, solution.plan), solution).orders[::2]


def read_back(instance: DappleInstance, exported: Exported) -> DappleSolution:
    """Return the plan and orders of traces.

    Raises
    ------
    InputError
        If they are not those of a plan of this instance.
    """
    plan, orders = read_traces(instance, exported)
    return DappleSolution.of(plan, orders=orders)
