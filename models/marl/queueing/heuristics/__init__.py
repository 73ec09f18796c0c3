"""Heuristics of ours, not in the paper.

greedy_jct: a rule that looks at the completion times of all placed jobs.
order_search: the best of all rules, and jobs that change places.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

_ORDER = {"order": "fifo"}
_ORDER_CHOICES = {"order": ("fifo", "big", "srpt", "drf", "las")}

METHODS = (
    Method(
        name="greedy_jct",
        kind="online",
        summary="each task where the completion times of all placed jobs grow least",
        reference="this project",
        run=part("greedy_jct:greedy_jct"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="order_search",
        kind="heuristic",
        summary="the best of all rules and orders, then jobs change places in the order",
        reference="this project",
        run=part("order_search:order_search"),
        parameters={"rounds": 200},
        stochastic=True,
    ),
)
