"""Pictures: `servers`, `interference`, `how_many_servers`, `ignored`."""
