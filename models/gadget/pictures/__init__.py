"""Pictures: `gantt`, `network`, `gains`, `envelope`."""
