"""Pictures: `schedule`, `memory`, `bubbles`, `frontier`."""
