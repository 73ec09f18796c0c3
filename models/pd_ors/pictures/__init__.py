"""Pictures of decisions.

- `schedule`: Gantt chart of jobs over slots.
- `use`: used part of the cluster, arrivals and completions by slot.
- `prices`: heat map of prices by machine and slot.
- `payoffs`: utility, cost and payoff of every job.
"""

ORDER = ("schedule", "use", "prices", "payoffs")
