"""The exact method for any size: bound and schedule meet, capacity by capacity.

- `bin_search`: the search.
- `diving`: schedules from the linear pattern program, pattern by pattern.
- `enumeration`: all patterns that a packing can have, by their reduced costs.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="bin_search",
        kind="exact",
        summary="bounds, local search, patterns; then packings, capacity by capacity",
        reference="this project, after Dell'Amico and Martello 1995",
        run=part("bin_search:bin_search"),
        parameters={"packer": "highs", "kicks": 200},
        choices={"packer": ("highs", "cpsat")},
        stochastic=True,
        formulation="bin_search",
    ),
)
