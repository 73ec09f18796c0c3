"""Write a problem of PyTorch's AutoParallel as plain JSON, for `gadgetopt import autoparallel`.

Copy this file to where AutoParallel runs. It needs nothing but the optimizer, before or after it
has solved::

    from autoparallel_dump import dump

    dump(autop.sharding_optimizer, "dump.json", pins={"primals_1": "S(0)R"})

Costs are microseconds. What the graph pairs, such as parameters and their gradients, must be placed
alike; `pins` are the placements that you asked for by constraints of inputs, outputs and nodes. A
limit is on the bytes of the parameters on a device.
"""

import json
import math


def dump(optimizer, path, pins=None, limit_bytes=None, ties=None, parameters=None):
    """Write the nodes, strategies and costs of an optimizer; ties and parameters by its graph."""
    problem = problem_of(optimizer, parameters_of(optimizer) if parameters is None else parameters)
    problem["ties"] = pairs_of(optimizer) if ties is None else ties
    problem["pins"] = pins or {}
    if limit_bytes is not None:
        problem["memory"] = {"limit_bytes": limit_bytes}
    with open(path, "w") as file:
        json.dump(problem, file, allow_nan=False)


def problem_of(optimizer, parameters):
    """Return nodes with their strategies, tables of their inputs, and clusters."""
    shape, links = list(optimizer.mesh.shape), optimizer.cluster_links
    nodes, edges, clusters = [], [], {}

    def decision(*key):
        found = optimizer.decision_vars.get(key)
        return optimizer.decision_vars.get(links.get(key)) if found is None else found

    for node in optimizer.strats:
        if node.op == "output":
            continue
        n, strategies = optimizer.node_map[node], optimizer.strats[node].strategies
        producers = optimizer._all_input_nodes(node)
        rows = [len(optimizer.strats[p].strategies) for p in producers] or [1]
        written = []
        for o, strategy in enumerate(strategies):
            found = [[decision(n, a, o, j) for j in range(count)] for a, count in enumerate(rows)]
            # The optimizer divides what a strategy computes over its inputs.
            compute = [next((d.compute_cost for d in of if d is not None), 0) for of in found]
            taken = sum(compute) + (0 if producers else sum(moved_us(of[0]) or 0 for of in found))
            specs = strategy.input_specs[: len(producers)]
            written.append(
                {
                    "output": text_of(strategy.output_specs, shape),
                    "inputs": [text_of(spec, shape) for spec in specs],
                    "compute_us": taken,
                    "memory_bytes": bytes_of(strategy.output_specs, shape)
                    if node.name in parameters
                    else 0,
                }
            )
        names = [producer.name for producer in producers]
        nodes.append(
            {"name": node.name, "op": str(node.target), "inputs": names, "strategies": written}
        )
        for a, count in enumerate(rows if producers else ()):
            every = [[decision(n, a, o, j) for o in range(len(strategies))] for j in range(count)]
            free = not any(map(any, every))  # an input that is not placed
            table = [[0 if free else moved_us(d) for d in row] for row in every]
            edges.append({"node": node.name, "arg": a, "cost_us": table})
    names_of = {n: node.name for node, n in optimizer.node_map.items()}
    for key, root in links.items():
        clusters.setdefault(names_of[root[0]], {})[names_of[key[0]]] = None
    return {
        "format": "autoparallel/1",
        "mesh_shape": shape,
        "nodes": nodes,
        "edges": edges,
        "clusters": [[root, *linked] for root, linked in clusters.items()],
    }


def moved_us(decision):
    """Return what it takes to bring a tensor from one placement into another; None if it cannot."""
    if decision is None:
        return None
    cost = decision.comm_cost + decision.sharding_transition_cost
    return cost if math.isfinite(cost) else None


def text_of(spec, shape):
    """Return placements as text, such as S(0)R; of several tensors those of the first."""
    if isinstance(spec, list | tuple):
        spec = next((one for one in spec if one is not None), None)
    if spec is None:
        return "R" * len(shape)
    return "".join(
        f"S({p.dim})" if p.is_shard() else "P" if p.is_partial() else "R" for p in spec.placements
    )


def bytes_of(spec, shape):
    """Return the bytes of a tensor on one device."""
    extents = list(spec.tensor_meta.shape)
    for placement, devices in zip(spec.placements, shape, strict=True):
        if placement.is_shard():
            extents[placement.dim] = -(-extents[placement.dim] // devices)
    return math.prod(extents) * spec.tensor_meta.dtype.itemsize


def pairs_of(optimizer):
    """Return what the graph pairs: parameters, inputs and outputs with their gradients."""
    from torch._functorch._aot_autograd import fx_utils

    found = []
    for name in ("param_and_grad", "plain_input_and_grad", "plain_output_and_tangent"):
        pairs = getattr(fx_utils, f"get_{name}_nodes")(optimizer.graph).values()
        found += [[a.name, b.name] for a, b in pairs if b is not None]
    return found


def parameters_of(optimizer):
    """Return the names of the parameters."""
    from torch._functorch._aot_autograd.fx_utils import get_param_nodes

    return {node.name for node in get_param_nodes(optimizer.graph)}
