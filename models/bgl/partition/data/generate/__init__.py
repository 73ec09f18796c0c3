"""Presets: graphs with communities, in the plane, and with a power law (`presets`)."""
