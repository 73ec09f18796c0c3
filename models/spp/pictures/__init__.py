"""Pictures: `schedule`, `critical`, `mapping`, `curves`, `memory`."""
