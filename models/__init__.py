"""The model library: one folder per system."""
