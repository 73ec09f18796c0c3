"""What closes the gap at any size: bounds and schedules that meet, capacity by capacity."""

from gadgetopt.system.declaration import Method, Parts

part = Parts(__name__)

METHODS = (
    Method(
        name="bin_search",
        kind="exact",
        summary="bounds, local search, patterns; then packing, capacity by capacity",
        reference="this project, after Dell'Amico and Martello 1995",
        run=part("bin_search:bin_search"),
        parameters={"packer": "highs", "kicks": 200},
        choices={"packer": ("highs", "cpsat")},
        stochastic=True,
        formulation="bin_search",
    ),
)
