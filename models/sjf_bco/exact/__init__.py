"""The exact method.

ladder: heuristics, lower bounds and CP-SAT models in turn, until the gap is closed.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "ladder",
        kind="exact",
        summary="heuristics, bounds and CP-SAT models in turn until the gap is closed",
        reference="CP-L, CP-U, CP-L2, CP-E+L2 (reconstructed)",
        run=part("ladder:ladder"),
        parameters={"rung_s": 20.0, "gpu_bins": True},
        prepare=part("ladder:prepare"),
        formulation="cp_e_l2",
        backend="cpsat",
    ),
)
