"""Prices of a user against the worst sequence (`prices_csv`)."""
