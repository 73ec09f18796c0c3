"""Pictures: `schedule`, `memory`."""
