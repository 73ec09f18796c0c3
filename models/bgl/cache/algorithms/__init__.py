"""The paper's algorithm: proximity-aware orders and a FIFO cache (`bgl`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="bgl",
        kind="heuristic",
        summary="training nodes by breadth-first sequences in turn, features in a FIFO cache",
        reference="BGL, section 3.2 (recalled)",
        run=part("bgl:bgl"),
        parameters={
            "sequences": 0,
            "most_sequences": 10,
            "tolerance": 1.0,
            "policy": "fifo",
        },
        choices={"policy": ("fifo", "lru", "lfu", "belady")},
        stochastic=True,
    ),
)
