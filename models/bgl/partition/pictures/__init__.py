"""Pictures of partitions.

- `layout`: the graph, its parts, and what is cut.
- `loads`: nodes and training nodes of every part.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)

PICTURES = (
    Picture(
        name="layout",
        summary="the graph in the colours of its parts, with the requests that are cut",
        draw=part("layout:draw"),
    ),
    Picture(
        name="loads",
        summary="nodes and training nodes of every part beside their caps",
        draw=part("loads:draw"),
    ),
)
