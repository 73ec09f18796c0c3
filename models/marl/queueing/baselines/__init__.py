"""Queues served by placement rules: Tetris, packing, load balancing, least interference, random.

rules: all of them, on one pattern.
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
        name="random",
        kind="online",
        summary="each task on a random server with room",
        reference="(reconstructed)",
        run=part("rules:random"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
        stochastic=True,
    ),
)
