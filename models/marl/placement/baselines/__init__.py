"""Rules that place task after task: Tetris, packing, load balancing, least interference, random.

rules: all of them, on one pattern.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

_ORDERS = ("fifo", "big", "srpt", "drf", "las")
_ORDER, _ORDER_CHOICES = {"order": "fifo"}, {"order": _ORDERS}

METHODS = (
    Method(
        name="tetris",
        kind="baseline",
        summary="each task where its demand and the free resources are aligned best",
        reference="(reconstructed), after Grandl et al. 2014",
        run=part("rules:tetris"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="pack",
        kind="baseline",
        summary="each task beside others of its job, else where the fewest GPUs are free",
        reference="(reconstructed)",
        run=part("rules:pack"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="lb",
        kind="baseline",
        summary="each task where the most GPUs are free",
        reference="(reconstructed)",
        run=part("rules:lb"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="lif",
        kind="baseline",
        summary="each task where it adds least interference",
        reference="(reconstructed)",
        run=part("rules:lif"),
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
    Method(
        name="random",
        kind="baseline",
        summary="each task on a random server with room",
        reference="(reconstructed)",
        run=part("rules:random"),
        stochastic=True,
        parameters=_ORDER,
        choices=_ORDER_CHOICES,
    ),
)
