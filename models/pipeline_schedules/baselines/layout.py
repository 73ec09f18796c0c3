"""Where the stages of a published schedule lie: in a loop, in a V, or on two routes."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused

from ..instance import PipelineSchedulesInstance


def loop_of(instance: PipelineSchedulesInstance) -> tuple[int, int]:
    """Return chunks a device and microbatches, if stage s is on device s mod P, on one route.

    Raises
    ------
    ModelRefused
        If it is not.
    """
    chunks, count = _chunks(instance)
    _expect(instance, [s % instance.num_devices for s in range(len(instance.stages))], "s mod P")
    return chunks, count


def v_of(instance: PipelineSchedulesInstance, chunks: int | None = 2) -> tuple[int, int]:
    """Return chunks a device and microbatches, if the chunks turn back at the last device.

    Stage s is on device s for s < P, then they go back to device 0; more chunks repeat it.

    Raises
    ------
    ModelRefused
        If they do not, or are not `chunks` on each device; None: any even number.
    """
    found, count = _chunks(instance)
    if (found != chunks) if chunks else found % 2:
        told = str(chunks) if chunks else "an even number"
        raise ModelRefused(f"routes: {found} stages a device, expected {told}")
    P = instance.num_devices
    there_and_back = [*range(P), *reversed(range(P))]
    _expect(instance, there_and_back * (found // 2), "s of the V")
    return found, count


def two_ways_of(instance: PipelineSchedulesInstance) -> int:
    """Return the microbatches of each of two routes of opposite directions.

    Raises
    ------
    ModelRefused
        If there are not two such routes with one stage a device and as many microbatches, or P is
        odd.
    """
    P, routes = instance.num_devices, instance.routes
    if len(routes) != 2 or routes[0].num_microbatches != routes[1].num_microbatches:
        raise ModelRefused("routes: expected two with as many microbatches")
    if P % 2:
        raise ModelRefused(f"num_devices: {P}, expected an even number")
    _expect(instance, [*range(P), *reversed(range(P))], "s, and P - 1 - s of the second route")
    return routes[0].num_microbatches


def _chunks(instance: PipelineSchedulesInstance) -> tuple[int, int]:
    if len(instance.routes) > 1:
        raise ModelRefused(f"routes: {len(instance.routes)}, expected one")
    chunks, left = divmod(len(instance.stages), instance.num_devices)
    if left:
        raise ModelRefused(
            f"routes: {len(instance.stages)} stages, expected a multiple of the "
            f"{instance.num_devices} devices"
        )
    return chunks, instance.routes[0].num_microbatches


def _expect(instance: PipelineSchedulesInstance, devices: list[int], told: str) -> None:
    if [stage.device for stage in instance.stages] != devices:
        raise ModelRefused(f"routes: expected stage s on device {told}")
