"""The paper's algorithm.

- `virtual_machine`: the preemptive single machine that guides it.
- `a_srpt`: the queue, the dispatch and the delays on the real cluster.
"""

from gadgetopt.system.declaration import Method, Parts

from ..subproblems.names import MAPPINGS, PREDICTORS

part = Parts(__name__)

_CHOICES = {
    "mapping": MAPPINGS,
    "predictor": PREDICTORS,
    "guide": ("srpt", "wspt", "wsrpt"),
    "virtual_alpha": ("heuristic", "min", "max"),
}

METHODS = (
    Method(
        name="a_srpt",
        kind="online",
        summary="follows a virtual preemptive machine; waits for a better place while that may pay",
        reference="A-SRPT; dispatch and delay rules reconstructed",
        run=part("a_srpt:a_srpt"),
        parameters={
            "mapping": "heavy_edge",
            "predictor": "oracle",
            "noise_sd": 0.0,
            "guide": "srpt",
            "virtual_alpha": "heuristic",
            "delay_factor": 1.0,
            "comm_threshold": 1.5,
            "consolidation_slack": 0.0,
        },
        choices=_CHOICES,
        stochastic=True,
    ),
)
