"""Pictures of plans and of instances.

- `gantt`: when and where each job runs.
- `interference`: the table as a heat map, in the family's `subproblems`.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)
shared: Parts = Parts(f"{__name__.rsplit('.', 2)[0]}.subproblems")

PICTURES = (
    Picture(
        name="gantt",
        summary="when and where each job runs, slot by slot",
        draw=part("gantt:draw"),
    ),
    Picture(
        name="interference",
        summary="the table of interference as a heat map",
        draw=shared("heat_map:draw"),
        of="instance",
    ),
)
