"""Pictures of streams (`stream`) and of price curves (`curves`)."""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="stream",
        summary="the values in their order, which of them are accepted, and the welfare over time",
        draw=part("stream:draw"),
    ),
    Picture(
        name="price_curves",
        summary="prices over utilisation: exponential, plain, the optimal table of k units",
        draw=part("curves:draw"),
        of="instance",
    ),
    Picture(
        name="ratio_by_units",
        summary="ratios of policies over the number of units, with their limits",
        draw=part("curves:draw_ratios"),
        of="instance",
    ),
)
