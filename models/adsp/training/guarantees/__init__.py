"""Theorem 2, and which of its conditions an instance or a run shows (`conditions`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="Theorem 2",
        statement="regret O(sqrt T) if commits stay within a bounded difference (no ratio)",
        reference="Hu, Wang and Wu 2020, Theorem 2 (recalled)",
        standing="claimed",
        methods=("adsp", "adsp_plus", "adsp_plus_plus"),
        ratio=part("conditions:no_ratio"),
        assumptions=(
            Assumption("convex loss", part("conditions:is_convex")),
            Assumption("step sizes like 1/sqrt(t)", part("conditions:step_sizes_fall")),
            Assumption("every rate offered is in reach", part("conditions:rates_in_reach")),
        ),
    ),
)
