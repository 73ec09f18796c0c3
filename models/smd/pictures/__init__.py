"""Pictures, one file each.

- `reservations`: what admitted jobs reserve and use (`cluster`)
- `surface`: utility over workers and servers (`utility_surface`)
- `timeline`: an iteration under the overlap models (`iteration_timeline`)
- `ratio_over_cluster`: every policy's utility over the optimum, by size of the cluster
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        "cluster", summary="what admitted jobs reserve and use", draw=part("reservations:plot")
    ),
    Picture(
        "utility_surface",
        summary="utility of the first job over workers and servers, with every algorithm's point",
        draw=part("surface:surface"),
        of="instance",
    ),
    Picture(
        "iteration_timeline",
        summary="an iteration of the first job with layers under the three overlap models",
        draw=part("timeline:timeline"),
        of="instance",
    ),
    Picture(
        "ratio_over_cluster",
        summary="utility over the optimum against the size of the cluster",
        draw=part("ratio_over_cluster:ratio_over_cluster"),
        of="instance",
    ),
)
