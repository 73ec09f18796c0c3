"""Upper bounds on the offline welfare: the best prices in hindsight (`hindsight`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="hindsight_prices",
        kind="relaxation",
        summary="the prices that prove most: by sorting, or duals of the linear relaxation",
        reference="section 3 (reconstructed)",
        run=part("hindsight:hindsight_prices"),
        formulation="hindsight_prices",
    ),
)
