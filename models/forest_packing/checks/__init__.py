"""The trusted checks of certificates: `cuts_and_prices`, and `restricted_trees` (F8)."""
