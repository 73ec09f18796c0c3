"""What OneFlow does, after its released source.

- `inference`: the compiler's pass that gives every operator the signature nearest to its inputs'.
- `auto_parallel`: the search over all signatures; `reduction` simplifies its graph, and
  `neighbourhood` improves what is left.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="compiler_greedy",
        kind="heuristic",
        summary="one pass in topological order, each operator as its inputs are held",
        reference="released source, semi-automatic inference",
        run=part("inference:compiler_greedy"),
    ),
    Method(
        name="auto_parallel",
        kind="heuristic",
        summary="eliminations and merging, then search of neighbourhoods; memory by weight",
        reference="released source, auto-parallel",
        run=part("auto_parallel:auto_parallel"),
        parameters={
            "memory": "adaptive",
            "reduce": True,
            "most_merged": 100,
            "start": "first",
            "ring": 3,
            "reserve": 1.04 * 1.06,
        },
        choices={
            "memory": ("off", "slight", "moderate", "heavy", "adaptive"),
            "start": ("first", "greedy"),
        },
    ),
)
