"""The paper's algorithm, step by step.

- `plain`: as the paper has it, node by node.
- `bgl`: the whole.
- `coarsening`: blocks by breadth-first fronts, and their merging.
- `assignment`: parts of the blocks by the score (4).
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="bgl",
        kind="heuristic",
        summary="breadth-first blocks, small ones merged, assigned by the product score (4)",
        reference="Liu et al. 2023, section 3",
        run=part("bgl:bgl"),
        parameters={
            "block_cap": 0,
            "least_block": 0,
            "hops": 2,
            "order": "bfs",
            "pops": 1,
            "repair": True,
            "refine": False,
        },
        choices={"order": ("bfs", "size")},
        stochastic=True,
    ),
)
