"""Where few slots suffice."""
