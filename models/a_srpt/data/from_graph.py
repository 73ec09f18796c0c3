"""Job graphs that are built stage by stage as the fields of an instance."""

from __future__ import annotations

from typing import Any

from gadgetopt.pieces.graphs.building import Graph

#: What a node says of its stage, under the names of a job type's lists.
OF_STAGES = {
    "replicas": "replicas",
    "time_s": "stage_time_s",
    "gradient_gbytes": "gradient_gbytes",
    "tp_gbytes": "tp_gbytes",
}
#: What the first node of a chain says of the whole job type.
OF_TYPES = ("pipeline_factor", "tp_block")


def fields_of(graph: Graph) -> dict[str, Any]:
    """Return the job types: each chain is one, in the order of their first stages.

    A node is a stage with its `replicas`, `time_s` of one replica, `gradient_gbytes` and, where a
    replica is a block of GPUs, `tp_gbytes`; an edge has `activation_gbytes` from one stage to the
    next. The first stage's name is that of the job type, and it may have a `pipeline_factor` and a
    `tp_block`, which is that of every stage without its own.
    """
    graph.check_fields((*OF_STAGES, *OF_TYPES), ("activation_gbytes",))
    types = []
    for nodes, edges in graph.chains():
        first = nodes[0]
        stages = {
            key: [node.fields[name] for node in nodes if name in node.fields]
            for name, key in OF_STAGES.items()
        }
        across = [e.fields["activation_gbytes"] for e in edges if "activation_gbytes" in e.fields]
        whole = {name: first.fields[name] for name in OF_TYPES if name in first.fields}
        if any("tp_block" in node.fields for node in nodes[1:]):
            block = whole.pop("tp_block", 1)
            whole["tp_blocks"] = [node.fields.get("tp_block", block) for node in nodes]
        types.append({**stages, "activation_gbytes": across, "name": first.name, **whole})
    return {"job_types": types}
