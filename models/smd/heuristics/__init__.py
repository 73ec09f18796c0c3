"""Heuristics of ours, not in the paper.

- `greedy`: best pairs of all jobs, admitted greedily
- `variants`: SMD with one step changed
"""

from typing import Any

from gadgetopt.system.declaration import Method, Parts

from ..algorithms import PARAMETERS

part: Parts = Parts(__name__)


def _variant(name: str, summary: str, *parameters: str) -> Method:
    chosen: dict[str, Any] = {key: PARAMETERS[key] for key in parameters}
    return Method(
        name,
        kind="heuristic",
        summary=summary,
        reference="SMD, one step changed (reconstructed)",
        run=part(f"variants:{name}"),
        parameters=chosen,
        stochastic=True,
    )


_INNER = ("eps_inner", "shrink", "delta", "attempts")
_SETS = ("k", "eps_outer")

METHODS = (
    Method(
        "greedy",
        kind="heuristic",
        summary="best pairs, admitted by utility over the largest share of a capacity",
        reference="greedy (reconstructed)",
        run=part("greedy:greedy"),
    ),
    _variant("smd_exact", "SMD with jobs admitted by an exact knapsack", *_INNER),
    _variant("smd_greedy", "SMD with jobs admitted by utility over the largest share", *_INNER),
    _variant("smd_floor", "SMD with every point rounded down", "eps_inner", *_SETS),
    _variant("smd_corners", "SMD with the best pair around every point", "eps_inner", *_SETS),
    _variant("smd_actual", "SMD with grid points compared by their time", *_INNER, *_SETS),
    _variant("smd_complete", "SMD with jobs added that still fit", *_INNER, *_SETS),
    Method(
        "algorithm_3_complete",
        kind="heuristic",
        summary="Algorithm 3 on best pairs, with jobs added that still fit",
        reference="Algorithm 3, completed (reconstructed)",
        run=part("variants:algorithm_3_complete"),
        parameters={"k": 2, "eps_outer": None},
    ),
)

#: Former parameters of the paper's algorithms, and the methods that they became.
RENAMED: dict[str, str] = {
    "smd:grid": "smd_as_printed",
    "smd:fallback": "smd_as_printed",
    "smd:zero": "smd_as_printed",
    "smd:route": "smd",
    "smd:inner_objective": "smd_actual",
    "smd:rounding=floor": "smd_floor",
    "smd:rounding=corners": "smd_corners",
    "smd:outer=exact": "smd_exact",
    "smd:outer=greedy_density": "smd_greedy",
    "smd:complete": "smd_complete",
    "algorithm_3:complete": "algorithm_3_complete",
}
