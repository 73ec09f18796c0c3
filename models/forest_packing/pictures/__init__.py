"""Pictures of instances and solutions: `trees`, `utilisation`, `study`."""
