"""The best seller that draws nothing (`deterministic`)."""
