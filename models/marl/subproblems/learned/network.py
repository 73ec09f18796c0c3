r"""The two-level graph network (reconstructed).

Inside every server two rounds

.. math::
    h'_v = \mathrm{ReLU}\Bigl(W_1 h_v + W_2 \sum_{u \in N(v)} e_{uv} h_u\Bigr)

over sockets, GPUs and the network card, whose mean is the embedding of the server. Between the
servers two rounds over the network, from servers to switches and back, start from that embedding
and from what is seen of the server. A server's logit comes from its state and the job's embedding,
the logit of forwarding to another agent from the mean state of that agent's servers, and the value
of a central critic from the means of all servers and of the agent's own.

Everything is `@`, `+` and `clip`, so that arrays and torch's tensors go through the same lines; a
batch has one more axis in front.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Floats

from .fabric import Fabric
from .sight import JOB_FEATURES, NODE_FEATURES, SERVER_FEATURES

#: Length of all embeddings. Tuned: `benchmarks/constants.py`.
DIM = 32

#: Shapes of the weights of the heads, and of all.
HEADS: dict[str, tuple[int, ...]] = {
    "job": (JOB_FEATURES, DIM), "job_bias": (DIM,),
    "score_server": (DIM, DIM), "score_job": (DIM, DIM), "score_seen": (SERVER_FEATURES, DIM),
    "score_bias": (DIM,), "score": (DIM, 1),
    "forward_agent": (DIM, DIM), "forward_job": (DIM, DIM), "forward_bias": (DIM,),
    "forward": (DIM, 1),
    "value_all": (DIM, DIM), "value_own": (DIM, DIM), "value_job": (DIM, DIM),
    "value_bias": (DIM,), "value": (DIM, 1),
}  # fmt: skip
SHAPES: dict[str, tuple[int, ...]] = {
    "node_self1": (NODE_FEATURES, DIM), "node_near1": (NODE_FEATURES, DIM), "node_bias1": (DIM,),
    "node_self2": (DIM, DIM), "node_near2": (DIM, DIM), "node_bias2": (DIM,),
    "server_inner": (DIM, DIM), "server_seen": (SERVER_FEATURES, DIM), "server_bias": (DIM,),
    "switch_below": (DIM, DIM), "switch_bias": (DIM,),
    "server_self1": (DIM, DIM), "server_near1": (DIM, DIM), "server_bias1": (DIM,),
    "switch_self1": (DIM, DIM), "switch_near1": (DIM, DIM), "switch_bias1": (DIM,),
    "server_self2": (DIM, DIM), "server_near2": (DIM, DIM), "server_bias2": (DIM,),
    **HEADS,
}  # fmt: skip


def start(
    rng: np.random.Generator, shapes: Mapping[str, tuple[int, ...]] = SHAPES
) -> dict[str, Floats]:
    """Return random weights, with small last layers so that all servers score much the same."""
    weights = {}
    for name, shape in shapes.items():
        scale = 0.0 if "bias" in name else np.sqrt(1.0 / shape[0])
        if shape[-1] == 1:
            scale *= 0.1
        weights[name] = scale * rng.normal(size=shape)
    return weights


def logits(
    w: Mapping[str, Any], fabric: Fabric | Any, nodes: Any, servers: Any, job: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """Return logits of servers and of agents, and what the critic needs.

    Parameters
    ----------
    w : mapping
        Weights as arrays, or as tensors if all else is.
    fabric : Fabric
    nodes, servers, job : array
        As in `Sight`, maybe with an axis for a batch in front.

    Returns
    -------
    of_servers, shape (..., servers)
    of_agents, shape (..., agents)
    all_servers, own_servers, job : embeddings, for `value`
    """
    near = fabric.inner @ nodes
    h = (nodes @ w["node_self1"] + near @ w["node_near1"] + w["node_bias1"]).clip(0)
    h = (h @ w["node_self2"] + (fabric.inner @ h) @ w["node_near2"] + w["node_bias2"]).clip(0)
    inner = (fabric.pool[..., None, :] @ h)[..., 0, :]
    x = (inner @ w["server_inner"] + servers @ w["server_seen"] + w["server_bias"]).clip(0)
    switch = (fabric.below @ x @ w["switch_below"] + w["switch_bias"]).clip(0)
    heard = fabric.below @ x + fabric.above @ switch
    x_next = x @ w["server_self1"] + (fabric.switch_of @ switch) @ w["server_near1"]
    switch = (switch @ w["switch_self1"] + heard @ w["switch_near1"] + w["switch_bias1"]).clip(0)
    x = (x_next + w["server_bias1"]).clip(0)
    near = fabric.switch_of @ switch
    x = (x @ w["server_self2"] + near @ w["server_near2"] + w["server_bias2"]).clip(0)
    return heads(w, fabric.member, x, servers, job)


def heads(w: Mapping[str, Any], member: Any, x: Any, servers: Any, job: Any) -> tuple[Any, ...]:
    """Return what `logits` returns, from the state x of every server."""
    q = (job @ w["job"] + w["job_bias"]).clip(0)
    asked = q[..., None, :]
    z = x @ w["score_server"] + asked @ w["score_job"] + servers @ w["score_seen"]
    of_servers = ((z + w["score_bias"]).clip(0) @ w["score"])[..., 0]
    means = member @ x
    z = means @ w["forward_agent"] + asked @ w["forward_job"] + w["forward_bias"]
    of_agents = (z.clip(0) @ w["forward"])[..., 0]
    return of_servers, of_agents, x.mean(-2), means, q


def value(
    w: Mapping[str, Any], all_servers: Any, own_servers: Any, job: Any, more: Any = 0.0
) -> Any:
    """Return what the critic expects, shape (...,); `more` is added before its last layer."""
    z = all_servers @ w["value_all"] + own_servers @ w["value_own"] + job @ w["value_job"]
    return ((z + more + w["value_bias"]).clip(0) @ w["value"])[..., 0]
