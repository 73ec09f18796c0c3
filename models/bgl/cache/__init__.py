"""BGL's caching: the order of mini-batches, and which features a GPU keeps between them.

Each room declares its own parts:

- `instance`, `evaluate`, `guarantees`, `features`, `data`
- `subproblems`: intervals and their sweep, policies, sequences
- `formulations`: retention at a given order, (5); order and retention together, (6)
- `algorithms`: proximity-aware order and FIFO
- `baselines`: online policies, static caches; `heuristics`: orders of ours
- `proving`: sweep, flow, search over prefixes; compulsory loads, prices of the cache's space,
  tables over orders
- `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="bgl_cache",
    title="BGL: order of mini-batches and feature cache",
    citation=CITATION,
    sense="min",
    objective="cost of loaded features; misses with unit weights",
    integral_objective=True,
    default_method="order_search",
    default_methods=("bgl", "fifo", "lru", "static_frequency", "path_order", "order_search"),
    renamed={
        "bgl:policy=fifo": "bgl",
        "bgl:policy": "bgl_policy",
        "bgl:tolerance": "bgl_tolerance",
    },
)
