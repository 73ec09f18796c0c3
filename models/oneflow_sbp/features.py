"""Features: what makes an instance difficult beyond its size."""

from __future__ import annotations

from gadgetopt.system.features import variation

from .instance import OneFlowSbpInstance


def features(instance: OneFlowSbpInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `edges_per_operator`: 1 of a chain; more where tensors are used again, as in backward passes.
    - `most_consumers`: uses of the tensor that is used most.
    - `signatures_per_operator`: mean length of the signature lists.
    - `classes_per_operator`: near 0 where layers repeat, 1 where no two operators are alike.
    - `tensor_variation`: coefficient of variation of the tensors' bytes.
    - `memory_tightness`: the memory limit over the memory of all operators' lightest signatures, of
      the fullest placement; 0 without a limit.
    """
    tables = instance.tables
    operators = len(instance.operators)
    uses = [0] * operators
    for edge in tables.edges:
        uses[edge.source] += 1
    least = [0] * len(instance.placements)
    for c in tables.class_of:
        least[tables.classes[c].group] += min(tables.classes[c].memory_bytes)
    limit = instance.memory_limit_bytes
    return {
        "edges_per_operator": len(tables.edges) / operators,
        "most_consumers": float(max(uses)),
        "signatures_per_operator": sum(map(len, tables.signatures)) / operators,
        "classes_per_operator": len(tables.classes) / operators,
        "tensor_variation": variation(float(o.tensor_bytes) for o in instance.operators),
        "memory_tightness": 0.0 if limit is None else limit / max(1, *least),
    }
