"""Presets: batches at random, and training on graphs with and without locality."""
