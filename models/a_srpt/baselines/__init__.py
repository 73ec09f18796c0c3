"""What A-SRPT was compared with, and references of ours.

- `policies`: FIFO, shortest job and smallest workload first, and the work-conserving ones.
- `easy`: EASY backfilling.
- `price_guided`: offline, in the order of the prices of the bound B5.
- `scattered`: the schedule of Lemma 1, in which every job is as slow as it can be.
- `order_search`: offline list schedules with local search.
"""

from gadgetopt.system.declaration import Method, Parts

from ..subproblems.names import MAPPINGS, PREDICTORS

part: Parts = Parts(__name__)

_PARAMETERS = {
    "mapping": "heavy_edge",
    "predictor": "oracle",
    "noise_sd": 0.0,
    "comm_threshold": 1.5,
}
_CHOICES = {"mapping": MAPPINGS, "predictor": PREDICTORS}


def _policy(name: str, module: str, summary: str, reference: str) -> Method:
    return Method(
        name=name,
        kind="baseline",
        summary=summary,
        reference=reference,
        run=part(f"{module}:{name}"),
        parameters=_PARAMETERS,
        choices=_CHOICES,
        stochastic=True,
    )


_NAMED = "name from the paper, definition reconstructed"

METHODS = (
    _policy("spjf", "policies", "shortest predicted job first; the first blocks", _NAMED),
    _policy("spwf", "policies", "smallest predicted workload first; the first blocks", _NAMED),
    _policy("wcs_duration", "policies", "all that fits, by predicted duration", _NAMED),
    _policy("wcs_workload", "policies", "all that fits, by predicted workload", _NAMED),
    _policy("wcs_subtime", "policies", "all that fits, by submission time", _NAMED),
    _policy("fifo", "policies", "in order of arrival; the first blocks", "folklore"),
    _policy("easy", "easy", "in order of arrival with EASY backfilling", "Lifka 1995"),
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
    Method(
        name="scattered",
        kind="baseline",
        summary="Lemma 1: optimal for jobs that run at their slowest, which they then do",
        reference="Lemma 1",
        run=part("scattered:scattered"),
    ),
    Method(
        name="price_guided",
        kind="heuristic",
        summary="offline: in the order of the prices of B5, which it also proves",
        reference="ours",
        run=part("price_guided:price_guided"),
        parameters={"intervals": 512, "mapping": "best_of", "steps": 80_000},
        choices={"mapping": MAPPINGS},
        stochastic=True,
        formulation="prices",
    ),
)
