"""Plans of OneFlow-SBP."""
