"""Pictures of placements and of instances.

- `servers`: servers with their occupants.
- `interference`: the table as a heat map, in the family's `subproblems`.
- `how_many_servers`: mean completion time against the number of servers.
- `ignored`: the price of ignoring interference, and the network.
"""

from gadgetopt.system.declaration import Parts, Picture

part: Parts = Parts(__name__)
shared: Parts = Parts(f"{__name__.rsplit('.', 2)[0]}.subproblems")

PICTURES = (
    Picture(
        name="servers",
        summary="servers with their occupants, and where each job is slowed down most",
        draw=part("servers:draw"),
    ),
    Picture(
        name="interference",
        summary="the table of interference as a heat map",
        draw=shared("heat_map:draw"),
        of="instance",
    ),
    Picture(
        name="how_many_servers",
        summary="mean completion time against the number of servers",
        draw=part("how_many_servers:draw"),
        of="instance",
    ),
    Picture(
        name="ignored",
        summary="the price of ignoring interference, and of ignoring the network",
        draw=part("ignored:draw"),
        of="instance",
    ),
)
