"""Pictures of allocations: the time of every stage (`stages`)."""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="stages",
        summary="time of every stage, before and after isolation, and what one more core brings",
        draw=part("stages:draw"),
    ),
)
