"""Where instances come from: `generate`."""
