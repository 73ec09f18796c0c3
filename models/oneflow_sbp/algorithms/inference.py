"""The compiler's inference: one pass that gives each operator the signature nearest to its inputs.

The baselines use it too: they fix labels of data and variables and leave the rest to this pass.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..evaluate import memory_bytes
from ..instance import OneFlowSbpInstance, OneFlowSbpSolution
from ..labels import BROADCAST, Label, split
from ..tables import Edge, Tables

#: A wanted label: None where any part will do.
Hint = tuple[str | None, ...]

#: Of the order value, for every input that need not be converted; and for data split by samples.
#: By definition.
_MATCH, _SAMPLES = -10, -1


@method(kind="heuristic", reference="released source, semi-automatic inference")
def compiler_greedy(instance: OneFlowSbpInstance) -> MethodOutcome:
    """One pass in topological order, each operator as its inputs are held.

    Return the signatures that the compiler infers. The same result as `plain`, tested.

    Operators are visited in topological order. Data is split by samples, S(0) on every dimension. A
    variable is broadcast, unless its label is pinned. Any other operator takes the signature of the
    least (order value, bytes of its inputs' conversions, position in the list), the order value
    being -10 for every input that is wanted as it is held on as many devices. O(sum of |K_u| |K_v|
    over the edges); operators of one class with inputs held alike are decided once.

    Parameters
    ----------
    instance : OneFlowSbpInstance
        Its memory limit is not looked at on the way; a plan that does not fit is not returned.
    """
    return inferred(instance, {})


def inferred(instance: OneFlowSbpInstance, hints: Mapping[int, Hint]) -> MethodOutcome:
    """Return the plan that the pass finds, if there is one and it fits; see `signatures_of`."""
    signature, stuck_at = signatures_of(instance, hints)
    if signature is None:
        return MethodOutcome(notes={"stuck_at": stuck_at})
    return fitting(instance, signature)


def signatures_of(
    instance: OneFlowSbpInstance, hints: Mapping[int, Hint]
) -> tuple[tuple[int, ...] | None, str]:
    """Return what the pass finds; None, and where it got stuck, if no signature is possible.

    Parameters
    ----------
    instance : OneFlowSbpInstance
    hints : mapping from operator to Hint
        Wanted labels of outputs, by default B of variables; one that no signature has is passed
        over. Ties and pins come first.
    """
    levels = len(instance.placements[0].hierarchy)
    broadcast = {
        o: (BROADCAST,) * levels
        for o, operator in enumerate(instance.operators)
        if operator.kind == "variable"
    }
    inference = Inference(instance.tables)
    chosen = inference.run({**broadcast, **hints, **instance.tables.pinned})
    if chosen is None:
        return None, instance.operators[inference.reached].name
    return tuple(chosen), ""


def fitting(instance: OneFlowSbpInstance, signature: tuple[int, ...]) -> MethodOutcome:
    """Return a plan, or how far the fullest device is over the memory limit if it does not fit."""
    solution = OneFlowSbpSolution(signature=signature)
    limit = instance.memory_limit_bytes
    if limit is not None:
        over = max(memory_bytes(instance, solution)) - limit
        if over > 0:
            return MethodOutcome(notes={"bytes_over_memory": over})
    return MethodOutcome(solution=solution)


class Inference:
    """One pass over the operators.

    Attributes
    ----------
    chosen : list of int
        Signatures of the operators visited so far.
    """

    def __init__(self, tables: Tables):
        self.tables = tables
        self.chosen: list[int] = []
        self.inputs: list[list[Edge]] = [[] for _ in tables.class_of]
        for edge in tables.edges:
            self.inputs[edge.target].append(edge)
        self.tied: dict[int, list[int]] = {}
        for a, b in tables.ties:
            self.tied.setdefault(max(a, b), []).append(min(a, b))
        self.decided: dict[Hashable, int | None] = {}

    @property
    def reached(self) -> int:
        """The operator that the pass visits."""
        return len(self.chosen)

    def run(self, hints: Mapping[int, Hint]) -> list[int] | None:
        """Visit all operators; None if one has no possible signature."""
        for o in range(len(self.tables.class_of)):
            key = self._key(o, hints.get(o))
            if key not in self.decided:
                self.decided[key] = self._decide(o, hints.get(o))
            k = self.decided[key]
            if k is None:
                return None
            self.chosen.append(k)
        return self.chosen

    def _key(self, o: int, hint: Hint | None) -> Hashable:
        held = tuple(
            (self.tables.class_of[e.source], self.chosen[e.source]) for e in self.inputs[o]
        )
        return self.tables.class_of[o], held, hint, self._wanted(o)

    def _wanted(self, o: int) -> tuple[Label, ...]:
        """Return labels to which an operator's output is tied."""
        return tuple(
            self.tables.signatures[a][self.chosen[a]].output for a in self.tied.get(o, ()) if a != o
        )

    def _decide(self, o: int, hint: Hint | None) -> int | None:
        made = self.tables.classes[self.tables.class_of[o]]
        wanted = self._wanted(o)
        if o in self.tables.pinned:
            hint = self.tables.pinned[o]
        elif wanted:
            hint = wanted[0]
        hinted = hint is not None and any(_has(s.output, hint) for s in made.signatures)
        best: tuple[int, Fraction, int] | None = None
        for k, signature in enumerate(made.signatures):
            if hinted and hint is not None and not _has(signature.output, hint):
                continue
            if any(signature.output != label for label in wanted):
                continue
            order = _SAMPLES if not self.inputs[o] and _is_by_samples(signature.output) else 0
            cost = Fraction(0)
            possible = True
            for edge in self.inputs[o]:
                k_source = self.chosen[edge.source]
                have = self.tables.signatures[edge.source][k_source].output
                conversion = self.tables.conversions(edge)[k_source][k]
                if conversion is None or (edge.tied and have != signature.inputs[edge.slot]):
                    possible = False
                    break
                cost += conversion
                if have == signature.inputs[edge.slot] and self._as_many_devices(edge):
                    order += _MATCH
            if possible and (best is None or (order, cost, k) < best):
                best = order, cost, k
        return None if best is None else best[2]

    def _as_many_devices(self, edge: Edge) -> bool:
        groups = (
            self.tables.classes[self.tables.class_of[o]].group for o in (edge.source, edge.target)
        )
        source, target = (self.tables.placements[g].devices for g in groups)
        return source == target


def _has(label: Label, hint: Hint) -> bool:
    return all(part in (None, own) for own, part in zip(label, hint, strict=True))


def _is_by_samples(label: Label) -> bool:
    return all(part == split(0) for part in label)
