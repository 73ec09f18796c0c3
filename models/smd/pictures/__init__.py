"""Pictures of instances and solutions: one file each."""

from gadgetopt.system.declaration import Parts, Picture

part = Parts(__name__)

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
        draw=part("study:ratio_over_cluster"),
        of="instance",
    ),
)
