"""The theorems: their ratios and assumptions.

- `ratios`: Frieze and Clarke's theorem with its proof
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        "Frieze-Clarke",
        statement="profit >= k / (k + m) OPT with m rows",
        reference="Frieze and Clarke 1984",
        standing="proven",
        methods=("frieze_clarke",),
        ratio=part("ratios:frieze_clarke_ratio"),
        assumptions=(
            Assumption("every group is one item that may be left out", part("ratios:single_items")),
        ),
    ),
)
