"""Heuristics of ours, not in the paper: DAPPLE's planner read in other ways (`readings`)."""
