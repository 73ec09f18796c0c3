"""Baselines of the paper.

policies: FIFO, DRF and Tiresias, with greedy placement of rings.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        "fifo",
        kind="baseline",
        summary="first in, first out: a job keeps its servers until its budget is used",
        reference="baseline FIFO",
        run=part("policies:fifo"),
        parameters={"most_workers": 10, "draw": "clip", "backfill": False},
        choices={"draw": ("clip", "within")},
        stochastic=True,
    ),
    Method(
        "drf",
        kind="baseline",
        summary="dominant resource fairness: every slot shared anew, worker by worker",
        reference="baseline DRF",
        run=part("policies:drf"),
        parameters={"share_links": False},
    ),
    Method(
        "tiresias",
        kind="baseline",
        summary="least attained service first, every slot anew",
        reference="baseline Tiresias",
        run=part("policies:tiresias"),
        parameters={"most_workers": 10, "draw": "clip", "threshold": 0.0},
        choices={"draw": ("clip", "within")},
        stochastic=True,
    ),
)
