"""PD-ORS."""
