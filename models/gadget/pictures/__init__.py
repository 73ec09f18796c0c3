"""Pictures, one per file.

gantt: ring sizes of all jobs over the slots; network: rings and link loads of the busiest slot.
gains: marginal utility of worker-slots; envelope: a utility with its concave envelope.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture("gantt", summary="ring sizes of all jobs over the slots", draw=part("gantt:plot")),
    Picture(
        "network",
        summary="rings and link loads of the busiest slot on the network",
        draw=part("network:plot_tree"),
    ),
    Picture(
        "gains",
        summary="marginal utility of worker-slots",
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
