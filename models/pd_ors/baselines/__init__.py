"""The algorithms that the paper compares PD-ORS with.

- `oasis`: OASiS, with separate machines for workers and for servers.
- `fifo_drf`: first in, first out, and dominant resource fairness.
- `dorm`: Dorm, a MILP at every arrival and completion.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)
progresses: tuple[str, ...] = ("auto", "exact", "quantised", "samples")

METHODS = (
    Method(
        "oasis",
        kind="baseline",
        summary="OASiS: half of the machines for workers, the others for servers",
        reference="OASiS, Algorithms 1 and 2",
        run=part("oasis:oasis"),
        parameters={"progress": "auto", "quanta": 200, "log_price_span": None},
        choices={"progress": progresses},
    ),
    Method(
        "fifo",
        kind="baseline",
        summary="first in, first out, a fixed number of workers drawn for every job",
        reference="baseline FIFO",
        run=part("fifo_drf:fifo"),
        parameters={"fewest_workers": 1, "most_workers": 30},
        stochastic=True,
    ),
    Method(
        "drf",
        kind="baseline",
        summary="dominant resource fairness, recomputed in every slot",
        reference="baseline DRF",
        run=part("fifo_drf:drf"),
    ),
    Method(
        "dorm",
        kind="baseline",
        summary="Dorm: a MILP of use, fairness and few changes whenever a job comes or goes",
        reference="baseline Dorm (reconstructed: recalled)",
        run=part("dorm:dorm"),
        parameters={"unfairness": 0.1, "changes": 0.1, "event_time_s": 10.0},
    ),
)
