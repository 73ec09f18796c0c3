"""The paper's algorithm.

- `plain`: the paper's algorithm step by step.
- `virtual_machine`: the preemptive single machine that guides it.
- `a_srpt`: the guide, and how long a job may wait for a better place.
- `guided_queue`: the queue and its scan.
"""

from gadgetopt.system.declaration import Method, Parts

from ..subproblems.names import MAPPINGS, PREDICTORS

part: Parts = Parts(__name__)

CHOICES = {"mapping": MAPPINGS, "predictor": PREDICTORS}
DEFAULTS = {
    "mapping": "heavy_edge",
    "predictor": "oracle",
    "noise_sd": 0.0,
    "delay_factor": 1.0,
    "comm_threshold": 1.5,
    "consolidation_slack": 0.0,
}

METHODS = (
    Method(
        name="a_srpt",
        kind="online",
        summary="follows a virtual preemptive machine; waits for a better place while that may pay",
        reference="A-SRPT; dispatch and delay rules reconstructed",
        run=part("a_srpt:a_srpt"),
        parameters=DEFAULTS,
        choices=CHOICES,
        stochastic=True,
    ),
)
