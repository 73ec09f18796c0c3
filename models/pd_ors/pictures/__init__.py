"""Pictures of decisions.

- `schedule`: Gantt chart of jobs over slots.
- `use`: used part of the cluster, arrivals and completions by slot.
- `prices`: heat map of prices by machine and slot.
- `payoffs`: utility, cost and payoff of every job.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        "gantt",
        summary="jobs over slots, by mode and number of workers",
        draw=part("schedule:plot"),
    ),
    Picture(
        "over_time",
        summary="used part of the machines, arrivals and completions by slot",
        draw=part("use:over_time"),
    ),
    Picture(
        "prices",
        summary="price of every resource by machine and slot, as jobs arrive",
        draw=part("prices:heat_map"),
    ),
    Picture(
        "payoffs",
        summary="utility, cost and payoff of every job at the prices of its arrival",
        draw=part("payoffs:waterfall"),
    ),
)
