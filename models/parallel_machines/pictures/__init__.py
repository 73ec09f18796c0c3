"""Pictures of schedules: the jobs of each machine (`loads`)."""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="loads",
        summary="the jobs of each machine, and the combinatorial lower bound as a line",
        draw=part("loads:draw"),
    ),
)
