"""Heuristics of ours, not in the paper.

greedy_jct: a rule that looks at the completion times of all placed jobs.
local_search: tasks move and swap, jobs are placed anew.
lns: large-neighbourhood search; a few servers share their tasks in the best way.
moves, sharing: what both do.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

_ORDERS = ("fifo", "big", "srpt", "drf", "las")
_RULES = ("tetris", "pack", "lb", "lif", "greedy_jct", "random")
_ORDER, _ORDER_CHOICES = {"order": "fifo"}, {"order": _ORDERS}
_START_CHOICES = {"start": _RULES, "order": _ORDERS}

METHODS = (
    Method(
        name="greedy_jct",
        kind="heuristic",
        summary="each task where the completion times of all placed jobs grow least",
        reference="this project",
        run=part("greedy_jct:greedy_jct"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="local_search",
        kind="heuristic",
        summary="a rule's placement, improved task by task and job by job",
        reference="(reconstructed)",
        run=part("local_search:local_search"),
        parameters={"start": "lif", "order": "fifo", "targets": 64},
        choices=_START_CHOICES,
        stochastic=True,
    ),
    Method(
        name="lns",
        kind="heuristic",
        summary="jobs are taken away and placed anew, a few servers share their tasks anew",
        reference="this project, after Ropke and Pisinger 2006",
        run=part("lns:lns"),
        parameters={"start": "greedy_jct", "order": "fifo", "rounds": 600, "targets": 64},
        choices=_START_CHOICES,
        stochastic=True,
    ),
)
