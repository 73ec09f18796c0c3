"""Hand-checked instances and their optima."""

from __future__ import annotations

import json
import math

from gadgetopt.models.gadget.instance import GadgetInstance, GadgetSolution, Ring
from gadgetopt.system.files import library


def sigmoid(height, middle, x):
    return height / (1 + math.exp(middle - x))


OPTIMA = {
    "h1_bandwidth_blind": 6.0,
    "h2_chain_of_bounds": 30.0,
    "h3_greedy_concave": 38.0,
    # Job 0 in both slots, job 1 never.
    "h4_sigmoid_starvation": sigmoid(100, 30, 40) + sigmoid(1, 1, 0),
    "h5_slot": 47.0,
    "h6_two_triangles": 3.0,
    "h7_square": 9.0,
    "h7_square_narrow": 5.0,
}


def tiny(name: str) -> GadgetInstance:
    """Return a hand-checked instance."""
    text = (library() / "gadget" / "tiny" / f"{name}.json").read_text()
    return GadgetInstance.model_validate_json(json.dumps(json.loads(text)["data"]))


def ring(job, servers, slot=1, routes=None):
    """Return a ring."""
    return Ring(slot=slot, job=job, servers=tuple(servers), routes=routes)


def solution(*rings):
    """Return a solution of these rings."""
    return GadgetSolution(rings=rings)


#: Optimal decisions, by hand. The ring of job 1 on the square is 1-3-2 and closes through server 0.
BEST = {
    "h1_bandwidth_blind": solution(ring(0, [1])),
    "h2_chain_of_bounds": solution(ring(0, [0, 0, 1])),
    "h3_greedy_concave": solution(*(ring(j, [0], t) for j in (0, 1) for t in (1, 2))),
    "h4_sigmoid_starvation": solution(ring(0, [0], 1), ring(0, [0], 2)),
    "h5_slot": solution(ring(0, [0, 0, 1]), ring(1, [2, 3]), ring(2, [1])),
    "h6_two_triangles": solution(ring(0, [3, 4, 5], routes=((3, 4), (4, 5), (5, 3)))),
    "h7_square": solution(
        ring(0, [0, 0, 0]), ring(1, [1, 3, 2], routes=((1, 3), (3, 2), (2, 0, 1)))
    ),
    "h7_square_narrow": solution(ring(0, [0, 0, 0])),
}
