"""The rules of the theory as policies of the game: posted prices (`posted`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="greedy",
        kind="baseline",
        summary="sells to everybody: the least level is the price of all units",
        reference="standard theory, reconstructed",
        run=part("posted:greedy"),
    ),
    Method(
        name="exponential",
        kind="baseline",
        summary="the exponential price of 1 + ln(U/L) as one table",
        reference="standard theory, reconstructed",
        run=part("posted:exponential"),
        parameters={"flat": True},
    ),
    Method(
        name="finite_table",
        kind="approximation",
        summary="the best deterministic table for values from a range, of k units",
        reference="standard theory, reconstructed",
        run=part("posted:finite_table"),
    ),
    Method(
        name="exponential_draw",
        kind="approximation",
        summary="the exponential price, shifted by one seed or drawn once as a static price",
        reference="standard theory, reconstructed",
        run=part("posted:exponential_draw"),
        parameters={"draw": "seed"},
        choices={"draw": ("seed", "static")},
    ),
)
