"""Pictures of worst sequences (`arrivals`)."""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="arrivals",
        summary="the values in their order, who is served, the price, and whom OPT serves",
        draw=part("arrivals:draw"),
    ),
)
