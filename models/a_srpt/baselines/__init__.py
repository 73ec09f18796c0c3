"""What A-SRPT was compared with, first come first served, and the schedule of Lemma 1.

- `policies`: FIFO, shortest job and smallest workload first, and the work-conserving ones.
- `scattered`: the schedule of Lemma 1, in which every job is as slow as it can be.
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


def _policy(name: str, summary: str, reference: str) -> Method:
    return Method(
        name=name,
        kind="baseline",
        summary=summary,
        reference=reference,
        run=part(f"policies:{name}"),
        parameters=_PARAMETERS,
        choices=_CHOICES,
        stochastic=True,
    )


_NAMED = "name from the paper, definition reconstructed"

METHODS = (
    _policy("spjf", "shortest predicted job first; the first blocks", _NAMED),
    _policy("spwf", "smallest predicted workload first; the first blocks", _NAMED),
    _policy("wcs_duration", "all that fits, by predicted duration", _NAMED),
    _policy("wcs_workload", "all that fits, by predicted workload", _NAMED),
    _policy("wcs_subtime", "all that fits, by submission time", _NAMED),
    _policy("fifo", "in order of arrival; the first blocks", "folklore"),
    Method(
        name="scattered",
        kind="baseline",
        summary="Lemma 1: optimal for jobs that run at their slowest, which they then do",
        reference="Lemma 1",
        run=part("scattered:scattered"),
    ),
)
