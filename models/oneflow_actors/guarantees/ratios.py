r"""Where two slots suffice, and where memory is all that can cost throughput.

**Chains.** In a chain whose actors have streams of their own, a cycle goes along consecutive
registers and back, so its ratio is at most the largest of

.. math:: \lambda = \max\Big(\max_a d_a,\ \max_e \frac{d_{p_e} + d_{c_e}}{R_e}\Big)

(a mediant). With two slots each it is the longest duration: no period is shorter.

**Memory.** Without items at the start every stream can work in the same order all the time: pack
its actors on a circle of the load of the busiest stream, and start each at the next moment of its
place; each level of the graph waits less than a round. So the load is attained, and a register
needs at most :math:`2\,\mathrm{depth} + 1` slots. A rule need not find that order, unless every
actor has a stream of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gadgetopt.system.declaring import guarantee

if TYPE_CHECKING:
    from ..instance import OneflowActorsInstance


def own_streams(instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if no two actors share a stream."""
    return instance.own_streams


def chain(instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every actor has at most one register, which one later actor reads."""
    registers = instance.registers
    producers = {register.producer for register in registers}
    consumers = {register.consumers[0] for register in registers}
    return (
        len(producers) == len(consumers) == len(registers) == len(instance.actors) - 1
        and all(len(register.consumers) == 1 for register in registers)
        and not any(register.initial for register in registers)
    )


def nothing_at_the_start(instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if no register has items at the start."""
    return not any(register.initial for register in instance.registers)


def steady(instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if the throughput is that of the steady state."""
    return instance.num_microbatches is None


def two_allowed(instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every register may have two slots."""
    return all(register.most >= 2 for register in instance.registers)


def enough_allowed(instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> bool:
    """Return True if every register may have 2 depth + 1 slots."""
    return all(
        register.most >= 2 * max(instance.depth[c] for c in register.consumers) + 1
        for register in instance.registers
    )


@guarantee(
    name="two slots suffice",
    statement="in a chain of actors on streams of their own two slots each are optimal",
    reference="this project",
    methods=("two",),
    assumptions={
        "steady state": steady,
        "every actor has its own stream": own_streams,
        "a chain": chain,
        "two slots are allowed": two_allowed,
    },
)
def two_suffice(_instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> int:
    """Return 1."""
    return 1


@guarantee(
    name="memory is all that costs",
    statement="with 2 depth + 1 slots each actor fires as often as the longest duration allows",
    reference="this project",
    methods=("unlimited",),
    assumptions={
        "steady state": steady,
        "every actor has its own stream": own_streams,
        "nothing at the start": nothing_at_the_start,
        "so many slots are allowed": enough_allowed,
    },
)
def memory_is_all(_instance: OneflowActorsInstance, _parameters: Mapping[str, Any]) -> int:
    """Return 1."""
    return 1
