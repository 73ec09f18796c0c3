"""The ways through registers that prove the least period of `subproblems.ways`."""

from __future__ import annotations

from ...instance import OneflowActorsInstance
from ...subproblems.ways import least_period, lifetimes
from ..certificate import Ways


def ways_proof(instance: OneflowActorsInstance, load: int) -> Ways | None:
    """Return the proof of the least period that memory allows; None if the load decides."""
    life = lifetimes(instance)
    found = least_period(instance, life, load)
    e = found.register_number
    if e is None:
        return None
    zone = instance.registers[e].zone
    named = [f for f, way in enumerate(life.ways) if way and instance.registers[f].zone == zone]
    return Ways(ways=tuple((f, *life.ways[f]) for f in named), register_number=e, slots=found.slots)
