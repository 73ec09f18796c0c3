"""Chakra execution traces for simulators such as ASTRA-sim: one file a GPU."""

from __future__ import annotations

from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.pipelines.traces import first_come, read_traces, write_traces
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.system.declaring import exporter

from ..instance import SppInstance, SppSolution


def kept(instance: SppInstance, solution: SppSolution) -> SppSolution:
    """Return the solution with channels that serve what comes first."""
    plan = solution.plan
    orders = first_come(shop_of(instance, plan), solution.orders[::2])
    return SppSolution.of(plan, orders)


@exporter(
    suffixes=(".*.et", ".groups.json"),
    drops="the order of transfers: each channel serves what comes first",
)
def write(instance: SppInstance, solution: SppSolution) -> Exported:
    """Chakra execution traces of the GPUs, for simulators such as ASTRA-sim."""
    return write_traces(instance, solution.plan, solution.orders[::2])


def read_back(instance: SppInstance, exported: Exported) -> SppSolution:
    """Return the plan and orders of traces.

    Raises
    ------
    InputError
        If they are not those of a plan of this instance.
    """
    plan, orders = read_traces(instance, exported)
    return SppSolution.of(plan, orders)
