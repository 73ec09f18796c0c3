"""Heuristics of ours, not in the paper.

- `a_srpt_weighted`: A-SRPT with a virtual machine that heeds weights.
- `a_srpt_workload`: A-SRPT with another order of the queue.
- `easy`: EASY backfilling.
- `order_search`: offline list schedules with local search.
- `order_annealing`: annealing over the order of a list schedule.
"""

from gadgetopt.system.declaration import Method, Parts

from ..algorithms import CHOICES, DEFAULTS
from ..subproblems.names import MAPPINGS, PREDICTORS

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="a_srpt_weighted",
        kind="online",
        summary="A-SRPT for weighted completion times: its virtual machine heeds the weights",
        reference="A-SRPT, weighted (reconstructed)",
        run=part("a_srpt_weighted:a_srpt_weighted"),
        parameters={**DEFAULTS, "guide": "wspt"},
        choices={**CHOICES, "guide": ("wspt", "wsrpt")},
        stochastic=True,
    ),
    Method(
        name="a_srpt_workload",
        kind="online",
        summary="A-SRPT with its queue ordered by workload, a faster guide and longer patience",
        reference="this project",
        run=part("a_srpt_workload:a_srpt_workload"),
        parameters={
            **DEFAULTS,
            "mapping": "best_of",
            "guide": "srpt",
            "virtual_alpha": "heuristic",
            "virtual_speed": 1.5,
            "queue_order": "workload",
            "delay_factor": 10.0,
            "comm_threshold": 1.1,
            "consolidation_slack": 0.05,
        },
        choices={
            **CHOICES,
            "guide": ("srpt", "wspt", "wsrpt"),
            "virtual_alpha": ("heuristic", "min", "max"),
            "queue_order": ("virtual_completion", "workload"),
        },
        stochastic=True,
    ),
    Method(
        name="easy",
        kind="baseline",
        summary="in order of arrival with EASY backfilling",
        reference="Lifka 1995",
        run=part("easy:easy"),
        parameters={
            "mapping": "heavy_edge",
            "predictor": "oracle",
            "noise_sd": 0.0,
            "comm_threshold": 1.5,
        },
        choices={"mapping": MAPPINGS, "predictor": PREDICTORS},
        stochastic=True,
    ),
    Method(
        name="order_search",
        kind="heuristic",
        summary="offline: local search over the order of a list schedule",
        reference="this project",
        run=part("order_search:order_search"),
        parameters={"steps": 4000, "mapping": "best_of"},
        choices={"mapping": MAPPINGS},
        stochastic=True,
    ),
)

#: Former parameters of the paper's algorithm, and the methods that have them.
RENAMED: dict[str, str] = {
    "a_srpt:guide": "a_srpt_weighted",
    "a_srpt:virtual_alpha": "a_srpt_workload",
    "a_srpt:virtual_speed": "a_srpt_workload",
    "a_srpt:queue_order": "a_srpt_workload",
}
