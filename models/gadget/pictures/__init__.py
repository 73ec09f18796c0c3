"""Pictures of instances and solutions: one file each."""

from gadgetopt.system.declaration import Parts, Picture

part = Parts(__name__)

PICTURES = (
    Picture("gantt", summary="ring sizes of all jobs over the slots", draw=part("gantt:plot")),
    Picture(
        "network",
        summary="rings and link loads of the busiest slot on the network",
        draw=part("network:plot_tree"),
    ),
    Picture(
        "gains",
        summary="what one more worker-slot gains, after ever more of them",
        draw=part("gains:plot_gains"),
        of="instance",
    ),
    Picture(
        "envelope",
        summary="a utility with its concave envelope and the tangent point",
        draw=part("envelope:plot_envelope"),
        of="instance",
    ),
)
