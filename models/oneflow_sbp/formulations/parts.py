r"""What the models share: the one-hot choice of signatures, costs of conversions, and side rows.

Sets: operators o, signatures k of :math:`K_o` (those that a pin allows), uses e of a tensor by a
consumer. Variables: :math:`s_{ok} = 1` if o has signature k.

.. math::
    & \sum_k s_{ok} = 1                                    \quad \forall o \\
    & \sum_{o \in g} \sum_k m_{ok} s_{ok} \le M^{max}      \quad \forall g \tag{4} \\
    & \sum_{k: out = a} s_{uk} = \sum_{k: out = a} s_{vk}  \quad \forall \text{ tied } u, v, a

With shared boxing a conversion of u's tensor from a to b on a group of devices is charged once,
:math:`z_{ugab} \ge y_{eab}` for the uses e of it on that group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient

from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import Label
from ..tables import Edge

#: Pairs on all edges that a model may have. Tuned: `benchmarks/constants.py`.
MOST_PAIRS = 3 * 10**6


@dataclass(frozen=True)
class Use:
    """A use of a tensor.

    Attributes
    ----------
    edge : Edge
    have, want : dict of Label to tuple of int
        Signatures of the producer that put out a label, and of the consumer that want one; names
        stand in for labels where the instance lists a table.
    cost : dict of (Label, Label) to Fraction
        Possible conversions.
    shared : (int, int) or None
        Producer and group of devices, if the conversion is shared with other uses.
    """

    edge: Edge
    have: dict[Label, tuple[int, ...]]
    want: dict[Label, tuple[int, ...]]
    cost: dict[tuple[Label, Label], Fraction]
    shared: tuple[int, int] | None


def allowed(instance: OneFlowSbpInstance) -> list[tuple[int, ...]]:
    """Return the signatures of every operator that its pin allows."""
    tables = instance.tables
    return [
        tuple(
            k
            for k, s in enumerate(signatures)
            if o not in tables.pinned or s.output == tables.pinned[o]
        )
        for o, signatures in enumerate(tables.signatures)
    ]


def uses(
    instance: OneFlowSbpInstance, choices: Sequence[tuple[int, ...]] | None = None
) -> list[Use]:
    """Return all uses of tensors with the costs of their conversions.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    choices : sequence of tuple of int, optional
        Signatures of every operator; by default all that are allowed.

    Raises
    ------
    ModelRefused
        If there are too many pairs of signatures for a model.
    """
    tables, choices = instance.tables, choices or allowed(instance)
    pairs = sum(len(choices[e.source]) * len(choices[e.target]) for e in tables.edges)
    if pairs > MOST_PAIRS:
        raise ModelRefused(f"operators: {pairs} pairs of signatures, more than {MOST_PAIRS}")
    found = []
    known: dict[object, dict[tuple[Label, Label], Fraction]] = {}
    for edge in tables.edges:
        target = tables.classes[tables.class_of[edge.target]]
        held, wanted = tables.held(edge), tables.wanted(edge)
        have, want = defaultdict(list), defaultdict(list)
        for k in choices[edge.source]:
            have[held[k]].append(k)
        for k in choices[edge.target]:
            want[wanted[k]].append(k)
        listed = target.input_tables[edge.slot] if target.input_tables else None
        key = (tables.class_of[edge.source], target.group, edge.tied, listed, *have, None, *want)
        if key not in known:
            costs = tables.edge_costs(edge, have, want)
            known[key] = {
                (a, b): cost
                for a in have
                for b in want
                if (not edge.tied or a == b) and (cost := costs[a, b]) is not None
            }
        found.append(
            Use(
                edge,
                {a: tuple(ks) for a, ks in have.items()},
                {b: tuple(ks) for b, ks in want.items()},
                known[key],
                (edge.source, target.group) if instance.shared_boxing and not edge.tied else None,
            )
        )
    return found


def choice_model(instance: OneFlowSbpInstance, name: str, domain: Any) -> pyo.ConcreteModel:
    """Return a model of the choice of signatures, ties and memory; objective and uses to come."""
    tables, choices = instance.tables, allowed(instance)
    m = pyo.ConcreteModel(name)
    m.choices = choices
    m.O = pyo.RangeSet(0, len(choices) - 1)
    m.OK = pyo.Set(initialize=[(o, k) for o, ks in enumerate(choices) for k in ks], dimen=2)
    m.s = pyo.Var(m.OK, domain=domain, doc="operator o has signature k")

    @m.Constraint(m.O, doc="every operator has one signature")
    def one_signature(m: Any, o: int) -> Any:
        return sum(m.s[o, k] for k in choices[o]) == 1

    m.ties = pyo.ConstraintList(doc="tied operators put out the same label")
    for u, v in tables.ties:
        first, second = labels_of(instance, choices, u), labels_of(instance, choices, v)
        for a in {**first, **second}:
            if u != v:
                left = sum(m.s[u, k] for k in first.get(a, ()))
                m.ties.add(left - sum(m.s[v, k] for k in second.get(a, ())) == 0)
    m.memory = pyo.ConstraintList(doc="(4): the memory of a device")
    if instance.memory_limit_bytes is not None:
        for g in range(len(instance.placements)):
            used = [
                tables.classes[c].memory_bytes[k] * m.s[o, k]
                for o, c in enumerate(tables.class_of)
                if tables.classes[c].group == g
                for k in choices[o]
            ]
            if used:
                m.memory.add(sum(used) <= instance.memory_limit_bytes)
    return m


def labels_of(
    instance: OneFlowSbpInstance, choices: Sequence[tuple[int, ...]], o: int
) -> dict[Label, list[int]]:
    """Return the signatures of an operator that put out each label."""
    found: dict[Label, list[int]] = defaultdict(list)
    for k in choices[o]:
        found[instance.tables.signatures[o][k].output].append(k)
    return found


def compute_cost(m: pyo.ConcreteModel, instance: OneFlowSbpInstance) -> Any:
    """Return the sum of compute costs."""
    tables = instance.tables
    return sum(
        coefficient(tables.classes[tables.class_of[o]].compute[k]) * m.s[o, k] for o, k in m.OK
    )


def conversion_cost(m: pyo.ConcreteModel, found: list[Use], y: Any, domain: Any) -> Any:
    """Return the sum of conversion costs; adds the variables of shared ones.

    Parameters
    ----------
    m : ConcreteModel
    found : list of Use
    y : callable
        `y(e, a, b)` is 1 if use e converts label a into b.
    domain : pyomo set
        Of shared conversions. They are integral anyway, and declared so in integer models: with
        continuous ones HiGHS 1.14 cut off optima of small instances.
    """
    shared: dict[tuple[int, int, Label, Label], list[int]] = defaultdict(list)
    terms = []
    for e, use in enumerate(found):
        for (a, b), cost in use.cost.items():
            if cost and use.shared is not None:
                shared[*use.shared, a, b].append(e)
            elif cost:
                terms.append(coefficient(cost) * y(e, a, b))
    m.Z = pyo.RangeSet(0, len(shared) - 1)
    m.z = pyo.Var(m.Z, domain=domain, doc="a tensor is converted from a to b on a group")
    m.converted = pyo.ConstraintList(doc="a shared conversion serves all uses")
    for i, ((_, _, a, b), sharing) in enumerate(shared.items()):
        terms.append(coefficient(found[sharing[0]].cost[a, b]) * m.z[i])
        for e in sharing:
            m.converted.add(m.z[i] >= y(e, a, b))
    return sum(terms)


def decode(m: pyo.ConcreteModel, instance: OneFlowSbpInstance) -> OneFlowSbpSolution:
    """Return the signature of every operator whose variable is 1."""
    chosen = [next(k for k in ks if pyo.value(m.s[o, k]) > 0.5) for o, ks in enumerate(m.choices)]
    return OneFlowSbpSolution(signature=tuple(chosen))
