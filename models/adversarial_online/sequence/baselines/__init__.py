"""The sequence that a seller would try first: the chain of all levels (`chain`)."""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="chain",
        kind="baseline",
        summary="as many copies of each type as fit, the least value first; the worst prefix",
        reference="standard theory, reconstructed",
        run=part("chain:chain"),
    ),
)
