r"""The evaluator: what a choice of signatures costs, from the labels alone, in exact rationals.

.. math:: \min\ \sum_o \hat c_{o k_o} + \sum_{e = (u, v, s)}
   R_e\big(\mathrm{out}_{u k_u}, \mathrm{in}_{v k_v}(s)\big).

With shared boxing, a tensor that several consumers on a group of devices want under one label is
converted once. An update takes its variable as it is held. Where the instance lists a table for an
edge, :math:`R_e` is its entry for the two signatures, and no collectives are known. The output of
every operator stays allocated, so the memory of a device is the sum over the operators of its
placement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number
from gadgetopt.system.result import Evaluation, Violation

from .boxing import Step, conversion
from .instance import EdgeTable, OneFlowSbpInstance, OneFlowSbpSolution
from .labels import Label, label_text, parse_label
from .tables import Edge


def evaluate(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> Evaluation:
    """Recompute the cost of a solution, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is None if a signature does not exist or a conversion is not possible.
        Components: `compute` and `boxing`, in the unit of the objective; `boxing_bytes`, and
        `bytes_all_reduce` and so on for every collective that moves any; `conversions`, the
        number of tensors converted; `memory_bytes` of the device that keeps most.
    """
    unknown = tuple(_unknown(instance, solution))
    if unknown:
        return Evaluation(None, unknown)
    violations = list(_broken_rules(instance, solution))
    tables = instance.tables
    compute = sum(
        (tables.classes[c].compute[k] for c, k in _chosen(instance, solution)), Fraction(0)
    )
    boxing, bytes_by_collective, conversions = Fraction(0), dict[str, Fraction](), 0
    for edge in tables.edges:
        listed = table_of(instance, edge)
        if listed is None:
            continue
        entry = listed[solution.signature[edge.source]][solution.signature[edge.target]]
        if entry is None:
            violations.append(_impossible(instance, edge))
            continue
        conversions += entry > 0
        boxing += entry
    for steps, cost, edge, times in _conversions(instance, solution):
        if steps is None:
            violations.append(_impossible(instance, edge))
            continue
        conversions += times * bool(steps)
        boxing += times * cost
        for step in steps:
            moved = bytes_by_collective.get(step.collective, Fraction(0))
            bytes_by_collective[step.collective] = moved + times * step.cost_bytes
    used = memory_bytes(instance, solution)
    limit = instance.memory_limit_bytes
    for placement, amount in zip(instance.placements, used, strict=True):
        if limit is not None and amount > limit:
            violations.append(Violation("memory", placement.name, amount - limit))
    defined = not any(v.constraint == "impossible_conversion" for v in violations)
    components: dict[str, Number] = {
        "compute": compute,
        "boxing": boxing,
        "boxing_bytes": sum(bytes_by_collective.values(), Fraction(0)),
        "conversions": conversions,
        "memory_bytes": max(used),
    }
    for name, moved in sorted(bytes_by_collective.items()):
        if moved:
            components[f"bytes_{name}"] = moved
    return Evaluation(compute + boxing if defined else None, tuple(violations), components)


def memory_bytes(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> list[int]:
    """Return the bytes on the fullest device of every placement."""
    used = [0] * len(instance.placements)
    for c, k in _chosen(instance, solution):
        made = instance.tables.classes[c]
        used[made.group] += made.memory_bytes[k]
    return used


def table_of(instance: OneFlowSbpInstance, edge: Edge) -> EdgeTable | None:
    """Return the costs that the instance lists for an edge, None if labels say what it costs."""
    number = instance.operators[edge.target].table_of(edge.slot)
    return None if number is None else instance.edge_tables[number]


def conversion_steps(
    instance: OneFlowSbpInstance, edge: Edge, have: Label, want: Label
) -> tuple[Step, ...] | None:
    """Return the collectives that an edge needs between two labels, None if none can do it."""
    if edge.tied and have != want:
        return None
    tables = instance.tables
    source = tables.classes[tables.class_of[edge.source]]
    group = tables.classes[tables.class_of[edge.target]].group
    return conversion(
        instance.costs.rules,
        have,
        want,
        source.shape,
        source.tensor_bytes,
        instance.placements[source.group].hierarchy,
        instance.placements[group].hierarchy,
        same_group=source.group == group,
    )


def conversion_cost(instance: OneFlowSbpInstance, edge: Edge, steps: tuple[Step, ...]) -> Fraction:
    """Return the cost of a conversion in the unit of the objective."""
    costs = instance.costs
    moved = sum((step.cost_bytes for step in steps), Fraction(0))
    if not moved:
        return moved
    if costs.unit == "seconds":
        ends = (instance.operators[o].placement for o in (edge.source, edge.target))
        devices = min(p.devices for name in ends for p in instance.placements if p.name == name)
        moved = moved / devices / Fraction(costs.link_bytes_per_s or 1)
    return moved + costs.wait


def _chosen(
    instance: OneFlowSbpInstance, solution: OneFlowSbpSolution
) -> Iterator[tuple[int, int]]:
    return zip(instance.tables.class_of, solution.signature, strict=True)


def _conversions(
    instance: OneFlowSbpInstance, solution: OneFlowSbpSolution
) -> Iterator[tuple[tuple[Step, ...] | None, Fraction, Edge, int]]:
    """Yield the collectives and the cost of each kind of conversion, an edge and their number."""
    tables = instance.tables
    uses: dict[object, list[Edge]] = defaultdict(list)
    converted = set()
    for edge in tables.edges:
        if table_of(instance, edge) is not None:
            continue
        source, target = tables.class_of[edge.source], tables.class_of[edge.target]
        have = tables.classes[source].signatures[solution.signature[edge.source]].output
        wanted = tables.classes[target].signatures[solution.signature[edge.target]]
        want = wanted.inputs[edge.slot]
        group = tables.classes[target].group
        if instance.shared_boxing and not edge.tied:
            if (edge.source, group, want) in converted:
                continue
            converted.add((edge.source, group, want))
        uses[source, group, have, want, edge.tied].append(edge)
    for (_, _, have, want, _), edges in uses.items():  # type: ignore[misc]
        steps = conversion_steps(instance, edges[0], have, want)
        cost = Fraction(0) if steps is None else conversion_cost(instance, edges[0], steps)
        yield steps, cost, edges[0], len(edges)


def _unknown(instance: OneFlowSbpInstance, solution: OneFlowSbpSolution) -> Iterator[Violation]:
    operators, given = len(instance.operators), len(solution.signature)
    if given < operators:
        yield Violation(
            "missing_signature", f"signature of {operators} operators", operators - given
        )
    if given > operators:
        yield Violation(
            "unknown_operator", f"signature of {operators} operators", given - operators
        )
    lists = zip(instance.operators, instance.tables.signatures, solution.signature, strict=False)
    for operator, signatures, k in lists:
        if k >= len(signatures):
            yield Violation("unknown_signature", operator.name, k - len(signatures) + 1)


def _broken_rules(
    instance: OneFlowSbpInstance, solution: OneFlowSbpSolution
) -> Iterator[Violation]:
    held = {
        operator.name: instance.tables.classes[c].signatures[k].output
        for operator, (c, k) in zip(instance.operators, _chosen(instance, solution), strict=True)
    }
    for name, text in instance.pins.items():
        if held[name] != parse_label(text):
            yield Violation("pin", f"{name}: {label_text(held[name])}, pinned to {text}", 1)
    for first, second in instance.ties:
        if held[first] != held[second]:
            yield Violation("tie", f"{first} and {second}", 1)


def _impossible(instance: OneFlowSbpInstance, edge: Edge) -> Violation:
    names = instance.operators[edge.source].name, instance.operators[edge.target].name
    return Violation("impossible_conversion", f"{names[0]} to input {edge.slot} of {names[1]}", 1)
