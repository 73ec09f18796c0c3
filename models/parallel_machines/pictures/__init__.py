"""Pictures of schedules."""

from gadgetopt.system.declaration import Parts, Picture

part = Parts(__name__)

PICTURES = (
    Picture(
        name="loads",
        summary="the jobs of each machine, and the lower bound of counting as a line",
        draw=part("loads:draw"),
    ),
)
