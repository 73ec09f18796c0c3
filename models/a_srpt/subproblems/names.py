"""Names of the mapping rules and predictors, which declarations list without importing them."""

MAPPINGS = ("heavy_edge", "heavy_edge_contract", "best_of", "local_search", "exact")

PREDICTORS = (
    "oracle",
    "noisy_oracle",
    "stated",
    "forest",
    "group_mean",
    "group_median",
    "last",
    "global_mean",
)
