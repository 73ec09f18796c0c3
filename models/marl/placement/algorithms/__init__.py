"""The paper's learned scheduler at work (reconstructed): `learned`; `../learning` trains it."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "learned",
        kind="heuristic",
        summary="agents with a policy that was trained place task after task",
        reference="Zhao, Wu 2022 (reconstructed)",
        run=part("learned:learned"),
        parameters={"policy": "", "order": "trained", "agents": 0, "samples": 1, "lookahead": 1},
        choices={"order": ("trained", "fifo", "big", "srpt", "drf", "las")},
        stochastic=True,
        files=("policy",),
    ),
)
