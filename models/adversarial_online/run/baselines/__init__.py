"""What the theory's policies are compared with (`policies`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="greedy",
        kind="baseline",
        summary="accept whatever fits: the price L",
        reference="section 4 (reconstructed)",
        run=part("policies:greedy"),
    ),
    Method(
        name="fixed_price",
        kind="baseline",
        summary="one price between L and U; against a stream of L it sells nothing",
        reference="section 4 (reconstructed)",
        run=part("policies:fixed_price"),
        parameters={"position": 0.5},
    ),
    Method(
        name="exp_plain",
        kind="baseline",
        summary="the price L theta^y, without a flat part",
        reference="section 4 (reconstructed)",
        run=part("policies:exp_plain"),
    ),
    Method(
        name="posted",
        kind="baseline",
        summary="the prices that the instance brings",
        reference="the user's own",
        run=part("policies:posted"),
    ),
)
