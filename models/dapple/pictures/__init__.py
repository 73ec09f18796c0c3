"""Pictures: `schedule`, `latency`, `memory`, `mapping`, `curves`."""
