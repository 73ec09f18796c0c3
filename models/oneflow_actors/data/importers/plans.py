"""Instances from plans of OneFlow-SBP: operators and conversions as actors.

Each operator is an actor on the kernels of its placement, of the cost of its signature; each
conversion one on the network between the placements. A tensor is a register in the memory of its
placement, and an updated variable is there for the next microbatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.file_imports import import_plans, options_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.declaring import importer
from gadgetopt.system.files import Document

from ...instance import Actor, OneflowActorsInstance, Register, Zone


class SbpOptions(BaseModel):
    """Options of `sbp_plan`. Text, as a command line gives it, is converted.

    Attributes
    ----------
    seconds_per_cost : float
        Of a unit of the plan's costs.
    launch_s : float
        What every operator takes beside its cost.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    seconds_per_cost: float = Field(default=1.0, gt=0)
    launch_s: float = Field(default=1e-5, gt=0)


@importer(
    name="sbp-plan",
    summary="An instance of OneFlow-SBP and a solution of it: operators and conversions as actors",
    options=SbpOptions,
    help={
        "seconds_per_cost": "of a unit of the plan's costs",
        "launch_s": "what every operator takes beside its cost",
    },
)
def sbp_plan(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each pair of files, an instance of `oneflow_sbp` and a solution.

    Parameters
    ----------
    files : sequence of Path
        Instance, solution, instance, solution, ...
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    **options
        The fields of `SbpOptions`.

    Raises
    ------
    InputError
        If files are not pairs, cannot be read, are of another system, or an option is wrong.
    """
    given = options_of(SbpOptions, "sbp-plan", options)

    def make(
        source: Document, plan: Any, path: Path
    ) -> tuple[str, OneflowActorsInstance, dict[str, Any]]:
        judged = source.problem.evaluate(source.data, plan)
        if not judged.feasible:
            raise InputError(f"{path}: {judged.violations[0]}, expected a feasible plan")
        instance = instance_of(source.data, plan.signature, given)
        conversions = len(instance.actors) - len(source.data.operators)
        return f"{source.name}_actors", instance, {"conversions": conversions}

    units = {"slot_bytes": "bytes on the fullest device"}
    return import_plans("sbp-plan", files, given, ["oneflow_sbp"], units, make)


def instance_of(plan: Any, signature: Sequence[int], options: SbpOptions) -> OneflowActorsInstance:
    """Return the actors of a plan's operators and conversions."""
    per_cost, launch = map(decimal_rational, (options.seconds_per_cost, options.launch_s))
    tables, operators = plan.tables, plan.operators
    made = [tables.classes[c] for c in tables.class_of]
    actors = [
        Actor(
            duration_s=launch + per_cost * made[o].compute[signature[o]],
            stream=f"kernels of {operator.placement}",
            name=operator.name,
        )
        for o, operator in enumerate(operators)
    ]
    readers: dict[int, list[int]] = {}
    boxed: list[tuple[int, list[int], Fraction]] = []
    copies: dict[tuple[object, ...], int] = {}
    for edge in tables.edges:
        if edge.tied:
            continue
        u, v = edge.source, edge.target
        have = made[u].signatures[signature[u]].output
        want = made[v].signatures[signature[v]].inputs[edge.slot]
        cost = tables.conversion_cost(made[u], made[v].group, have, want)
        if not cost:
            _once(readers.setdefault(u, []), v)
            continue
        key = (u, made[v].group, want) if plan.shared_boxing else (u, v, edge.slot)
        if key not in copies:
            stream = f"network of {operators[v].placement}"
            if operators[u].placement != operators[v].placement:
                stream = f"network from {operators[u].placement} to {operators[v].placement}"
            copies[key] = len(boxed)
            actors.append(
                Actor(
                    duration_s=per_cost * cost,
                    stream=stream,
                    name=f"{operators[u].name} for {operators[v].name}",
                )
            )
            _once(readers.setdefault(u, []), len(operators) + len(boxed))
            boxed.append((v, [], Fraction(made[u].memory_bytes[signature[u]])))
        _once(boxed[copies[key]][1], v)
    registers = [
        Register(
            producer=u,
            consumers=tuple(consumers),
            slot_bytes=Fraction(made[u].memory_bytes[signature[u]]),
            zone=operators[u].placement,
        )
        for u, consumers in sorted(readers.items())
    ]
    registers += [
        Register(
            producer=len(operators) + n,
            consumers=tuple(consumers),
            slot_bytes=size,
            zone=operators[v].placement,
        )
        for n, (v, consumers, size) in enumerate(boxed)
    ]
    for edge in tables.edges:
        if edge.tied:  # the update of a variable: the next microbatch reads it
            size = Fraction(made[edge.target].memory_bytes[signature[edge.target]])
            registers.append(
                Register(
                    producer=edge.target,
                    consumers=(edge.source,),
                    slot_bytes=size,
                    zone=operators[edge.source].placement,
                    initial=1,
                )
            )
    limit = plan.memory_limit_bytes
    used = sorted({register.zone for register in registers})
    return OneflowActorsInstance(
        actors=tuple(actors),
        registers=tuple(registers),
        zones=tuple(Zone(name=zone, capacity_bytes=Fraction(limit)) for zone in used)
        if limit is not None
        else (),
    )


def _once(found: list[int], a: int) -> None:
    if a not in found:
        found.append(a)
