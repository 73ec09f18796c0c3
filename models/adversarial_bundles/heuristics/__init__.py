"""The best seller that draws nothing (`deterministic`), and regret minimisation (`cfr`)."""
