"""What the paper compares its algorithm with, and heuristics of ours."""
