"""Queues served by placement rules, and a search over the order of the jobs.

- `rules`: Tetris, packing, load balancing, least interference first, least completion time, random.
- `order_search`: the best of all, and jobs that change places.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

_ORDER = {"order": "fifo"}
_ORDER_CHOICES = {"order": ("fifo", "big", "srpt", "drf", "las")}

METHODS = (
    Method(
        name="tetris",
        kind="online",
        summary="each task where its demand and the free resources are aligned best",
        reference="(reconstructed), after Grandl et al. 2014",
        run=part("rules:tetris"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="pack",
        kind="online",
        summary="each task beside others of its job, else where the fewest GPUs are free",
        reference="(reconstructed)",
        run=part("rules:pack"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="lb",
        kind="online",
        summary="each task where the most GPUs are free",
        reference="(reconstructed)",
        run=part("rules:lb"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="lif",
        kind="online",
        summary="each task where it adds least interference",
        reference="(reconstructed)",
        run=part("rules:lif"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="greedy_jct",
        kind="online",
        summary="each task where the completion times of all placed jobs grow least",
        reference="this project",
        run=part("rules:greedy_jct"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="random",
        kind="online",
        summary="each task on a random server with room",
        reference="(reconstructed)",
        run=part("rules:random"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
        stochastic=True,
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
