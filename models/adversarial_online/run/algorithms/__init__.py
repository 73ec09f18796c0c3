"""The theory's policies: deterministic tables (`tables`), and policies that draw once (`draws`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="exponential",
        kind="online",
        summary="the exponential price with its flat part, 1 + ln theta for infinitesimal units",
        reference="section 4, standard theory (reconstructed)",
        run=part("tables:exponential"),
    ),
    Method(
        name="finite_k",
        kind="online",
        summary="the optimal deterministic table of k units",
        reference="section 4 (reconstructed)",
        run=part("tables:finite_k"),
    ),
    Method(
        name="one_seed",
        kind="online",
        summary="the exponential price shifted by one seed: 1 + ln theta for every k",
        reference="section 4 (reconstructed)",
        run=part("draws:one_seed"),
    ),
    Method(
        name="random_static",
        kind="online",
        summary="one price, drawn once: 1 + ln theta for every k",
        reference="section 4 (reconstructed)",
        run=part("draws:random_static"),
    ),
    Method(
        name="share",
        kind="online",
        summary="shares of the capacity for each level and those above, on a grid of values",
        reference="(1) (reconstructed)",
        run=part("draws:share"),
    ),
)
