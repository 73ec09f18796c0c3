"""Features: how tight memory and streams are, and how deep the graph is."""

from __future__ import annotations

from gadgetopt.system.features import variation

from .instance import OneflowActorsInstance


def features(instance: OneflowActorsInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `actors_per_stream`: one where no two actors compete.
    - `depth`: the most registers on a way from actor to actor.
    - `readers_per_register`: mean number of consumers.
    - `initial_share`: registers with items at the start, of all.
    - `memory_tightness`: bytes of the fewest slots over the capacity, of the fullest memory; 0
      without limits.
    - `duration_variation`: coefficient of variation of the durations.
    - `load_over_longest`: the busiest stream's work over the longest duration.
    """
    registers = instance.registers
    fewest = tuple(register.fewest for register in registers)
    tight = [
        float(instance.used_bytes(zone.name, fewest) / zone.capacity_bytes)
        for zone in instance.zones
        if zone.capacity_bytes
    ]
    loads = [
        sum(instance.ticks[a] for a in actors) for actors in instance.actors_of_stream.values()
    ]
    readers = sum(len(register.consumers) for register in registers)
    return {
        "actors_per_stream": len(instance.actors) / len(instance.streams),
        "depth": float(max(instance.depth)),
        "readers_per_register": readers / len(registers) if registers else 0.0,
        "initial_share": (
            sum(register.initial > 0 for register in registers) / len(registers)
            if registers
            else 0.0
        ),
        "memory_tightness": max(tight, default=0.0),
        "duration_variation": variation(float(actor.duration_s) for actor in instance.actors),
        "load_over_longest": max(loads) / max(instance.ticks),
    }
