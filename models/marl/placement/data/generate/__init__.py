"""Presets: random jobs on racks, leaf-spine networks and fat trees (`presets`)."""
