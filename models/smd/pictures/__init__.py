"""Pictures, one file each.

- `reservations`: what admitted jobs reserve and use (`cluster`)
- `surface`: utility over workers and servers (`utility_surface`)
- `timeline`: an iteration under the overlap models (`iteration_timeline`)
- `ratio_over_cluster`: every policy's utility over the optimum, by size of the cluster
"""

ORDER = ("reservations", "surface", "timeline", "ratio_over_cluster")
