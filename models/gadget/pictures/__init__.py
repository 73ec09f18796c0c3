"""Pictures, one per file.

gantt: ring sizes of all jobs over the slots; network: rings and link loads of the busiest slot.
gains: marginal utility of worker-slots; envelope: a utility with its concave envelope.
"""

ORDER = ("gantt", "network", "gains", "envelope")
