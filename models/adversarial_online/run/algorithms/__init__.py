"""The theory's policies: deterministic tables (`tables`), and policies that draw once (`draws`)."""
