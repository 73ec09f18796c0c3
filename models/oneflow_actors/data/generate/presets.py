"""Presets: pipelines, a training step on one device, layers of random actors; the examples."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import OneflowActorsInstance

#: Durations and bytes of `layered`. By definition.
DURATIONS, SIZES = (1, 2, 3, 5, 8, 13), (1, 2, 4, 8)


@generator()
def quickstart(rng: np.random.Generator) -> OneflowActorsInstance:
    """Forward and backward on one device, a link between; memory for five slots. Nothing is drawn.

    Windows have one firing of each actor.
    """
    from ...instance import Actor, OneflowActorsInstance, Register, Zone

    del rng
    return OneflowActorsInstance(
        actors=(
            Actor(duration_s=Fraction(1), stream="device", name="forward"),
            Actor(duration_s=Fraction(4), stream="link", name="copy"),
            Actor(duration_s=Fraction(2), stream="device", name="backward"),
        ),
        registers=(
            Register(producer=0, consumers=(1,)),
            Register(producer=0, consumers=(2,)),
            Register(producer=1, consumers=(2,)),
        ),
        zones=(Zone(name="memory", capacity_bytes=Fraction(5)),),
        window=1,
    )


@generator()
def paper(
    rng: np.random.Generator,
    *,
    stages: int = 4,
    capacity: int = 0,
    num_microbatches: int = 0,
    window: int = 0,
) -> OneflowActorsInstance:
    """A pipeline to which OneFlow gives 2 S slots a stage (reconstructed). Nothing is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    stages : int
        S.
    capacity : int
        Bytes of each device; 0: no limit.
    num_microbatches : int
        M; 0: the steady state.
    window : int
        Firings of each actor in the order that repeats; 0: any.
    """
    return pipeline(
        rng, stages=stages, capacity=capacity, num_microbatches=num_microbatches, window=window
    )


@generator()
def pipeline(
    rng: np.random.Generator,
    *,
    stages: int = 4,
    forward: int = 1,
    backward: int = 2,
    link: int = 1,
    skip_bytes: int = 4,
    message_bytes: int = 1,
    capacity: int = 0,
    num_microbatches: int = 0,
    window: int = 0,
) -> OneflowActorsInstance:
    """Stages with forward, backward and what the one keeps for the other. Nothing is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    stages, forward, backward : int
        S, and seconds on the device of a stage.
    link : int
        Seconds from stage to stage on a stream of its own, each way; 0: no transfer.
    skip_bytes, message_bytes : int
        Of a slot between forward and backward, and between stages.
    capacity : int
        Bytes of each device; 0: no limit.
    num_microbatches : int
        M; 0: the steady state.
    window : int
        Firings of each actor in the order that repeats; 0: any.
    """
    from ...instance import Actor, OneflowActorsInstance, Register, Zone

    del rng
    _at_least("stages", stages, 1)
    _at_least("forward", forward, 1)
    _at_least("backward", backward, 1)
    _at_least("link", link, 0)
    actors: list[Actor] = []
    registers: list[Register] = []

    def actor(seconds: int, stream: str, name: str) -> int:
        actors.append(Actor(duration_s=Fraction(seconds), stream=stream, name=name))
        return len(actors) - 1

    def connect(p: int, c: int, size: int, device: int, published: int = 1) -> None:
        registers.append(
            Register(
                producer=p,
                consumers=(c,),
                slot_bytes=Fraction(size),
                zone=f"device {device}",
                published_slots=published,
            )
        )

    F = [actor(forward, f"device {s}", f"F{s}") for s in range(stages)]
    B = [actor(backward, f"device {s}", f"B{s}") for s in range(stages)]
    for s in range(stages):
        connect(F[s], B[s], skip_bytes, s, 2 * stages if s + 1 < stages else 1)
    for s in range(stages - 1):
        for source, target, at, to in ((F[s], F[s + 1], s, s + 1), (B[s + 1], B[s], s + 1, s)):
            if not link:  # a slot where the message is made, and one where it is read
                connect(source, target, message_bytes, to, 2)
                continue
            name = f"{actors[source].name} to {actors[target].name}"
            copy = actor(link, f"link {at} to {to}", name)
            connect(source, copy, message_bytes, at)
            connect(copy, target, message_bytes, to)
    zones = [Zone(name=f"device {s}", capacity_bytes=Fraction(capacity)) for s in range(stages)]
    return OneflowActorsInstance(
        actors=tuple(actors),
        registers=tuple(registers),
        zones=tuple(zones) if capacity else (),
        num_microbatches=num_microbatches or None,
        window=window or None,
    )


@generator()
def training(
    rng: np.random.Generator, *, layers: int = 4, feedback: bool = False, window: int = 0
) -> OneflowActorsInstance:
    """Decoding, a copy, L layers forward and back, AllReduce of each, updates. Nothing is drawn.

    Parameters
    ----------
    rng : numpy.random.Generator
    layers : int
        L.
    feedback : bool
        The forward of a layer waits for its update of the microbatch before.
    window : int
        Firings of each actor in the order that repeats; 0: any.
    """
    from ...instance import Actor, OneflowActorsInstance, Register

    del rng
    _at_least("layers", layers, 1)
    tick, actors, registers = Fraction(1, 10_000), [], []

    def actor(ticks: int, stream: str, name: str) -> int:
        actors.append(Actor(duration_s=ticks * tick, stream=stream, name=name))
        return len(actors) - 1

    def connect(p: int, *consumers: int, size: int, zone: str, initial: int = 0) -> None:
        registers.append(
            Register(
                producer=p,
                consumers=consumers,
                slot_bytes=Fraction(size),
                zone=zone,
                initial=initial,
            )
        )

    decode, copy = actor(150, "decode", "decode"), actor(32, "copy to device", "copy")
    F = [actor(150, "kernels", f"F{n}") for n in range(layers)]
    B = [actor(300, "kernels", f"B{n}") for n in range(layers)]
    reduce = [actor(60, "network", f"AllReduce {n}") for n in range(layers)]
    update = [actor(4, "kernels", f"update {n}") for n in range(layers)]
    mega = 10**6
    connect(decode, copy, size=39 * mega, zone="host")
    connect(copy, F[0], B[0], size=39 * mega, zone="device")
    for n in range(layers):
        readers = (B[n],) if n + 1 == layers else (F[n + 1], B[n])
        connect(F[n], *readers, size=800 * mega, zone="device")
        if n:
            connect(B[n], B[n - 1], size=200 * mega, zone="device")
        connect(B[n], reduce[n], size=26 * mega, zone="device")
        connect(reduce[n], update[n], size=26 * mega, zone="device")
        if feedback:
            connect(update[n], F[n], size=26 * mega, zone="device", initial=1)
    return OneflowActorsInstance(
        actors=tuple(actors), registers=tuple(registers), window=window or None
    )


@generator()
def layered(
    rng: np.random.Generator,
    *,
    layers: int = 4,
    width: int = 3,
    streams: int = 0,
    tightness: float = 0.5,
    num_microbatches: int = 0,
    window: int = 0,
) -> OneflowActorsInstance:
    """Random actors in layers, each reading one or two of the layer before, or one further back.

    Parameters
    ----------
    rng : numpy.random.Generator
    layers, width : int
        Layers, and the most actors of one.
    streams : int
        Streams that actors are spread over; 0: each has its own.
    tightness : float
        Memory: that of one slot each, and this part of what the longest ways need more.
    num_microbatches : int
        M; 0: the steady state.
    window : int
        Firings of each actor in the order that repeats; 0: any.
    """
    from gadgetopt.numbers.tolerance import decimal_rational

    from ...instance import Actor, OneflowActorsInstance, Register, Zone
    from ...subproblems.ways import lifetimes, slots_for

    _at_least("layers", layers, 1)
    _at_least("width", width, 1)
    _at_least("streams", streams, 0)
    if not tightness >= 0:
        raise InputError(f"tightness: {tightness}, expected at least 0")
    of_layer: list[list[int]] = []
    actors: list[Actor] = []
    readers: dict[int, list[int]] = {}
    for n in range(layers):
        row = []
        for _ in range(int(rng.integers(1, width + 1)) if n else 1):
            a = len(actors)
            stream = f"S{rng.integers(streams)}" if streams else f"S{a}"
            actors.append(Actor(duration_s=Fraction(int(rng.choice(DURATIONS))), stream=stream))
            row.append(a)
            if n:
                before = of_layer[-1]
                count = min(len(before), int(rng.integers(1, 3)))
                chosen = set(rng.choice(before, size=count, replace=False).tolist())
                if n > 1 and rng.random() < 0.3:
                    chosen.add(int(rng.choice(of_layer[int(rng.integers(n - 1))])))
                for p in sorted(chosen):
                    readers.setdefault(p, []).append(a)
        of_layer.append(row)
    registers = tuple(
        Register(producer=p, consumers=tuple(cs), slot_bytes=Fraction(int(rng.choice(SIZES))))
        for p, cs in sorted(readers.items())
    )
    plain = OneflowActorsInstance(actors=tuple(actors), registers=registers)
    one = tuple(1 for _ in registers)
    zones: tuple[Zone, ...] = ()
    if registers:
        load = max(sum(plain.ticks[a] for a in mine) for mine in plain.actors_of_stream.values())
        needed = tuple(slots_for(plain, lifetimes(plain), Fraction(load)))
        least, most = plain.used_bytes("memory", one), plain.used_bytes("memory", needed)
        capacity = least + decimal_rational(tightness) * (most - least) // 1
        zones = (Zone(name="memory", capacity_bytes=capacity),)
    return plain.model_copy(
        update={
            "zones": zones,
            "num_microbatches": num_microbatches or None,
            "window": window or None,
        }
    )


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise InputError(f"{name}: {value}, expected at least {least}")
