"""Approximation algorithms of the literature.

- `frieze_clarke`: every set of at most k items, completed by a linear program rounded down.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "frieze_clarke",
        kind="approximation",
        summary="every set of k items, then the linear relaxation rounded down",
        reference="Frieze and Clarke 1984",
        run=part("frieze_clarke:frieze_clarke"),
        parameters={"k": 2, "complete": False, "enumeration": "pruned"},
        choices={"enumeration": ("pruned", "literal")},
    ),
)
