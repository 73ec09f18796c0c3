"""Heuristics of ours, not in the paper: OneFlow's search with steps changed (`search_variants`)."""
