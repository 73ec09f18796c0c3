"""Pictures, one file each.

- `plan`: operators coloured by label, with the collectives between them.
- `edge`: what other labels at the dearest conversion would cost.
- `pareto`: cost against memory, from the largest memory that helps to the least there is.
- `phases`: which parallelism is best, by batch and width.
"""

ORDER = ("plan", "edge", "pareto", "phases")
