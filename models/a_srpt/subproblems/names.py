"""Names of the mapping rules and predictors."""

from __future__ import annotations

from typing import Literal

MappingRule = Literal["heavy_edge", "heavy_edge_contract", "best_of", "local_search", "exact"]

PredictorName = Literal[
    "oracle",
    "noisy_oracle",
    "stated",
    "forest",
    "group_mean",
    "group_median",
    "last",
    "global_mean",
    "shrunk",
    "shrunk_cautious",
    "shrunk_censored",
    "shrunk_kaplan_meier",
    "forest_residual",
    "forest_leaf_median",
    "forest_leaf_quantile",
    "forest_smeared",
    "group_median_smeared",
    "shrunk_smeared",
    "forest_residual_smeared",
]
