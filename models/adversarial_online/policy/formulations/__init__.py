"""The models on paper: the linear program (2) on trees of histories.

- `history_tree`: all histories; exact.
- `posted_tree`: with a price that is posted before the value is seen.
- `reduced_trees`: non-decreasing histories, and a single chain; relaxations.
"""

from gadgetopt.system.declaration import Formulation, Parts

part: Parts = Parts(__name__)

FORMULATIONS = (
    Formulation(
        name="history_tree",
        model_class="LP",
        strength="exact",
        summary="a sale probability of every history",
        equations="(2), (2a)-(2d)",
        build=part("history_tree:build"),
        decode=part("history_tree:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="posted_tree",
        model_class="LP",
        strength="restriction",
        summary="the same with a price posted before the value is seen",
        equations="(2), (2a)-(2e)",
        build=part("posted_tree:build"),
        decode=part("history_tree:decode"),
        backends=("highs",),
    ),
    Formulation(
        name="monotone_tree",
        model_class="LP",
        strength="relaxation",
        summary="non-decreasing histories with at most k copies of a level",
        equations="(2), (2a)-(2c)",
        build=part("reduced_trees:build_monotone"),
        decode=None,
        backends=("highs",),
    ),
    Formulation(
        name="chain",
        model_class="LP",
        strength="relaxation",
        summary="the prefixes of one non-decreasing sequence",
        equations="(2), (2a)-(2c)",
        build=part("reduced_trees:build_chain"),
        decode=None,
        backends=("highs",),
    ),
)
