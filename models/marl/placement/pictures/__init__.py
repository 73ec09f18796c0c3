"""Pictures of placements and of instances.

- `servers`: servers with their occupants.
- `interference`: the table as a heat map, in the family's `subproblems`.
- `how_many_servers`: mean completion time against the number of servers.
- `ignored`: the price of ignoring interference, and the network.
"""

ORDER = ("servers", "interference", "how_many_servers", "ignored")
