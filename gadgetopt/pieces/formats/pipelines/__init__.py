"""Plans of pipelines as spans of time and as execution traces."""
