"""Heuristics of ours, not in the paper: shares in proportion to work (`proportional`)."""
