"""Pictures of rates: `periods`, `equal_rates`, `surface`, `momentum`."""
