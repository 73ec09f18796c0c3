r"""A graph network over boards, racks and pods, whose edges have kinds (reconstructed).

Inside every server two rounds over edges of kind e, with :math:`\bar A^e` as in `graphs`,

.. math::
    h' = \mathrm{ReLU}\Bigl(h W + \sum_e \bar A^e h W_e + b\Bigr),

whose mean and maximum over the GPUs make the server's state. Between servers two sweeps: up, where
a switch of level L is ReLU of the mean of what is below it times :math:`U_L`; and down,

.. math::
    x' = \mathrm{ReLU}\Bigl(x W + \sum_L \mathrm{switch}_L(s) D_L + b\Bigr).

Heads are those of a batch's policy. Arrays and tensors go through the same lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...subproblems.learned.network import DIM, HEADS, heads
from ...subproblems.learned.sight import NODE_FEATURES, SERVER_FEATURES
from .graphs import EDGES, LEVELS, Graphs

#: Rounds inside a server, and sweeps between servers. By definition.
ROUNDS, SWEEPS = (1, 2), (1, 2)


def _shapes() -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for r in ROUNDS:
        for kind in ("self", *EDGES):
            found[f"node_{kind}{r}"] = (NODE_FEATURES if r == 1 else DIM, DIM)
        found[f"node_bias{r}"] = (DIM,)
    for name, size in (("mean", DIM), ("max", DIM), ("seen", SERVER_FEATURES)):
        found[f"server_{name}"] = (size, DIM)
    found["server_bias"] = (DIM,)
    for k in SWEEPS:
        for level in LEVELS:
            found[f"up_{level}{k}"] = found[f"down_{level}{k}"] = (DIM, DIM)
            found[f"up_{level}_bias{k}"] = (DIM,)
        found[f"server_self{k}"] = (DIM, DIM)
        found[f"server_bias{k}"] = (DIM,)
    return {**found, **HEADS}


#: Shapes of the weights.
SHAPES = _shapes()


def logits(
    w: Mapping[str, Any], graphs: Graphs, nodes: Any, servers: Any, job: Any
) -> tuple[Any, ...]:
    """Return logits of servers and of agents, and what the critic needs: see `network.logits`."""
    h = nodes
    for r in ROUNDS:
        near = sum(
            edges @ h @ w[f"node_{kind}{r}"]
            for kind, edges in zip(EDGES, graphs.edges, strict=True)
        )
        h = (h @ w[f"node_self{r}"] + near + w[f"node_bias{r}"]).clip(0)
    mean = (graphs.pool[..., None, :] @ h)[..., 0, :]
    # What follows a ReLU is never negative, so nodes that are no GPU do not count as zeros.
    most = (h * graphs.fabric.gpu_nodes[..., None]).max(-2)
    most = getattr(most, "values", most)  # of a tensor; its indices come with it
    x = mean @ w["server_mean"] + most @ w["server_max"] + servers @ w["server_seen"]
    x = (x + w["server_bias"]).clip(0)
    for k in SWEEPS:
        heard: Any = 0.0
        switch = x
        for level, hears, under in zip(graphs.levels, graphs.hears, graphs.under, strict=True):
            below = hears @ (switch if graphs.nested else x)
            switch = (below @ w[f"up_{level}{k}"] + w[f"up_{level}_bias{k}"]).clip(0)
            heard = heard + under @ switch @ w[f"down_{level}{k}"]
        x = (x @ w[f"server_self{k}"] + heard + w[f"server_bias{k}"]).clip(0)
    return heads(w, graphs.fabric.member, x, servers, job)
