"""Presets: random chains on clusters of machines, of any links, and of three levels (`presets`)."""
