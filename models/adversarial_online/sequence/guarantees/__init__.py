"""The theorem on the chain of all levels (`chain`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="Chain",
        statement="no sequence is worse than the chain, for non-decreasing prices and N >= kJ",
        reference="standard theory, reconstructed",
        standing="proven",
        methods=("chain",),
        ratio=part("chain:chain_ratio"),
        assumptions=(
            Assumption("one unit of one resource", part("chain:unit_demand")),
            Assumption("one non-decreasing table", part("chain:one_monotone_table")),
            Assumption("N >= kJ", part("chain:long_horizon")),
        ),
    ),
)
