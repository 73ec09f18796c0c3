"""Presets: networks in training (`networks`) on lines and hierarchies of devices (`presets`)."""
