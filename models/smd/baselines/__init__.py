"""Baselines of the paper.

- `policies`: equal servers and workers (ESW), its best number, and Optimus
- `admission`: how they admit jobs
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
outers: dict[str, tuple[str, str, str]] = {"outer": ("exact", "frieze_clarke", "greedy_density")}
admission: dict[str, str | int | bool] = {"outer": "exact", "k": 2, "complete": False}

METHODS = (
    Method(
        "esw",
        kind="baseline",
        summary="as many workers as servers, as many as fit",
        reference="baseline ESW",
        run=part("policies:esw"),
        parameters=admission,
        choices=outers,
    ),
    Method(
        "esw_best",
        kind="baseline",
        summary="as many workers as servers, the best number of both",
        reference="baseline ESW (reconstructed)",
        run=part("policies:esw_best"),
        parameters=admission,
        choices=outers,
    ),
    Method(
        "optimus",
        kind="baseline",
        summary="one more worker or one more server, whichever helps more",
        reference="baseline Optimus",
        run=part("policies:optimus"),
        parameters={"stop": "fill", **admission},
        choices={"stop": ("fill", "stop"), **outers},
    ),
)
