"""Presets: random streams, streams that hurt, bundles of several resources (`presets`)."""
